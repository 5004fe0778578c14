"""A recorded run of any format as a stream of its events."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Self

from ebbtide.errors import TranscriptError
from ebbtide.traces.agents.openhands_folder import conversation_lines, is_conversation
from ebbtide.traces.formats import ArchiveFormat, ConversationFormat, EventFormat, TraceItem
from ebbtide.traces.input.archive import Archive
from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.input.json_records import RecordScanner, fitting, records_of, text_from
from ebbtide.traces.input.lines import LineSplitter
from ebbtide.traces.input.source import STDIN, ZIP, decoded_pieces, read_pieces, readable, source_name
from ebbtide.traces.intake import Intake
from ebbtide.traces.known_formats import AnyFormat, format_of
from ebbtide.traces.transcripts.turns import RoundUnit

_PIECE = 1 << 18
_HEAD_BYTES = 1 << 20  # so much is looked at to tell the format
WHOLE_BYTES = 8 << 20  #: one JSON value up to this size is parsed whole
_MOST_TEXT = 64 << 20  # of what can be read only as a whole


class Trace:
    """The events of a run, in its order, read as they are asked for; it can be gone through once.

    What cannot be read is a fault; everything around it is read. The counts are final when the events have
    been gone through. `open_trace` and `Trace.of` make one.

    Attributes:
        source: What messages call the input.
        format: Its format.
        intake: What counts.
    """

    def __init__(self, form: AnyFormat, intake: Intake, events: Iterator[TraceItem]) -> None:
        self.source = intake.source
        self.format = form
        self.intake = intake
        self._events = events

    @classmethod
    def of(
        cls,
        data: bytes | Iterator[bytes],
        *,
        source: str = "<data>",
        unit: RoundUnit = RoundUnit.TURN,
        whole_bytes: int = WHOLE_BYTES,
    ) -> Self:
        """The run in an input.

        Args:
            data: The input, whole or in pieces; compressed with gzip or not.
            source: What messages call it.
            unit: What a round is, in conversations that do not say so themselves.
            whole_bytes: A larger JSON value is read piece by piece.

        Raises:
            TranscriptError: There is nothing in it, or it is in no known format; why each refused is in the
                message.
        """
        intake = Intake(source)
        pieces = _noted(decoded_pieces(_pieces(data) if isinstance(data, bytes) else data), intake)
        try:
            document, head = _beginning(pieces, whole_bytes)
            form = format_of(document)
        except TranscriptError as error:
            raise (intake.faults[0] if intake.faults else error.located(source=source)) from None
        return cls(form, intake, _events(document, form, intake, chain((head,), pieces), unit))

    def __iter__(self) -> Iterator[TraceItem]:
        return self._events

    @property
    def events(self) -> int:
        """Events given out so far."""
        return self.intake.events

    @property
    def faults(self) -> tuple[TranscriptError, ...]:
        """What could not be read, the first 20."""
        return tuple(self.intake.faults)

    @property
    def fault_count(self) -> int:
        """How many could not be read."""
        return self.intake.fault_count

    @property
    def duplicates(self) -> int:
        """Records that were there before, by their ids, and were dropped."""
        return self.intake.duplicates

    @property
    def late(self) -> int:
        """Events whose time was before that of an earlier event of their chain."""
        return self.intake.late

    @property
    def timed(self) -> bool:
        """Whether events have times."""
        return self.intake.timed > 0


def open_trace(path: str | os.PathLike[str], *, unit: RoundUnit = RoundUnit.TURN) -> Trace:
    """The run in a file of any known format, told by its content.

    Args:
        path: A file, compressed with gzip or not; a folder of OpenHands with one event a file; ``-`` for
            standard input.
        unit: What a round is, in conversations that do not say so themselves.

    Raises:
        TranscriptError: It cannot be read, there is nothing in it, or it is in no known format; why each
            refused is in the message.
    """
    source = source_name(path)
    # Of a pipe nothing may be read before its time.
    if os.fspath(path) != STDIN and Path(path).is_file():
        with readable(path), Path(path).open("rb") as file:
            zipped = file.read(len(ZIP)) == ZIP
        if zipped:
            return _open_archive(path, source)
    with readable(path):
        folder = os.fspath(path) != STDIN and is_conversation(path)
    pieces = conversation_lines(path) if folder else read_pieces(path)
    return Trace.of(pieces, source=source, unit=unit)


def _open_archive(path: str | os.PathLike[str], source: str) -> Trace:
    intake = Intake(source)
    try:
        archive = Archive(path)
        form = format_of(archive.document())
    except TranscriptError as error:
        raise error.located(source=source) from None
    if not isinstance(form, ArchiveFormat):
        raise TranscriptError(f"an archive, which the format {form.name} is not", source=source)
    return Trace(form, intake, archive.events(form, intake))


def _beginning(pieces: Iterator[bytes], whole_bytes: int) -> tuple[Document, bytes]:
    """What the input is, and as much of it as was read to know."""
    head, ended = _gathered(b"", pieces, min(_HEAD_BYTES, whole_bytes))
    if not head:
        raise TranscriptError("the input is empty", hint="A trace has at least one event.")
    if head.startswith(ZIP):
        raise TranscriptError("a zip archive that is no file", hint="Give its path.")
    document = Document.beginning(head, complete=ended)
    more = {Content.JSON: whole_bytes, Content.TEXT: _MOST_TEXT}.get(document.content, 0)
    if more and not ended:
        head, ended = _gathered(head, pieces, more)
        if ended or document.content is Content.TEXT:
            document = Document.beginning(head, complete=True)
    return document, head


def _events(
    document: Document, form: AnyFormat, intake: Intake, pieces: Iterator[bytes], unit: RoundUnit
) -> Iterator[TraceItem]:
    if not isinstance(form, EventFormat):
        yield from _rounds(form, intake, pieces, unit)
        return
    reader = intake.reader = form.event_reader()
    if document.content is Content.JSON_LINES:
        splitter = LineSplitter()
        for piece in pieces:
            for block in intake.take_lines(splitter.feed(piece), reader):
                yield from block
        for block in intake.take_lines(splitter.finish(), reader):
            yield from block
    else:
        paths = fitting(form.paths, document.head[0])
        if document.complete:
            records = records_of(document.head[0], paths)
        else:
            records = _scanned(paths, pieces, intake)
        for path, value in records:
            yield from intake.take_record(path, value, reader)
    yield from intake.finish(reader)


def _scanned(paths: tuple[str, ...], pieces: Iterator[bytes], intake: Intake) -> Iterator[tuple[str, object]]:
    try:
        yield from RecordScanner(text_from(pieces), paths).records()
    except TranscriptError as error:
        intake.fault(error)


def _rounds(
    form: ConversationFormat, intake: Intake, pieces: Iterator[bytes], unit: RoundUnit
) -> Iterator[TraceItem]:
    """The rounds of a format that is read only as a whole."""
    data, ended = _gathered(b"", pieces, _MOST_TEXT)
    if not ended:
        what = f"more than {_MOST_TEXT:,} bytes of the format {form.name}"
        raise TranscriptError(what, source=intake.source, hint="Split the file.")
    try:
        transcript = form.read_transcript(Document.of(data), title=intake.source, unit=unit)
    except TranscriptError as error:
        raise error.located(source=intake.source) from None
    yield from intake.counted(transcript.rounds)


def _pieces(data: bytes) -> Iterator[bytes]:
    return (data[start : start + _PIECE] for start in range(0, len(data), _PIECE))


def _gathered(head: bytes, pieces: Iterator[bytes], size: int) -> tuple[bytes, bool]:
    """At least `size` bytes from the start, and whether that is all."""
    parts, have = [head], len(head)
    while have < size:
        piece = next(pieces, b"")
        if not piece:
            return b"".join(parts), True
        parts.append(piece)
        have += len(piece)
    return b"".join(parts), False


def _noted(pieces: Iterator[bytes], intake: Intake) -> Iterator[bytes]:
    """The pieces up to where the input breaks, which is a fault."""
    try:
        yield from pieces
    except TranscriptError as error:
        intake.fault(error)
