"""Opens files, and nothing else that has a path: a pipe would wait, and a device has no end."""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from os.path import abspath

_SPECIAL = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
# What this process was given open: standard input, and what a shell hands over for `<(command)`.
_GIVEN = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin", "/dev/stdout", "/dev/stderr")


class SpecialFileError(OSError):
    """A pipe, a device or a socket was named where a file is expected."""


def open_regular(path: str | os.PathLike[str]) -> BufferedReader:
    """Opens a file for reading.

    Raises:
        SpecialFileError: It is a pipe, a device or a socket; it was not opened.
        OSError: It cannot be opened.
    """
    refuse_special(path)
    return open(path, "rb")  # noqa: PTH123 - pathlib takes long to load


def refuse_special(path: str | os.PathLike[str]) -> None:
    """Refuses a path at which there is a pipe, a device or a socket, unless this process was given it open.

    Raises:
        SpecialFileError: It is one.
        OSError: The system does not say.
    """
    if (kind := special_kind(path)) is not None:
        raise SpecialFileError(0, f"{kind}, not a file", os.fspath(path))


def special_kind(path: str | os.PathLike[str]) -> str | None:
    """The kind of what is at a path, in words; None for a file or a folder.

    Raises:
        OSError: The system does not say; there may be nothing.
    """
    mode = os.stat(path).st_mode  # noqa: PTH116 - likewise
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return None
    if abspath(path).startswith(_GIVEN) and not stat.S_ISBLK(mode):  # noqa: PTH100 - likewise
        return None
    return next((words for is_kind, words in _SPECIAL if is_kind(mode)), "something else")
