"""The model calls of all sessions of a machine, each once, in as little time as reading the files takes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from ebbtide.budget.ledger.call_ledger import CallLedger, CallPlace, CountedCall
from ebbtide.budget.ledger.call_price import StatedTotals, settled
from ebbtide.budget.prices import Prices
from ebbtide.errors import TranscriptError
from ebbtide.traces.input.lines import LineSplitter
from ebbtide.traces.input.opencode_names import is_session_file
from ebbtide.traces.input.source import unpacked_pieces
from ebbtide.traces.money import claude, codex
from ebbtide.traces.money.file_cache import stamp_of
from ebbtide.traces.money.file_calls import FileCalls
from ebbtide.traces.money.money_cache import KnownFile, MoneyCache
from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile
from ebbtide.traces.sessions.session_origin import SessionOrigin, origin_of, root_session

_TAIL = 4096  # bytes by which a file is known that has grown
_BUFFER = 1 << 20
_Adding = Callable[[FileCalls, Iterable[bytes]], None]
_LINES: dict[CodingAgent, _Adding] = {
    CodingAgent.CLAUDE: claude.add_calls,
    CodingAgent.CODEX: codex.add_calls,
}


class MachineCalls:
    """The calls of some sessions.

    Attributes:
        ledger: Every call once.
        places: The files, as the ledger knows them, by path.
        stated: What files state that all of their calls took.
        unread: Files that cannot be read, and why.
        empty: Sessions in which no call is recorded.
    """

    def __init__(self) -> None:
        self.ledger = CallLedger()
        self.places: dict[str, CallPlace] = {}
        self.stated = StatedTotals()
        self.unread: dict[str, str] = {}
        self.empty: set[str] = set()

    @classmethod
    def of(cls, files: Iterable[SessionFile], cache: MoneyCache) -> MachineCalls:
        """Read the calls of some files, as far as the cache does not have them.

        Args:
            files: The files.
            cache: What is known of them; it is saved.
        """
        machine = cls()
        machine._read(list(files), cache)
        cache.save()
        return machine

    def calls(self, prices: Prices) -> Iterator[CountedCall]:
        """Every call, once; what files state that they cost is settled.

        Args:
            prices: Prices of tokens.
        """
        return settled(self.ledger.calls(), self.stated.by_place(), prices)

    def _read(self, files: list[SessionFile], cache: MoneyCache) -> None:
        known: list[tuple[SessionFile, KnownFile, SessionOrigin]] = []
        for file in files:
            if file.obstacle:
                self.unread[file.path] = file.obstacle
                continue
            try:
                known.append((file, known_file(file, cache), cache.origin(file)))
            except (TranscriptError, OSError, RecursionError) as error:
                self.unread[file.path] = str(error)
        origins: dict[CodingAgent, dict[str, SessionOrigin]] = {}
        for file, _, origin in known:
            origins.setdefault(file.agent, {})[origin.id] = origin
        for file, item, origin in known:
            of_agent = origins[file.agent]
            root = root_session(origin, of_agent)
            project = of_agent[root].project if root in of_agent else None
            place = place_of(file, item, root, project or origin.project)
            self.places[file.path] = place
            self.stated.add(place, item.found.stated_at, item.found.stated)
            if not item.found.calls:
                self.empty.add(root)
            sight = self.ledger.sight
            for call in item.found.calls:
                sight(place, call)


def place_of(file: SessionFile, known: KnownFile, root: str, project: str | None) -> CallPlace:
    """The place of the calls of a file.

    Args:
        file: The file.
        known: What it gave.
        root: The session that it belongs to.
        project: The folder of that session, where it is known.
    """
    return CallPlace(
        run=f"{file.agent.value}:{file.path}",
        began=known.found.began,
        path=file.path,
        session=root,
        project=project or known.project,
        agent=file.agent.value,
    )


def known_file(file: SessionFile, cache: MoneyCache) -> KnownFile:
    """Returns what a file gives: of the cache where it has not changed, of its end where it has grown.

    Raises:
        TranscriptError: It cannot be read.
        OSError: Likewise.
    """
    if is_session_file(file.path):
        return _whole(file, None)  # its messages have files of their own
    before = cache.get(file.path)
    adding = _LINES.get(file.agent)
    try:
        status = os.stat(file.path)  # noqa: PTH116 - a Path of each of many files takes long
    except OSError:
        if adding is not None:
            raise
        # A session in a database has no file of its own; it is read anew.
        return _whole(file, None)
    if before is not None and stamp_of(status) == (before.size, before.modified_ns, before.inode):
        return before
    if adding is None or file.path.endswith(".zst"):
        known = _whole(file, status)
    else:
        with open(file.path, "rb", buffering=_BUFFER) as source:  # noqa: PTH123
            known = _grown(file, source, before, status, adding)
    cache.put(file.path, known)
    return known


def _grown(
    file: SessionFile,
    source: BinaryIO,
    before: KnownFile | None,
    status: os.stat_result,
    adding: _Adding,
) -> KnownFile:
    if before is not None and before.inode == status.st_ino and before.found.offset <= status.st_size:
        found = before.found
        if _tail(source, found.offset) == before.tail:
            origin = SessionOrigin(
                id=before.session, parent=before.parent, project=before.project, role=before.role
            )
            source.seek(found.offset)
            adding(found, _whole_lines(source, found))
            return _kept(status, origin, found, _tail(source, found.offset))
    found = FileCalls(calls=[], models={})
    source.seek(0)
    if file.agent is CodingAgent.CODEX and b'"payload"' not in source.peek(_BUFFER)[:_BUFFER]:  # type: ignore[attr-defined]
        return _whole(file, status)  # what early versions wrote
    adding(found, _whole_lines(source, found))
    return _kept(status, origin_of(file), found, _tail(source, found.offset))


def _whole_lines(source: BinaryIO, found: FileCalls) -> Iterator[bytes]:
    """The lines of a file; a last one without its end comes too, and comes again when there is more."""
    offset = found.offset
    for line in source:
        if line.endswith(b"\n"):
            offset += len(line)
        yield line
    found.offset = offset


def _whole(file: SessionFile, status: os.stat_result | None) -> KnownFile:
    """Returns what a file gives that can only be read as a whole."""
    origin = origin_of(file)
    adding = _LINES.get(file.agent)
    if adding is not None and file.path.endswith(".zst"):
        found = FileCalls(calls=[], models={})
        splitter = LineSplitter()
        for piece in unpacked_pieces(file.path):
            adding(found, splitter.feed(piece))
        adding(found, splitter.finish())
    else:
        from ebbtide.traces.money.event_calls import read_calls

        found = read_calls(file.path, origin.id)
    return _kept(status, origin, found, b"")


def _kept(status: os.stat_result | None, origin: SessionOrigin, found: FileCalls, tail: bytes) -> KnownFile:
    size, modified, inode = (0, 0, 0) if status is None else stamp_of(status)
    return KnownFile(
        size, modified, inode, tail, origin.id, origin.parent, origin.project, origin.role, found
    )


def _tail(source: BinaryIO, end: int) -> bytes:
    start = max(0, end - _TAIL)
    source.seek(start)
    return hashlib.sha256(source.read(end - start)).digest()
