"""Where the runs of a service are kept: a file of SQLite, or a database of a PostgreSQL server."""

from __future__ import annotations

import os
from typing import Protocol

from ebbtide.database.place import MEMORY, sqlite_path
from ebbtide.database.session import Session
from ebbtide.errors import ConfigError


class RunPlace(Protocol):
    """A database of runs. Every method raises `StoreError` for what the database says."""

    #: What messages call it; it never has a password in it.
    name: str

    def writer(self) -> Session:
        """Open the session that writes, and make the tables where there are none.

        A commit in it has reached the disk. Nobody else has one meanwhile, neither here nor elsewhere.
        """

    def reader(self) -> Session:
        """Open one more session, to read."""

    def require(self) -> None:
        """Refuse to go on where the place is gone, and an open session would not notice."""

    def erase(self) -> None:
        """Take what was deleted out of the files as well, as far as that can be asked for."""

    def close(self) -> None:
        """Let others have it."""


def run_place(where: str | os.PathLike[str]) -> RunPlace:
    """The place that a path or a URL names.

    Raises:
        ConfigError: It names none.
        StoreError: What it needs is not installed.
    """
    path = sqlite_path(where, "--db")
    if path == MEMORY:
        raise ConfigError("--db: runs are kept in a file, or in PostgreSQL; name one of them")
    if path is None:
        from ebbtide.service.runs.run_server import RunServer

        return RunServer(os.fspath(where))
    from ebbtide.service.runs.run_file import RunFile

    return RunFile(path)
