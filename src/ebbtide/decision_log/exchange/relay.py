"""The events that coding agents of the relay log about their own work; its decisions are among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ebbtide.decision_log.entry import Entry
from ebbtide.decision_log.exchange.arrivals import Arrival, Origins, PassedOver
from ebbtide.decision_log.exchange.jsonl import read_lines
from ebbtide.decision_log.exchange.values import moment, number, tables, text
from ebbtide.decisions.candidate import Candidate, ConfidenceSource, Reason, Source
from ebbtide.errors import TranscriptError

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
