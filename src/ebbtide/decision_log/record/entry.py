"""What goes into the log and comes out of it in bulk: imported decisions, planned changes, pages and hits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from ebbtide.decision_log.record.particulars import Particulars
from ebbtide.decision_log.record.record import (
    Decision,
    Link,
    Mode,
    Occurrence,
    Review,
    SourceDocument,
    Status,
)
from ebbtide.decision_log.record.wire import decision_document
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A decision from somewhere else, as it stood there.

    Args:
        candidate: What it says.
        agent: Whose it is; None takes that of the view.
        session: In which session; None takes that of the view.
        opened_at: Seconds since the epoch; None takes `settled_at`, of an open one the clock. Where there is
            neither, it stays unknown.
        settled_at: When it was final; None takes `opened_at`, unless it is still open.
        status: Where it stands.
        question: What it was called when it was opened.
        thoughts: What was thought, oldest first.
        links: To other decisions, by their ids here.
        reviews: Oldest first.
        prediction: What was expected to happen.
        review_by: When somebody should look, in seconds since the epoch.
        assessment: What a gate made of it.
        mode: What that gate was allowed to do.
        superseded_by: The decision that took its place, by its id here.
        occurrences: How often it was decided.
        again: Duplicates of it that were refused.
        forced: Whether a gate was against it.
        restored: Whether it came back from a quarantine.
        id: Its id, where it comes from a decision log; None gives it one.
        origin: Where it comes from, such as ``notes.jsonl:17``. The same origin at the same time is the
            same decision.
        document: The record that it was read from.
        particulars: What a record says of it beside.
        amended: The fields of `particulars` that were changed since.
    """

    candidate: Candidate
    agent: str | None = None
    session: str | None = None
    opened_at: float | None = None
    settled_at: float | None = None
    status: Status = Status.KEPT
    question: str | None = None
    thoughts: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    reviews: tuple[Review, ...] = ()
    prediction: str | None = None
    review_by: float | None = None
    assessment: Assessment | None = None
    mode: Mode | None = None
    superseded_by: str | None = None
    occurrences: int = 1
    again: tuple[Occurrence, ...] = ()
    forced: bool = False
    restored: bool = False
    id: str | None = None
    origin: str | None = None
    document: SourceDocument | None = None
    particulars: Particulars | None = None
    amended: tuple[str, ...] = ()

    @classmethod
    def of(cls, decision: Decision) -> Self:
        """A decision of one log, for another one."""
        return cls(
            candidate=decision.candidate,
            agent=decision.scope.agent,
            session=decision.scope.session,
            opened_at=decision.opened_at,
            settled_at=decision.settled_at,
            status=decision.status,
            question=decision.question,
            thoughts=decision.thoughts,
            links=decision.links,
            reviews=decision.reviews,
            prediction=decision.prediction,
            review_by=decision.review_by,
            assessment=decision.assessment,
            mode=decision.mode,
            superseded_by=decision.superseded_by,
            occurrences=decision.occurrences,
            again=decision.again,
            forced=decision.forced,
            restored=decision.restored,
            id=decision.id,
            origin=decision.origin,
            document=decision.document,
            particulars=decision.particulars,
            amended=decision.amended,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What became of an entry.

    Args:
        id: Its id.
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
    """By what a search found a decision."""

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
