"""Turns errors of SQLite into errors of ours that name what to do."""

from __future__ import annotations

import re
import sqlite3
from typing import Final

from ebbtide.errors import StoreError
from ebbtide.regular_file import special_kind

#: What SQLite raises. Its words quote the file, and where those bytes are damaged they cannot be decoded.
SQLITE_ERRORS: Final = (sqlite3.Error, UnicodeDecodeError)

_HINTS = (
    (re.compile("locked|busy"), "another process is writing; try again"),
    (
        re.compile("readonly|read-only"),
        "it may not be written; change the rights of the file and its folder",
    ),
    (re.compile("full"), "there is no room left; make some, or delete what is old"),
    (
        re.compile("malformed|not a database|corrupt|Could not decode|vtable constructor"),
        "the file is damaged or no SQLite file; restore a copy",
    ),
    (re.compile("unable to open"), "the folder has to exist and to be writable"),
    (re.compile("disk I/O"), "the disk or the file system fails"),
)


def sqlite_words(error: sqlite3.Error | UnicodeDecodeError) -> str:
    """Returns the words of an error, with a mark for each byte of them that is damaged."""
    if isinstance(error, UnicodeDecodeError):
        return error.object.decode(errors="replace")
    return str(error)


def require_database(name: str) -> None:
    """Refuses to open a pipe, a device or a socket as a database: what is written there is lost.

    Raises:
        StoreError: It is one.
    """
    try:
        kind = special_kind(name)
    except (OSError, ValueError):  # nothing is there yet, or SQLite says what is wrong
        return
    if kind is not None:
        raise StoreError(f"{name}: {kind}, not a file")


class SqliteErrors:
    """Turns an error of SQLite into a `StoreError`; a generator would cost more than the question.

    Args:
        name: What messages call the store.
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, SQLITE_ERRORS):
            message = sqlite_words(error)
            if message.startswith("Could not decode"):
                message = message.partition(" with text")[0]
            hint = next((hint for pattern, hint in _HINTS if pattern.search(message)), "nothing was recorded")
            raise StoreError(f"{self._name}: {message}; {hint}") from error
