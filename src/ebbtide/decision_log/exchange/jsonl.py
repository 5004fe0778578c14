"""A log as JSON lines: one decision a line, in any order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ebbtide.decision_log.exchange.arrivals import (
    Arrival,
    Broken,
    Origins,
    PassedOver,
    moment,
    number,
    shown,
    tables,
    text,
)
from ebbtide.decision_log.exchange.full import is_full, read_full
from ebbtide.decision_log.exchange.rows import RowFields, entry_of
from ebbtide.decision_log.record.entry import Entry
from ebbtide.decision_log.record.record import Decision
from ebbtide.decision_log.record.wire import decision_json
from ebbtide.decisions.candidate import Candidate, ConfidenceSource, Reason, Source
from ebbtide.errors import ConfigError, TranscriptError


def read_jsonl(lines: Iterable[str], source: str, keys: RowFields | None = None) -> Iterator[Arrival]:
    """The decisions of a file, a line each: as `write_jsonl` writes them, or with keys of its own.

    Args:
        lines: The lines; blank ones are passed over.
        source: What messages call the file.
        keys: Which key means what, in lines that `write_jsonl` did not write.
    """
    origins, names = Origins("jsonl"), keys or RowFields()

    def read(row: Mapping[str, Any]) -> Entry:
        return read_full(row) if is_full(row) else entry_of(row, names, origins)

    return read_lines(lines, source, read)


def read_lines(
    lines: Iterable[str], source: str, reader: Callable[[Mapping[str, Any]], Entry | PassedOver]
) -> Iterator[Arrival]:
    """What `read` makes of the object in each line; what cannot be read comes with the number of its line."""
    for line_number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json_object(line)
            yield reader(row)
        except (TranscriptError, ConfigError) as error:
            yield Broken.of(error, source, line_number)


def json_object(text: str) -> Mapping[str, Any]:
    """The JSON object that a text holds. NaN and infinities, which are no JSON, are unknown.

    Raises:
        TranscriptError: It holds none.
    """
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        raise TranscriptError(f"not JSON: {error.msg}, column {error.colno}") from None
    except (ValueError, RecursionError):
        raise TranscriptError("not JSON that can be read: too deep, or a number too long") from None
    if not isinstance(value, Mapping):
        raise TranscriptError(f"expected an object, found {shown(value)}")
    return value


def write_jsonl(decisions: Iterable[Decision]) -> Iterator[str]:
    """A line for each decision, complete."""
    for decision in decisions:
        yield decision_json(decision)


_TYPES = frozenset(
    ("note", "decision", "finding", "completion-evidence", "reflection", "error", "completion-marker")
)


def is_relay(row: Mapping[str, Any]) -> bool:
    """Whether this is an event of the relay."""
    return row.get("type") in _TYPES and "ts_ms" in row and "content" in row


def read_relay(lines: Iterable[str], source: str) -> Iterator[Arrival]:
    """The events of type ``decision``, a line each; others are passed over.

    What was chosen is the description, what was asked comes before it as a thought. The confidence is that of
    the whole task, so it counts as derived.

    Args:
        lines: The lines; blank ones are passed over.
        source: What messages call the file.
    """
    origins = Origins("relay")
    return read_lines(lines, source, lambda row: _event(row, origins))


def _event(row: Mapping[str, Any], origins: Origins) -> Entry | PassedOver:
    kind = text(row, "type")
    if kind is None:
        raise TranscriptError("this event has no type", path="type")
    if kind != "decision":
        return PassedOver(kind=kind)
    raw = row.get("raw")
    detail = raw if isinstance(raw, Mapping) else {}
    question, choice = text(detail, "question"), text(detail, "chosen") or text(row, "content")
    if choice is None:
        raise TranscriptError("this decision says nothing", path="raw.chosen")
    others = tuple(_alternatives(detail))
    at, confidence, why = moment(row, "ts_ms"), number(row, "confidence"), text(detail, "reasoning")
    return Entry(
        candidate=Candidate(
            description=choice,
            options=(choice, *others) if others else (),
            reasons=() if why is None else (Reason(text=why),),
            confidence=confidence,
            confidence_source=None if confidence is None else ConfidenceSource.DERIVED,
            source=Source.IMPORT,
        ),
        session=text(row, "id"),
        opened_at=at,
        settled_at=at,
        thoughts=() if question in (None, choice) else (str(question),),
        origin=origins.of(row),
    )


def _alternatives(detail: Mapping[str, Any]) -> Iterator[str]:
    alternatives = detail.get("alternatives")
    for entry in alternatives if isinstance(alternatives, list) else ():
        if isinstance(entry, str):
            if entry.strip():
                yield entry
        else:
            for place, table in tables({"alternatives": [entry]}, "alternatives"):
                option = text(table, "option")
                if option is None:
                    raise TranscriptError("there is no option", path=place)
                yield option
