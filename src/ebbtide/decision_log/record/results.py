"""Results of the log in bulk: what was added, planned changes, pages and hits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ebbtide.decision_log.record.record import (
    Decision,
)
from ebbtide.decision_log.record.wire import decision_document
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
class Page:
    """Some decisions of a longer list.

    Args:
        decisions: Newest first.
        cursor: Where the next page begins; None at the end.
    """

    decisions: tuple[Decision, ...]
    cursor: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "schema": 1,
            "decisions": [decision_document(decision) for decision in self.decisions],
            "cursor": self.cursor,
        }


class FoundBy(StrEnum):
    """The ways by which a search finds a decision."""

    WORDS = "words"
    MEANING = "meaning"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A decision that was found.

    Args:
        decision: Itself.
        rank: How well it fits; higher is better. Ranks of two databases cannot be compared.
        found_by: By its words, by its meaning, or both.
    """

    decision: Decision
    rank: float
    found_by: tuple[FoundBy, ...] = (FoundBy.WORDS,)

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "schema": 1,
            "rank": round(self.rank, 6),
            "found_by": [way.value for way in self.found_by],
            "decision": decision_document(self.decision),
        }
