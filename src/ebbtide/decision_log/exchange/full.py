"""The complete JSON form of a log: every field of every decision, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ebbtide.decision_log.exchange.arrivals import Arrival, Broken, number, shown, tables, text
from ebbtide.decision_log.record.record import Decision, DecisionScope, Status
from ebbtide.decision_log.record.wire import decision_json, from_wire, to_wire
from ebbtide.errors import ConfigError, TranscriptError

KIND = "ebbtide.decisions"


def write_full(decisions: Iterable[Decision]) -> Iterator[str]:
    """The document, in pieces: an object with the decisions in the order that they are given."""
    yield f'{{"schema": 1, "kind": "{KIND}", "decisions": ['
    for at, decision in enumerate(decisions):
        yield f"{',' if at else ''}\n{decision_json(decision)}"
    yield "\n]}\n"


def read_document(document: Mapping[str, Any], source: str) -> Iterator[Arrival]:
    """The decisions of a document that `write_full` wrote.

    Raises:
        TranscriptError: It is no such document.
    """
    schema = document.get("schema")
    if schema != 1:
        raise TranscriptError(
            f"schema {shown(schema)} is not known", source=source, hint="This version reads schema 1."
        )
    for place, table in tables(document, "decisions"):
        try:
            yield read_full(table)
        except (TranscriptError, ConfigError) as error:
            broken = Broken.of(error, source)
            yield Broken(what=f"{place}: {broken.what}", source=source)


def is_full(row: Mapping[str, Any]) -> bool:
    """Returns True for a decision as `decision_json` writes it."""
    return isinstance(row.get("candidate"), Mapping)


def read_full(table: Mapping[str, Any]) -> Decision:
    """The decision that `decision_json` wrote. Its tenant is that of the log it goes to.

    Raises:
        TranscriptError: A text is not UTF-8, a number is not finite, or there is no description.
        ConfigError: A key is missing, or a value is of another kind.
    """
    if not table.get("id"):
        raise TranscriptError("the key 'id' is missing")
    decision = from_wire(Decision, {key: value for key, value in table.items() if value is not None})
    if not decision.candidate.description.strip():
        raise TranscriptError("there is no description", path="candidate.description")
    if decision.status is Status.PURGED:
        raise TranscriptError("the text of this decision was purged; there is nothing to import")
    _check(to_wire(decision), "")
    return replace(decision, scope=replace(decision.scope, tenant=DecisionScope().tenant), version=0)


def _check(value: Any, path: str) -> None:
    """Refuse what JSON can carry and nobody could read later."""
    if isinstance(value, str):
        text({path: value}, path)
    elif isinstance(value, float):
        number({path: value}, path)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            _check(item, f"{path}[{place}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            _check(item, f"{path}.{key}" if path else key)
