"""The complete JSON form of a log: every field of every decision, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ebbtide.decision_log.entry import Entry
from ebbtide.decision_log.exchange.arrivals import Arrival, Broken
from ebbtide.decision_log.exchange.values import number, shown, tables, text, texts
from ebbtide.decision_log.record import Decision, Status
from ebbtide.errors import ConfigError, TranscriptError

KIND = "ebbtide.decisions"


class _Keys(NamedTuple):
    texts: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()


_DECISION = _Keys(
    texts=("id", "agent", "session", "status", "asked", "prediction", "origin", "superseded_by"),
    lists=("thoughts",),
    numbers=("opened_at", "settled_at", "review_by", "occurrences"),
)
_CANDIDATE = _Keys(texts=("category", "frame"), lists=("options", "assumptions"), numbers=("confidence",))
_PARTS = {
    "reasons": _Keys(texts=("text",)),
    "links": _Keys(texts=("relation", "to", "why")),
    "reviews": _Keys(texts=("outcome", "by", "evidence"), numbers=("ts",)),
    "again": _Keys(texts=("text", "stage", "measure"), lists=("thoughts",), numbers=("ts", "score")),
}


def write_full(decisions: Iterable[Decision]) -> Iterator[str]:
    """The document, in pieces: an object with the decisions in the order that they are given."""
    yield f'{{"schema": 1, "kind": "{KIND}", "decisions": ['
    for at, decision in enumerate(decisions):
        yield f"{',' if at else ''}\n{json.dumps(decision.to_dict(), ensure_ascii=False, allow_nan=False)}"
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
    """Whether this is a decision as `Decision.to_dict` writes it."""
    return isinstance(row.get("candidate"), Mapping)


def read_full(table: Mapping[str, Any]) -> Entry:
    """The decision that `Decision.to_dict` wrote. Its tenant is that of the log it goes to.

    Raises:
        TranscriptError: A value is of another kind.
        ConfigError: A key is missing, or a label is unknown.
    """
    _check(table)
    decision = Decision.from_dict({"tenant": "default", "agent": "agent", **table})
    if decision.status is Status.PURGED:
        raise TranscriptError("the text of this decision was purged; there is nothing to import")
    return Entry.of(decision)


def _check(table: Mapping[str, Any]) -> None:
    """Refuse what `Decision.from_dict` would take and nobody could read later."""
    candidate = table["candidate"]
    if text(candidate, "description") is None:
        raise TranscriptError("there is no description", path="candidate.description")
    parts: list[tuple[Mapping[str, Any], _Keys]] = [(table, _DECISION), (candidate, _CANDIDATE)]
    for key, keys in _PARTS.items():
        parts += [(part, keys) for _, part in tables(candidate if key == "reasons" else table, key)]
    for row, keys in parts:
        for key in (*keys.texts, *keys.lists, *keys.numbers):
            value = row.get(key)
            if isinstance(value, str) != (key in keys.texts) and value is not None:
                raise TranscriptError(f"{shown(value)} is of another kind than expected", path=key)
        for key in keys.texts:
            text(row, key)
        for key in keys.lists:
            texts(row, key)
        for key in keys.numbers:
            number(row, key)
