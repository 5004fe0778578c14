"""Decisions as JSON-ADR, which other tools of architecture decision records read.

The schema allows no keys of ours, so what it has no place for is carried whole, as JSON, in a custom section.

Source: JSON-ADR 1.0.0, schema of the adrs project.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ebbtide.decision_log.exchange.arrivals import Arrival, Broken, Origins, moment, tables, text, texts
from ebbtide.decision_log.exchange.full import read_full
from ebbtide.decision_log.exchange.jsonl import json_object
from ebbtide.decision_log.exchange.madr import day, status_line, title_of
from ebbtide.decision_log.exchange.record_fields import SUPERSEDED, standing_of
from ebbtide.decision_log.record.entry import Entry
from ebbtide.decision_log.record.particulars import Particulars
from ebbtide.decision_log.record.record import Decision, Status
from ebbtide.decision_log.record.wire import decision_json
from ebbtide.decisions.candidate import Candidate, Reason, Source
from ebbtide.errors import ConfigError, TranscriptError

_VERSION = "1.0.0"
_SECTION = "ebbtide"


def write_json_adr(decisions: Iterable[Decision], numbers: Mapping[str, int]) -> str:
    """The document.

    Args:
        decisions: The decisions, each of which has a number.
        numbers: The number of each decision, by id.
    """
    document = {
        "version": _VERSION,
        "adrs": [_record(decision, numbers) for decision in decisions],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def is_json_adr(document: Mapping[str, Any]) -> bool:
    """Whether this is such a document."""
    return isinstance(document.get("version"), str) and ("adrs" in document or "adr" in document)


def read_json_adr(document: Mapping[str, Any], source: str) -> Iterator[Arrival]:
    """The decisions of a document, of ours or of another tool."""
    origins = Origins("json-adr")
    for place, table in tables(document, "adrs" if "adrs" in document else "adr"):
        try:
            yield _entry(table, origins)
        except (TranscriptError, ConfigError) as error:
            yield Broken(what=f"{place}: {Broken.of(error, source).what}", source=source)


def _record(decision: Decision, numbers: Mapping[str, int]) -> dict[str, Any]:
    candidate, beside = decision.candidate, decision.particulars or Particulars()
    at = decision.opened_at if decision.settled_at is None else decision.settled_at
    table: dict[str, Any] = {
        "number": numbers[decision.id],
        "title": title_of(decision) or "?",
        "status": status_line(decision, {}),
        "date": None if at is None else day(at),
        "deciders": list(beside.deciders) or [decision.scope.agent],
        "decision": candidate.description,
        "links": [
            {
                "type": link.relation.value.replace("_", "-"),
                "target": numbers[link.to],
                "description": link.why,
            }
            for link in decision.links
            if link.to in numbers
        ],
        "custom_sections": {_SECTION: decision_json(decision)},
    }
    if candidate.category:
        table["tags"] = [candidate.category]
    if context := [*([beside.context] if beside.context else []), *decision.thoughts]:
        table["context"] = "\n\n".join(context)
    if candidate.reasons:
        table["decision_drivers"] = [reason.text for reason in candidate.reasons]
    if candidate.options:
        table["considered_options"] = [{"name": option or "?"} for option in candidate.options]
    if consequences := [*beside.consequences, *([decision.prediction] if decision.prediction else [])]:
        table["consequences"] = consequences
    return table


def _entry(table: Mapping[str, Any], origins: Origins) -> Entry:
    custom = table.get("custom_sections")
    own = custom.get(_SECTION) if isinstance(custom, Mapping) else None
    if isinstance(own, str):
        return read_full(json_object(own))
    title, decision = text(table, "title"), text(table, "decision")
    if title is None:
        raise TranscriptError("there is no title", path="title")
    context = text(table, "context")
    at = moment(table, "date")
    names = (text(option, "name") for _, option in tables(table, "considered_options"))
    tags = texts(table, "tags")
    status = next(iter((text(table, "status") or "").lower().split()), "")
    return Entry(
        candidate=Candidate(
            description=f"{title}: {decision}" if decision else title,
            options=tuple(name for name in names if name),
            reasons=tuple(Reason(text=driver) for driver in texts(table, "decision_drivers")),
            category=tags[0] if tags else None,
            source=Source.IMPORT,
        ),
        status=Status.SUPERSEDED if status == SUPERSEDED else Status.KEPT,
        particulars=Particulars(
            standing=standing_of(status),
            context=context,
            consequences=texts(table, "consequences"),
            deciders=texts(table, "deciders"),
        ),
        opened_at=at,
        settled_at=at,
        origin=origins.of(table),
    )
