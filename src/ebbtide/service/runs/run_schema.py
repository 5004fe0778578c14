"""The tables of the runs, a script a version."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ebbtide.database.migrating import Schema

RUN_SCHEMA: Final = Schema(
    what="file of the service",
    folder=Path(__file__).parent / "schema",
    tables=(
        "runs",
        "events",
        "checks",
        "states",
        "charged",
        "spending",
        "exports",
        "alerts",
        "audit",
        "session_files",
    ),
    version_table="service_version",
    lock=5_207_961_464,
)
