"""Opens a SQLite file: to write, to read beside writers, or where nothing can be written at all."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote


def is_writable(path: str) -> bool:
    """Returns True if an existing file can be changed: SQLite also makes files beside it."""
    file = Path(path).absolute()
    return _may_write(file) and _may_write(file.parent)


def uri(path: str, mode: str) -> str:
    """The file as SQLite wants it.

    Args:
        path: The file.
        mode: ``ro``, ``rw`` or ``rwc``.

    Source: SQLite, "Write-Ahead Logging", section 5: where the files beside it cannot be made, a log is read
    through them if they are there. Without a write-ahead log the file is all there is and can be taken as
    one that nobody changes; a write-ahead log without its index is read by a connection that locks nothing.
    """
    file = Path(path).absolute()
    address = f"file:{quote(str(file))}?mode={mode}"
    if mode != "ro" or _may_write(file.parent) or Path(f"{file}-shm").exists():
        return address
    log = Path(f"{file}-wal")
    if log.exists() and log.stat().st_size:
        return f"{address}&vfs=unix-none" if os.name == "posix" else address
    return f"{address}&immutable=1"


def _may_write(place: Path) -> bool:
    return os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids)
