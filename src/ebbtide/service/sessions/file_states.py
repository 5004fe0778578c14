"""Which session files were read to their end, and how they were then."""

from __future__ import annotations

from ebbtide.service.runs.run_database import RunDatabase


def file_states(database: RunDatabase) -> dict[str, str]:
    """The files that were read, each with its state then.

    Raises:
        StoreError: The database cannot be read.
    """
    return dict(database.read("SELECT path, state FROM session_files"))


def keep_file_state(database: RunDatabase, path: str, state: str) -> None:
    """Keep that a file was read to its end.

    Raises:
        StoreError: It cannot be written.
    """
    query = (
        "INSERT INTO session_files (path, state) VALUES (?, ?)"
        " ON CONFLICT (path) DO UPDATE SET state = excluded.state"
    )
    database.write(lambda session: session.run(query, (path, state)))
