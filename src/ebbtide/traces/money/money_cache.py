"""Cache of what the money pass found in files: only what is new in a file is read again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from ebbtide.traces.input.lines import LineSplitter
from ebbtide.traces.input.source import is_session_file, unpacked_pieces
from ebbtide.traces.money import claude, codex
from ebbtide.traces.money.file_cache import FileCache, stamp_of
from ebbtide.traces.money.file_calls import FileCalls
from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile
from ebbtide.traces.sessions.session_origin import SessionOrigin, origin_of

AddCalls = Callable[[FileCalls, Iterable[bytes]], None]
#: Agents whose calls are told by their lines; such a file alone says where its session comes from.
LINE_READERS: Final[dict[CodingAgent, AddCalls]] = {
    CodingAgent.CLAUDE: claude.add_calls,
    CodingAgent.CODEX: codex.add_calls,
}
_TAIL = 4096  # bytes by which a file is known that has grown
_BUFFER = 1 << 20


class KnownFile(msgspec.Struct, array_like=True, gc=False):
    """Calls that a file gave, and the marks by which it is known to be the same.

    Args:
        stamp: Of the file when it was read; None where it has none of its own.
        tail: Digest of the last bytes before the place to go on from.
        origin: Where its session comes from.
        found: Its calls.
    """

    stamp: tuple[int, int, int] | None
    tail: bytes
    origin: SessionOrigin
    found: FileCalls


class MoneyCache(FileCache[KnownFile]):
    """Calls of files, by their paths.

    Args:
        folder: The folder; None keeps nothing.
        mark: That of the program: what another one wrote is not taken.
    """

    def __init__(self, folder: Path | None, mark: str = "") -> None:
        super().__init__(folder, KnownFile, "money", mark)

    def origin(self, file: SessionFile) -> SessionOrigin:
        """Returns where a session comes from; its file is not opened where it has not changed."""
        known = self.get(file.path) if file.agent in LINE_READERS else None
        if known is not None and known.stamp is not None and known.stamp == _stamp_at(file.path):
            return known.origin
        return origin_of(file)

    def known(self, file: SessionFile) -> KnownFile:
        """Returns what a file gives: what is kept where it has not changed, of its end where it has grown.

        Raises:
            TranscriptError: It cannot be read.
            OSError: Likewise.
        """
        if is_session_file(file.path):
            return _whole(file, None)  # its messages have files of their own
        before, add_calls = self.get(file.path), LINE_READERS.get(file.agent)
        stamp = _stamp_at(file.path)
        if stamp is None and add_calls is None:
            return _whole(file, None)  # a session in a database has no file of its own; it is read anew
        if before is not None and stamp is not None and stamp == before.stamp:
            return before
        if add_calls is None or file.path.endswith(".zst"):
            known = _whole(file, stamp)
        else:
            with open(file.path, "rb", buffering=_BUFFER) as source:  # noqa: PTH123 - a Path takes long
                known = _grown(file, source, before, stamp, add_calls)
        self.put(file.path, known)
        return known


def calls_on_lines(path: str, add_calls: AddCalls) -> FileCalls:
    """The calls of a whole file, packed or not.

    Raises:
        TranscriptError: It cannot be read.
    """
    found, splitter = FileCalls(calls=[], models={}), LineSplitter()
    for piece in unpacked_pieces(path):
        add_calls(found, splitter.feed(piece))
    add_calls(found, splitter.finish())
    return found


def _stamp_at(path: str) -> tuple[int, int, int] | None:
    try:
        return stamp_of(os.stat(path))  # noqa: PTH116 - a Path of each of many files takes long
    except OSError:
        return None


def _grown(
    file: SessionFile,
    source: BinaryIO,
    before: KnownFile | None,
    stamp: tuple[int, int, int] | None,
    add_calls: AddCalls,
) -> KnownFile:
    if before is not None and before.stamp is not None and stamp is not None:
        found, size = before.found, stamp[0]
        is_same_file = before.stamp[2] == stamp[2] and found.offset <= size
        if is_same_file and _tail(source, found.offset) == before.tail:
            source.seek(found.offset)
            add_calls(found, _whole_lines(source, found))
            return KnownFile(stamp, _tail(source, found.offset), before.origin, found)
    found = FileCalls(calls=[], models={})
    source.seek(0)
    if file.agent is CodingAgent.CODEX and b'"payload"' not in source.peek(_BUFFER)[:_BUFFER]:  # type: ignore[attr-defined]
        return _whole(file, stamp)  # what early versions wrote
    add_calls(found, _whole_lines(source, found))
    return KnownFile(stamp, _tail(source, found.offset), origin_of(file), found)


def _whole_lines(source: BinaryIO, found: FileCalls) -> Iterator[bytes]:
    """The lines of a file; a last one without its end comes too, and comes again when there is more."""
    offset = found.offset
    for line in source:
        if line.endswith(b"\n"):
            offset += len(line)
        yield line
    found.offset = offset


def _whole(file: SessionFile, stamp: tuple[int, int, int] | None) -> KnownFile:
    """Returns what a file gives that can only be read as a whole."""
    origin = origin_of(file)
    add_calls = LINE_READERS.get(file.agent)
    if add_calls is not None and file.path.endswith(".zst"):
        return KnownFile(stamp, b"", origin, calls_on_lines(file.path, add_calls))
    from ebbtide.traces.money.event_calls import read_calls

    return KnownFile(stamp, b"", origin, read_calls(file.path, origin.id))


def _tail(source: BinaryIO, end: int) -> bytes:
    start = max(0, end - _TAIL)
    source.seek(start)
    return hashlib.sha256(source.read(end - start)).digest()
