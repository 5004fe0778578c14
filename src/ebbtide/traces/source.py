"""Where the bytes come from: a file, or standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ebbtide.errors import TranscriptError

STDIN = "-"


def source_name(path: str | os.PathLike[str]) -> str:
    """What messages call this input."""
    return "<stdin>" if os.fspath(path) == STDIN else os.fspath(path)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Everything in the file, or in standard input for ``-``.

    Raises:
        TranscriptError: It cannot be read.
    """
    with readable(path):
        return sys.stdin.buffer.read() if os.fspath(path) == STDIN else Path(path).read_bytes()


@contextmanager
def readable(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns what the system says about this input into a TranscriptError."""
    source = source_name(path)
    try:
        yield
    except FileNotFoundError as error:
        raise TranscriptError("no such file", source=source) from error
    except IsADirectoryError as error:
        raise TranscriptError("a folder, not a file", source=source) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise TranscriptError(f"cannot be read: {reason or error}", source=source) from error
