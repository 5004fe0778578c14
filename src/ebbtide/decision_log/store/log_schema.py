"""The tables of the log, a script a version."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ebbtide.database.migrating import Schema

LOG_SCHEMA: Final = Schema(
    what="decision log",
    folder=Path(__file__).parent / "schema",
    tables=("decisions", "decision_events", "decision_streams", "decision_counts"),
    version_table="decision_log_version",
    lock=5_207_961_463,
)
