"""Decisions and their parts as plain data that JSON can carry, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, TypeVar

from ebbtide.codec import As, Codec, WireError, WireForm
from ebbtide.decision_log.record.particulars import Particulars, RecordOption, unpack
from ebbtide.decision_log.record.record import Decision, SourceDocument, Status
from ebbtide.decisions.assessment import Assessment, RuleFired
from ebbtide.decisions.candidate import Candidate, Reason
from ebbtide.errors import ConfigError

_T = TypeVar("_T")


def _assessment(table: Mapping[str, Any]) -> Assessment:
    # Its primary rule stands there by its id.
    rules = tuple(_CODEC.from_wire(RuleFired, rule) for rule in table["rules"])
    primary = table.get("primary")
    return Assessment(
        keep=bool(table["keep"]),
        primary=None if primary is None else next(rule for rule in rules if rule.id == primary),
        rules=rules,
        noise=table["noise"],
        choice=table["choice"],
        threshold=table["threshold"],
        profile=table["profile"],
    )


def _document(table: Mapping[str, Any]) -> SourceDocument:
    packed = table.get("packed")
    text = table["text"] if packed is None else unpack(packed)
    if not isinstance(text, str) or not isinstance(table["name"], str):
        raise TypeError("document: expected texts as name and text")
    return SourceDocument(
        name=table["name"],
        text=text,
        status=Status(table["status"]),
        links=int(table.get("links", 0)),
    )


_CODEC = Codec(
    {
        Assessment: WireForm(read=_assessment),
        Candidate: WireForm(always=("description", "frame", "source")),
        Decision: WireForm(
            names={"question": "asked"},
            always=(
                "id",
                "scope",
                "status",
                "opened_at",
                "settled_at",
                "version",
                "candidate",
                "occurrences",
            ),
            inline=("scope",),
        ),
        Particulars: WireForm(always=()),
        Reason: WireForm(always=("text",)),
        RecordOption: WireForm(always=("title",)),
        SourceDocument: WireForm(read=_document),
    }
)

#: A decision or a part of one as plain data. Of a decision and a candidate what is not known is left out.
to_wire = _CODEC.to_wire


def from_wire(kind: type[_T], table: Mapping[str, Any]) -> _T:
    """The decision, or the part of one, that `to_wire` described.

    Raises:
        ConfigError: It describes none; the message names the place.
    """
    name = kind.__name__.lower()
    try:
        return _CODEC.from_wire(kind, table)
    except WireError as error:
        raise ConfigError(str(error.under(name))) from error
    except KeyError as error:
        raise ConfigError(f"{name}: the key {error} is missing") from error
    except (TypeError, ValueError, AttributeError, StopIteration) as error:
        raise ConfigError(f"{name}: {error}") from error


def decision_json(decision: Decision) -> str:
    """A decision as a line of JSON."""
    return json.dumps(decision_document(decision), ensure_ascii=False, allow_nan=False)


def decision_document(decision: Decision) -> dict[str, Any]:
    """A decision with the version of its wire form, as it stands in files and on the command line."""
    return {"schema": 1, **to_wire(decision)}


#: A decision that stands in another record as its document.
WireDecision = Annotated[Decision, As(decision_document, partial(from_wire, Decision))]
