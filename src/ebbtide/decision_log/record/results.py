"""Results of the log in bulk: what was added, planned changes, pages and hits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from ebbtide.codec import Record, Rounded
from ebbtide.decision_log.record.wire import WireDecision
from ebbtide.decisions.assessment import Assessment


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The result of one import.

    Args:
        created: Whether it is new; False where it was there already and nothing was done.
    """

    id: str
    created: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A decision that is to go to quarantine.

    Args:
        id: Which one.
        version: Its version when the plan was made; None takes it as it is.
        assessment: Why.
    """

    id: str
    version: int | None = None
    assessment: Assessment


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Record):
    """Some decisions of a longer list.

    Args:
        decisions: Newest first.
        cursor: Where the next page begins; None at the end.
    """

    _SCHEMA: ClassVar = 1

    decisions: tuple[WireDecision, ...]
    cursor: str | None = None


class FoundBy(StrEnum):
    """The ways by which a search finds a decision."""

    WORDS = "words"
    MEANING = "meaning"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit(Record):
    """A decision that was found.

    Args:
        decision: Itself.
        rank: How well it fits; higher is better. Ranks of two databases cannot be compared.
        found_by: By its words, by its meaning, or both.
    """

    _WIRE: ClassVar = "rank found_by decision"
    _SCHEMA: ClassVar = 1

    decision: WireDecision
    rank: Rounded
    found_by: tuple[FoundBy, ...] = (FoundBy.WORDS,)
