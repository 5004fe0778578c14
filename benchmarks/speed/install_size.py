"""What an installation takes on disk, and how long it takes: the base package, and with the extra `prices`.

    python -m benchmarks.speed.install_size

Builds the wheel, installs it into fresh virtual environments in a temporary folder, compiles everything, and
counts the bytes beside the same environment before. An environment has no pip of its own, so that all of it
is what the package brings. Needs the package index for the dependencies; what pip has in its cache is not
loaded again, so that the seconds are those of a second installation.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT, setup, write_result

QUIET = ("--quiet", "--disable-pip-version-check")


def size(folder: Path) -> int:
    """Bytes of all files in a folder and below; links count as what they are."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_symlink() or path.is_file())


def installation(home: Path, requirement: str) -> dict[str, Any]:
    """What a requirement takes in a fresh environment: bytes, seconds, and its largest parts."""
    venv.create(home, with_pip=False)
    before = size(home)
    python = str(home / "bin" / "python")
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", *QUIET, requirement], check=True
    )
    seconds = time.perf_counter() - start
    # Some packages bring files for other versions of Python, which do not compile.
    subprocess.run([python, "-m", "compileall", "-qq", str(home)], check=False)
    (packages,) = home.glob("lib/python*/site-packages")
    parts = {path.name: size(path) if path.is_dir() else path.stat().st_size for path in packages.iterdir()}
    largest = dict(sorted(parts.items(), key=lambda part: -part[1])[:12])
    return {"bytes": size(home) - before, "seconds": round(seconds, 1), "largest": largest}


def main() -> None:
    """Build, install, count and write the result."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", name, str(ROOT)]
        subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
        (wheel,) = folder.glob("*.whl")
        base = installation(folder / "base", str(wheel))
        prices = installation(folder / "prices", f"{wheel}[prices]")
    for part, taken in base["largest"].items():
        print(f"{part:<28} {taken / 1e6:6.2f} MB")
    for title, taken in (("base", base), ("with prices", prices)):
        print(f"{title:<28} {taken['bytes'] / 1e6:6.2f} MB {taken['seconds']:6.1f} s")
    write_result("install-size", {"setup": setup(), **base, "with prices": prices})


if __name__ == "__main__":
    main()
