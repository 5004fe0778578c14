"""A run whose records come one by one, from a table for example, and not from a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from ebbtide.errors import ConfigError, TranscriptError
from ebbtide.settings_file import meant
from ebbtide.traces.formats import FORMATS, Format
from ebbtide.traces.input.document import HEAD, Document
from ebbtide.traces.read_stats import ReadStats
from ebbtide.traces.reading import Trace
from ebbtide.traces.records.readers import TraceItem
from ebbtide.traces.sniffing import format_of


def trace_of_records(records: Iterable[Any], *, source: str, form: str | None = None) -> Trace:
    """The run in some records.

    Args:
        records: Plain data, as JSON would give it, in order. They are gone through once.
        source: What messages call the input; a place in it is a row, from 1.
        form: Name of their format; None tells it by the first records.

    Raises:
        TranscriptError: There is none, or they are in no known format.
        ConfigError: No format of records has that name.
    """
    records = iter(records)
    stats = ReadStats(source)
    if form is not None:
        return Trace(record_format(form), stats, _events(records, record_format(form), stats))
    head = list(islice(records, HEAD))
    if not head:
        raise TranscriptError("there is no row", source=source)
    # A lone line is one JSON value: the second time it is a table.
    lines = "\n".join(json.dumps(value, default=str) for value in (head * 2 if len(head) == 1 else head))
    try:
        sniffed = format_of(Document.of(lines.encode()))
    except TranscriptError as error:
        raise error.located(source=source) from None
    return Trace(sniffed, stats, _events(chain(head, records), sniffed, stats))


def record_format(name: str) -> Format:
    """The format of a name, where its events are read record by record.

    Raises:
        ConfigError: There is none.
    """
    forms = {form.name: form for form in FORMATS if form.has_events}
    if name not in forms:
        raise ConfigError(f"{name!r:.60}: no format of records has that name{meant(name, forms)}")
    return forms[name]


def _events(records: Iterable[Any], form: Format, stats: ReadStats) -> Iterator[TraceItem]:
    reader = stats.reader = form.event_reader()
    path = "item" if "item" in form.paths else ""
    for number, record in enumerate(records, start=1):
        yield from stats.take_record(path, record, reader, place=f"row {number}")
    yield from stats.finish(reader)
