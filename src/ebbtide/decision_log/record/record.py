"""A decision as the log has it: the fold of its events."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ebbtide.decision_log.record.particulars import WORTH_IT, Particulars, pack
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate, Reason
from ebbtide.errors import ConfigError, shown

# It becomes a file in a folder of somebody's choice, so it must not lead out of it.
_PAGE_NAME = re.compile(r"[^/\\\x00-\x1f:]{1,240}\.(?:md|markdown)")


class Status(StrEnum):
    """The status of a decision."""

    OPENED = "opened"  #: being thought about
    ABANDONED = "abandoned"  #: never finalized in time
    KEPT = "kept"
    QUARANTINED = "quarantined"  #: refused by the gate or by a clean-up; it can be restored
    SUPERSEDED = "superseded"  #: another decision took its place
    PURGED = "purged"  #: its text is gone, and that it was there is not


class Mode(StrEnum):
    """The power of the gate. A refusal is counted in every mode."""

    SHADOW = "shadow"  #: everything is kept; what would have been refused is noted
    ADVISE = "advise"  #: everything is kept; the caller gets the judgement of the gate
    ENFORCE = "enforce"  #: what the gate refuses goes to quarantine, and duplicates to their original


class DecisionOutcome(StrEnum):
    """The outcome of a decision."""

    SUCCESS = "success"
    PARTIAL = "partial"
    FAILURE = "failure"
    NOT_A_DECISION = "not_a_decision"
    UNKNOWN = "unknown"


class Relation(StrEnum):
    """The relation of a decision to another one."""

    SUPERSEDES = "supersedes"
    DUPLICATE_OF = "duplicate_of"
    RELATED_TO = "related_to"
    DEPENDS_ON = "depends_on"
    CONTRADICTS = "contradicts"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionScope:
    """The owner of decisions. Every statement of the store is bound to one."""

    tenant: str = "default"
    agent: str = "agent"
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A relation to another decision, and why."""

    relation: Relation
    to: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The outcome of a decision as a person, or a signal, found it.

    Args:
        outcome: How it turned out.
        by: Who says so: a person, or the name of a signal.
        evidence: What that rests on; a signal has to name it.
        ts: Seconds since the epoch; None where it was imported and nobody knows.
        observed: Whether a machine measured it. A person who says so attests it, a signal inferred it.
    """

    outcome: DecisionOutcome
    by: str
    evidence: str = ""
    ts: float | None
    observed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """A duplicate that was refused: the same decision, taken once more.

    Args:
        ts: Seconds since the epoch.
        stage: Where it was noticed: ``start`` or ``final``.
        text: What it said.
        measure: By what it was found to be the same.
        score: How much the same, 0 to 1.
        of_id: Its own record in the quarantine; None where it never got one.
        reasons: Why it was decided, that time.
        thoughts: What was thought, that time.
    """

    ts: float
    stage: str
    text: str
    measure: str
    score: float
    of_id: str | None = None
    reasons: tuple[Reason, ...] = ()
    thoughts: tuple[str, ...] = ()


def page_name(source: str) -> str:
    """The name of a markdown file without its folder; empty where it is that of none."""
    name = re.split(r"[/\\:]", source)[-1]
    return name if _PAGE_NAME.fullmatch(name) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDocument:
    """The record that a decision was imported from, as it was written.

    Args:
        name: Name of its file, without a folder; empty where it had none.
        text: All of it, with its line ends.
        status: What it says of the status.
        links: How many links of the decision it states: the first ones.

    Raises:
        ConfigError: The name is that of no markdown file.
    """

    name: str
    text: str
    status: Status = Status.KEPT
    links: int = 0

    def __post_init__(self) -> None:
        if self.name and not _PAGE_NAME.fullmatch(self.name):
            raise ConfigError(f"document.name = {shown(self.name, 60)}: expected the name of a markdown file")

    def to_dict(self) -> dict[str, Any]:
        """The wire form; a long text is packed."""
        text = {"text": self.text} if len(self.text) < WORTH_IT else {"packed": pack(self.text)}
        return {"name": self.name, **text, "status": self.status.value, "links": self.links}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A decision: on its way into a log, or as it is there now. The one place of its fields.

    One that comes from somewhere else, or is about to be taken, has no id and no version yet. Where its scope
    names the default agent, or no session, the log that it goes into says which.

    Args:
        id: Sorts by time; those without a time come before all others.
        status: Where it stands.
        opened_at: Seconds since the epoch; None where it was imported and nobody knows.
        settled_at: When it was finalized, abandoned or quarantined; None while it is open, or where nobody
            knows.
        question: The text under which it was opened; None where it was recorded in one step.
        review_by: When somebody should look how it turned out, in seconds since the epoch.
        prediction: What is expected to happen, and how one would tell.
        origin: Where an imported decision came from, such as ``notes.jsonl:17``. The same origin at the same
            time is the same decision.
        document: The record that it was imported from.
        particulars: What a record says of it beside.
        amended: The fields of `particulars` that were changed after it was final or imported.
        thoughts: What was thought before it was final, oldest first.
        assessment: The verdict of the gate; None while it is open.
        mode: What the gate was allowed to do with it; None where no gate was asked.
        reviews: Oldest first; see `ebbtide.decision_log.record.review.resolve`.
        occurrences: How often it was decided, with the duplicates that were refused.
        again: Those duplicates, oldest first.
        forced: Recorded over the objection of the gate.
        restored: Brought back from the quarantine; a clean-up that was undone does not count.
        version: Number of its latest event in the stream of its agent; it grows with every change.
    """

    id: str = ""
    scope: DecisionScope = DecisionScope()
    candidate: Candidate
    status: Status = Status.KEPT
    opened_at: float | None = None
    settled_at: float | None = None
    question: str | None = None
    superseded_by: str | None = None
    review_by: float | None = None
    prediction: str | None = None
    origin: str | None = None
    document: SourceDocument | None = None
    particulars: Particulars | None = None
    amended: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()
    assessment: Assessment | None = None
    mode: Mode | None = None
    links: tuple[Link, ...] = ()
    reviews: tuple[Review, ...] = ()
    occurrences: int = 1
    again: tuple[Occurrence, ...] = ()
    forced: bool = False
    restored: bool = False
    version: int = 0

    @property
    def refused(self) -> bool:
        """The gate, or a clean-up, was against it; whatever became of it."""
        return self.assessment is not None and not self.assessment.keep
