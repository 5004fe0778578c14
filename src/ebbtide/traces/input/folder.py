"""The files in a folder that can be opened without waiting, and why the others cannot."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ebbtide.errors import TranscriptError
from ebbtide.regular_file import special_kind


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEntry:
    """Something in a folder.

    Args:
        path: Its path.
        refusal: Why it cannot be opened; None where it can.
    """

    path: str
    refusal: TranscriptError | None = None


def entries_in(
    folder: str | os.PathLike[str], *, is_one: Callable[[str], bool] = lambda _: False
) -> Iterator[FolderEntry]:
    """Everything below a folder but folders, by name.

    Hidden files and folders are passed over, and so are links to folders: they may go round in circles.

    Args:
        folder: The folder.
        is_one: Whether a folder counts as one file.
    """
    refusals: list[FolderEntry] = []

    def refuse(error: OSError) -> None:
        name = os.fspath(error.filename)
        refusals.append(FolderEntry(path=name, refusal=_unreadable(error, name)))

    for place, folders, files in os.walk(folder, onerror=refuse):
        if is_one(place):
            yield FolderEntry(path=place)
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                path = str(Path(place, name))
                yield FolderEntry(path=path, refusal=refuse_special(path))
    yield from refusals


def refuse_special(path: str | os.PathLike[str]) -> TranscriptError | None:
    """Why this is no file that can be opened without waiting; None where it is one."""
    name = os.fspath(path)
    try:
        kind = special_kind(name)
    except OSError as error:
        return _unreadable(error, name)
    return None if kind is None else TranscriptError(f"{kind}, not a file", source=name, no_trace=True)


def _unreadable(error: OSError, name: str) -> TranscriptError:
    if isinstance(error, FileNotFoundError):
        return TranscriptError("a link to a file that is not there", source=name)
    return TranscriptError(f"cannot be read: {error.strerror or error}", source=name)
