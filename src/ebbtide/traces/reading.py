"""A recorded run of any format: the stream of its events, or the conversation in it."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, Self

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Phase, ToolCall
from ebbtide.events.transcript import Round, Transcript
from ebbtide.traces.formats import Format
from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.input.json_records import RecordScanner, fitting, records_of, text_from
from ebbtide.traces.input.lines import LineSplitter, without_cut_line
from ebbtide.traces.input.source import (
    STDIN,
    ZIP,
    begins_with,
    decoded_pieces,
    gather,
    is_named_like_a_trace,
    read_pieces,
    readable,
    source_name,
    unpacked_pieces,
)
from ebbtide.traces.read_stats import OpenedTrace, ReadStats
from ebbtide.traces.records.readers import TraceItem
from ebbtide.traces.sessions.agents_below import FORMATS_WITH_AGENTS, agents_below, with_agents_below
from ebbtide.traces.sessions.totals_beside import FORMATS_WITH_TOTALS, with_total_beside
from ebbtide.traces.sniffing import format_of, has_run_shape
from ebbtide.traces.transcripts.conversation import Conversation
from ebbtide.traces.transcripts.turns import RoundUnit

_PIECE = 1 << 18
_HEAD_BYTES = 1 << 20  # so much is looked at to tell the format
WHOLE_BYTES = 8 << 20  #: one JSON value up to this size is parsed whole
_MOST_TEXT = 16 << 20  # of what can be read only as a whole
_MOST_WHOLE = 64 << 20  # of a conversation; what is larger is read piece by piece


class Trace(OpenedTrace):
    """The events of a run, in its order, read as they are asked for; it can be gone through once.

    What cannot be read is a fault; everything around it is read. The counts are final when the events have
    been gone through. `open_trace` and `Trace.of` make one: ``for event in open_trace(path): ...``.

    >>> run = Trace.of(b'{"kind": "tool", "name": "ls", "args": {"path": "."}, "result": "a.txt"}')
    >>> [event.name for event in run], run.format.name, run.faults
    (['ls'], 'ebbtide', ())
    """

    format: Format

    def __init__(self, form: Format, stats: ReadStats, events: Iterator[TraceItem]) -> None:
        super().__init__(form, stats)
        self._events = events

    @classmethod
    def of(
        cls,
        data: bytes | Iterator[bytes],
        *,
        source: str = "<data>",
        unit: RoundUnit = RoundUnit.TURN,
        whole_bytes: int = WHOLE_BYTES,
        is_named: bool = True,
    ) -> Self:
        """The run in an input.

        Args:
            data: The input, whole or in pieces; compressed with gzip or not.
            source: What messages call it.
            unit: What a round is, in conversations that do not say so themselves.
            whole_bytes: A larger JSON value is read piece by piece.
            is_named: Whether somebody named the input; plain text that a search came upon has to be a
                conversation beyond doubt.

        Raises:
            TranscriptError: There is nothing in it, or it is in no known format; why each refused is in the
                message.
        """
        stats = ReadStats(source)
        pieces = _noted(decoded_pieces(_pieces(data) if isinstance(data, bytes) else data), stats)
        document = None
        try:
            document, head = _beginning(pieces, whole_bytes)
            form = format_of(document)
            if document.content is Content.TEXT and not is_named:
                from ebbtide.traces.chats.clear_talk import refuse_unclear

                refuse_unclear(document, source, is_export=form.has_events)
        except TranscriptError as error:
            error.no_trace = error.no_trace and not _is_meant(source, document)
            raise (stats.faults[0] if stats.faults else error.located(source=source)) from None
        return cls(form, stats, _events(document, form, stats, chain((head,), pieces), unit))

    def beside(self, file: Path) -> Self:
        """Returns the same run, with what files beside it say.

        These are what the agents that it started have started, and the tokens that it took as a whole.
        """
        if self.format.name in FORMATS_WITH_TOTALS:
            self._events = with_total_beside(self._events, file, self.format.name)
        if self.format.name in FORMATS_WITH_AGENTS:
            below = agents_below(file, self.format.name)
            if below:
                self._events = with_agents_below(self._events, below)
        return self

    def __iter__(self) -> Iterator[TraceItem]:
        return self._events


def open_trace(
    path: str | os.PathLike[str],
    *,
    unit: RoundUnit = RoundUnit.TURN,
    is_named: bool = True,
    is_growing: bool = False,
) -> Trace:
    """The run in a file of any known format, known by its content.

    Args:
        path: A file, compressed with gzip or not; a folder of OpenHands with one event a file; a session in
            the storage of an agent, such as ``opencode.db/ses_1a2b``; ``-`` for standard input.
        unit: What a round is, in conversations that do not say so themselves.
        is_named: As for `Trace.of`.
        is_growing: Whether the file may be written at this moment: a broken last line is no fault then.

    Raises:
        TranscriptError: It cannot be read, there is nothing in it, or it is in no known format; why each
            refused is in the message.
    """
    source = source_name(path)
    with readable(path):
        # Of a pipe nothing may be read before its time.
        file = None if os.fspath(path) == STDIN else Path(path)
        if file is not None and (lines := stored_run(file)) is not None:
            return Trace.of(lines, source=source, unit=unit)
        if file is not None and file.is_file() and begins_with(file, ZIP):
            return _open_archive(path, source)
    pieces = without_cut_line(read_pieces(path)) if is_growing else read_pieces(path)
    trace = Trace.of(pieces, source=source, unit=unit, is_named=is_named)
    return trace if file is None else trace.beside(file)


def _is_meant(source: str, document: Document | None) -> bool:
    """Returns True if an input in no known format was meant to be a run: by its records, else by its name."""
    is_named = is_named_like_a_trace(source)
    if document is None or document.not_json is not None:  # nothing that could be looked at
        return is_named
    return (is_named or document.content is Content.JSON_LINES) and has_run_shape(document)


def load_events(path: str | os.PathLike[str]) -> list[Event]:
    """The events in a file of any format that holds some.

    Args:
        path: A file, compressed with gzip or not; ``-`` for standard input.

    Raises:
        TranscriptError: It cannot be read, or holds no events. In Ebbtide's own form, which people write by
            hand, a broken event is refused; elsewhere it is left out.
    """
    trace = open_trace(path)
    if not trace.format.has_events:
        raise TranscriptError(f"there are no events, but a {trace.format.name}", source=trace.source)
    events = [event for event in trace if not isinstance(event, Round)]
    if trace.faults and (not events or trace.format.name == "ebbtide"):
        raise trace.faults[0]
    if not events:
        raise TranscriptError(f"there are no events in this {trace.format.name}", source=trace.source)
    return events


def load(path: str | os.PathLike[str], *, unit: RoundUnit = RoundUnit.TURN) -> Transcript:
    """The conversation in a file of any known format, known by its content.

    Args:
        path: A file, compressed with gzip or not; ``-`` for standard input.
        unit: What a round is, in formats that do not say so themselves.

    Raises:
        TranscriptError: It cannot be read; file, line and path are in the error as far as they are known.
    """
    source = source_name(path)
    pieces = unpacked_pieces(path)
    head, ended = gather(b"", pieces, _HEAD_BYTES)
    if head.startswith(ZIP) and os.fspath(path) != STDIN:
        return _conversation(open_trace(path, unit=unit), unit)
    if not ended:
        _refuse_binary(head, source)
        head, ended = gather(head, pieces, _MOST_WHOLE)
    if ended:
        return loads(head, source=source, unit=unit)
    return _conversation(Trace.of(chain((head,), pieces), source=source, unit=unit), unit)


def loads(data: bytes | str, *, source: str = "<data>", unit: RoundUnit = RoundUnit.TURN) -> Transcript:
    r"""The conversation in `data`, in any known format.

    Args:
        data: The content of a file.
        source: What messages call it; the conversation is named after it if it has no name of its own.
        unit: What a round is, in formats that do not say so themselves.

    Raises:
        TranscriptError: It cannot be read.

    >>> loads("Ann: Ship it today.\nBob: Not before the test has run.").rounds[1].agent
    'Bob'
    """
    # Half surrogate pairs, which no encoding has, become question marks.
    data = data.encode(errors="replace") if isinstance(data, str) else data
    try:
        document = Document.of(data)
        form = format_of(document)
        if form.transcript_reader_at is not None:
            return form.read_transcript(document, title=_title(source), unit=unit)
        return _conversation(Trace.of(data, source=source, unit=unit), unit)
    except TranscriptError as error:
        trace = _broken_run(data, source)
        if trace is None:
            raise error.located(source=source) from error
    return _conversation(trace, unit)


def _broken_run(data: bytes, source: str) -> Trace | None:
    """The run in an input that is broken in places, where its format is one that programs write.

    Of one that people write a broken line is refused: they can mend it.
    """
    with suppress(TranscriptError):
        trace = Trace.of(data, source=source)
        if trace.format.transcript_reader_at is None:
            return trace
    return None


def _conversation(trace: Trace, unit: RoundUnit) -> Transcript:
    """Returns what models and users say in a run.

    What could not be read of it is kept as ``faults``; how many calls of tools there were, as ``tool_calls``.

    Raises:
        TranscriptError: Nothing of it could be read.
    """
    conversation = Conversation(unit)
    rounds: list[Round] = []
    tool_calls = 0
    for event in trace:
        rounds += conversation.add(event)
        tool_calls += isinstance(event, ToolCall) and event.phase is Phase.FINISHED
    rounds += conversation.finish()
    extra: dict[str, Any] = {"tool_calls": tool_calls} if tool_calls else {}
    if trace.faults:
        extra["faults"] = [str(fault) for fault in trace.faults]
    if trace.faults and not trace.events:
        raise trace.faults[0]
    return Transcript(conversation_id=_title(trace.source), rounds=tuple(rounds), extra=extra)


def _refuse_binary(head: bytes, source: str) -> None:
    """Refuse what begins like no text, before all of it is in memory: a device never ends."""
    if b"\0" in head and not head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            Document.beginning(head, complete=False)
        except TranscriptError as error:
            raise error.located(source=source) from None


def _title(source: str) -> str:
    name = Path(source.strip("<>")).name.removesuffix(".gz")
    return Path(name).stem or name or "conversation"


def _open_archive(path: str | os.PathLike[str], source: str) -> Trace:
    from ebbtide.traces.input.archive import Archive

    stats = ReadStats(source)
    try:
        archive = Archive(path)
        form = format_of(archive.document())
    except TranscriptError as error:
        raise error.located(source=source) from None
    records = archive.records(form.members(archive.names()), form.paths, stats.fault)
    return Trace(form, stats, _archived(records, form, stats))


def _archived(records: Iterator[tuple[str, str, Any]], form: Format, stats: ReadStats) -> Iterator[TraceItem]:
    reader = stats.reader = form.event_reader()
    for name, path, value in records:
        yield from stats.take_record(path, value, reader, place=f"{name}: {path}")
    yield from stats.finish(reader)


def _beginning(pieces: Iterator[bytes], whole_bytes: int) -> tuple[Document, bytes]:
    """Returns the document that the input is, and as much of it as was read to know."""
    head, ended = gather(b"", pieces, min(_HEAD_BYTES, whole_bytes))
    if not head:
        raise TranscriptError("the input is empty", hint="A trace has at least one event.", no_trace=True)
    if head.startswith(ZIP):
        raise TranscriptError("a zip archive that is no file", hint="Give its path.")
    document = Document.beginning(head, complete=ended)
    more = {Content.JSON: whole_bytes, Content.TEXT: _MOST_TEXT}.get(document.content, 0)
    if more and not ended:
        head, ended = gather(head, pieces, more)
        if ended or document.content is Content.TEXT:
            document = Document.beginning(head, complete=True)
    return document, head


def _events(
    document: Document, form: Format, stats: ReadStats, pieces: Iterator[bytes], unit: RoundUnit
) -> Iterator[TraceItem]:
    if not form.has_events:
        return (yield from _rounds(form, stats, pieces, unit))
    reader = stats.reader = form.event_reader()
    if document.content is Content.TEXT:
        yield from stats.take_record("", _whole_text(pieces, stats.source).decode(errors="replace"), reader)
    elif document.content is Content.JSON_LINES:
        splitter = LineSplitter()
        for piece in pieces:
            for block in stats.take_lines(splitter.feed(piece), reader):
                yield from block
        for block in stats.take_lines(splitter.finish(), reader):
            yield from block
    else:
        paths = fitting(form.paths, document.head[0])
        whole = document.complete
        records = records_of(document.head[0], paths) if whole else _scanned(paths, pieces, stats)
        for path, value in records:
            yield from stats.take_record(path, value, reader)
    yield from stats.finish(reader)


def _scanned(
    paths: tuple[str, ...], pieces: Iterator[bytes], stats: ReadStats
) -> Iterator[tuple[str, object]]:
    try:
        yield from RecordScanner(text_from(pieces), paths).records()
    except TranscriptError as error:
        stats.fault(error)


def _rounds(form: Format, stats: ReadStats, pieces: Iterator[bytes], unit: RoundUnit) -> Iterator[TraceItem]:
    """The rounds of a format that is read only as a whole."""
    try:
        document = Document.of(_whole_text(pieces, stats.source))
        transcript = form.read_transcript(document, title=stats.source, unit=unit)
    except TranscriptError as error:
        raise error.located(source=stats.source) from None
    yield from stats.count(transcript.rounds)


def _whole_text(pieces: Iterator[bytes], source: str) -> bytes:
    data, ended = gather(b"", pieces, _MOST_TEXT)
    if not ended:
        raise TranscriptError(f"more than {_MOST_TEXT >> 20} MB of text", source=source, hint="Split it.")
    return data


def _pieces(data: bytes) -> Iterator[bytes]:
    return (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))


def _noted(pieces: Iterator[bytes], stats: ReadStats) -> Iterator[bytes]:
    """The pieces up to where the input breaks, which is a fault."""
    try:
        yield from pieces
    except TranscriptError as error:
        stats.fault(error)


def stored_run(path: Path) -> Iterator[bytes] | None:
    """The lines of such a run; None where the path is a file like any other.

    Args:
        path: A folder of OpenHands with one event a file; a session in the storage of an agent, or a
            database that holds one.

    Raises:
        TranscriptError: There are several in it, or none.
        OSError: It cannot be read.
    """
    if path.is_dir():
        from ebbtide.traces.agents.openhands import conversation_lines, is_conversation

        return conversation_lines(path) if is_conversation(path) else None
    if ".db" not in (path.suffix, path.parent.suffix) and path.parent.parent.name != "session":
        return None
    from ebbtide.traces.agents.session_storage import stored_lines

    return stored_lines(path)
