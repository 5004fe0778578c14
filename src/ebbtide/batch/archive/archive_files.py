"""The files behind names: of folders all below them, of patterns all that match, here or behind URLs."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ebbtide.batch.results.archived_run import FileRun, RefusedRun, file_system
from ebbtide.errors import EbbtideError, TranscriptError, error_text
from ebbtide.traces.agents.openhands import is_conversation
from ebbtide.traces.agents.session_storage import sessions_at
from ebbtide.traces.input.folder import entries_in, refuse_special


@dataclass(frozen=True, slots=True)
class ArchiveFile:
    """One run of an archive, in a file.

    Args:
        size: Bytes, as far as they are known.
    """

    run: FileRun | RefusedRun
    size: int = 0


def files_at(names: Sequence[str]) -> list[ArchiveFile]:
    """The files behind names, each once, by name.

    Args:
        names: Paths of files and folders, patterns such as ``runs/2026-*/**/*.jsonl``, and URLs of all three,
            such as ``s3://bucket/runs``. Hidden files in folders are passed over.

    Raises:
        EbbtideError: There is nothing behind a name, or it cannot be looked at.
        ConfigError: A URL needs a package that is not installed.
    """
    files: dict[str, ArchiveFile] = {}
    for name in names:
        before = len(files)
        for file in _remote(name) if "://" in name else _local(name):
            files.setdefault(file.run.source, file)
        if len(files) == before and not any(source.startswith(name) for source in files):
            raise TranscriptError("there is no file", source=name, hint="Name a file, a folder or a pattern.")
    return [files[source] for source in sorted(files)]


def _local(name: str) -> Iterator[ArchiveFile]:
    if glob.has_magic(name) and not os.path.lexists(name):
        for path in glob.iglob(name, recursive=True):  # noqa: PTH207 - of absolute patterns, too
            if not os.path.isdir(path):  # noqa: PTH112 - a Path of each takes long
                yield from _entry(path, refuse_special(path), is_named=False)
    elif os.path.isdir(name) and not is_conversation(name):  # noqa: PTH112
        for entry in entries_in(name, is_one=is_conversation):
            yield from _entry(entry.path, entry.refusal, is_named=False)
    elif os.path.lexists(name) or len(sessions_at(name)) > 1:
        yield from _entry(name, None, is_named=True)


def _entry(path: str, refusal: TranscriptError | None, *, is_named: bool) -> Iterator[ArchiveFile]:
    if refusal is not None:
        yield ArchiveFile(RefusedRun(path, refusal.what, no_trace=refusal.no_trace))
        return
    for session in sessions_at(path):
        try:
            size = os.stat(session).st_size  # noqa: PTH116
        except OSError:
            size = 0
        yield ArchiveFile(FileRun(session, is_named=is_named), size)


def _remote(name: str) -> Iterator[ArchiveFile]:
    system, path = file_system(name)
    try:
        if glob.has_magic(path):
            entries: dict[str, Any] = system.glob(path, detail=True)
        elif system.isdir(path):
            entries = system.find(path, detail=True)
        else:
            entries = {path: system.info(path)}
    except FileNotFoundError:
        return
    except Exception as error:
        raise EbbtideError(f"{name}: cannot be looked at: {error_text(error)}") from error
    for place, info in entries.items():
        if info.get("type") != "directory" and not _is_hidden(place.removeprefix(path)):
            url = system.unstrip_protocol(place)
            yield ArchiveFile(FileRun(url, is_named=place == path), int(info.get("size") or 0))


def _is_hidden(place: str) -> bool:
    return any(part.startswith(".") for part in place.split("/"))
