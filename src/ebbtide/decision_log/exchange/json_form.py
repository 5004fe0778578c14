"""Decisions as JSON: one document or a line each, complete or as rows with keys of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from ebbtide.decision_log.exchange.arrivals import Arrival, Broken, Origins, number, shown, tables, text
from ebbtide.decision_log.exchange.rows import RowFields, decision_of_row
from ebbtide.decision_log.record.record import Decision, DecisionScope, Status
from ebbtide.decision_log.record.wire import decision_json, from_wire, to_wire
from ebbtide.errors import ConfigError, TranscriptError

KIND = "ebbtide.decisions"


def write_document(decisions: Iterable[Decision]) -> Iterator[str]:
    """The document, in pieces: an object with the decisions in the order that they are given."""
    yield f'{{"schema": 1, "kind": "{KIND}", "decisions": ['
    for at, decision in enumerate(decisions):
        yield f"{',' if at else ''}\n{decision_json(decision)}"
    yield "\n]}\n"


def write_jsonl(decisions: Iterable[Decision]) -> Iterator[str]:
    """A line for each decision, complete."""
    for decision in decisions:
        yield decision_json(decision)


def read_document(content: str, source: str, keys: RowFields | None = None) -> Iterator[Arrival]:
    """The decisions of a document: one that `write_document` wrote, a list of rows, or a single row.

    Raises:
        TranscriptError: It is no such document.
    """
    try:
        document = parsed(content)
    except TranscriptError as error:
        raise error.located(source=source) from None
    if document.get("kind") == KIND:
        schema = document.get("schema")
        if schema != 1:
            raise TranscriptError(
                f"schema {shown(schema)} is not known", source=source, hint="This version reads schema 1."
            )
        return _decisions(document, source, read_full)
    names, origins = keys or RowFields(), Origins("json")
    rows = document if isinstance(document.get("decisions"), list) else {"decisions": [document]}
    return _decisions(rows, source, lambda row: _decision(row, names, origins))


def parsed(content: str) -> Mapping[str, Any]:
    """The object that a document holds, or its list as the decisions of one.

    Raises:
        TranscriptError: It holds neither.
    """
    if content.lstrip().startswith("["):
        return {"decisions": json_object(f'{{"rows": {content}}}')["rows"]}
    return json_object(content)


def _decisions(
    document: Mapping[str, Any], source: str, read: Callable[[Mapping[str, Any]], Decision]
) -> Iterator[Arrival]:
    for place, row in tables(document, "decisions"):
        try:
            yield read(row)
        except (TranscriptError, ConfigError) as error:
            yield Broken(what=f"{place}: {Broken.of(error, source).what}", source=source)


def read_jsonl(lines: Iterable[str], source: str, keys: RowFields | None = None) -> Iterator[Arrival]:
    """The decisions of a file, a line each: as `write_jsonl` writes them, or with keys of its own.

    Args:
        lines: The lines; blank ones are passed over.
        source: What messages call the file.
        keys: Which key means what, in lines that `write_jsonl` did not write.
    """
    origins, names = Origins("jsonl"), keys or RowFields()
    for line_number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json_object(line)
            yield _decision(row, names, origins)
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


def _decision(row: Mapping[str, Any], keys: RowFields, origins: Origins) -> Decision:
    """The decision of a row: as `decision_json` writes it, or with keys of its own."""
    is_full = isinstance(row.get("candidate"), Mapping)
    return read_full(row) if is_full else decision_of_row(row, keys, origins)


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
