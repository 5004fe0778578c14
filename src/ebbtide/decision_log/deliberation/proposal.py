"""What a decision says when it is taken, and what the gate makes of that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Required, TypedDict

from ebbtide.decision_log.log.steps import Settlement
from ebbtide.decision_log.record.particulars import Particulars
from ebbtide.decision_log.record.record import Link
from ebbtide.decision_log.store.transaction import checked_time
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate, ConfidenceSource, Reason, Source, Stakes, TurnContext
from ebbtide.errors import ConfigError, expect


class FinalWords(TypedDict, total=False):
    """The arguments with which a decision is taken; each may be left out.

    Args:
        confidence: How sure the agent is that it will turn out right, 0 to 1.
        confidence_source: Where that number came from; see `Candidate`.
        reasons: Why: `Reason`, or a text.
        options: What was weighed, the one that was chosen among them.
        assumptions: What has to hold for it to be right.
        stakes: What it costs to be wrong.
        category: Any name.
        prediction: What is expected to happen, and how one would tell.
        review_by: When somebody should look how it turned out, in seconds since the epoch.
        particulars: What a record says beside: the context, the consequences and so on.
        context: The turn that it came from, for layer 1 of the gate.
        force: Keep it whatever the gate says; the record says so.
        links: How it stands to others; what it supersedes is out of force as soon as this is kept.
        ts: When it was taken, in seconds since the epoch; without it the clock is asked.
    """

    confidence: float | None
    confidence_source: ConfidenceSource | None
    reasons: Sequence[Reason | str]
    options: Sequence[str]
    assumptions: Sequence[str]
    stakes: Stakes | None
    category: str | None
    prediction: str | None
    review_by: float | None
    particulars: Particulars | None
    context: TurnContext | None
    force: bool
    links: Sequence[Link]
    ts: float | None


class RecordWords(FinalWords, total=False):
    """A decision of a batch: the arguments of `Deliberation.record_decision`.

    Args:
        description: What is decided; the only one that has to be there.
        agent_id: Who decides.
        session: In which session.
        frame: What the agent is doing.
        source: How it came up.
    """

    description: Required[str]
    agent_id: str | None
    session: str | None
    frame: str
    source: Source


_ARGUMENTS = frozenset(FinalWords.__annotations__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A decision that is about to be taken, and what the gate made of it.

    Args:
        settlement: What it says; whether it is kept is open.
        degraded: Why the gate could not be asked; None where it was.
        force: Keep it whatever the gate says.
    """

    settlement: Settlement
    degraded: str | None
    force: bool


def propose(
    opened: Candidate,
    description: str | None,
    words: Mapping[str, Any],
    now: float,
    judge: Callable[[Candidate, TurnContext | None], tuple[Assessment | None, str | None]],
) -> Proposal:
    """Put a candidate and its final words together, and ask the gate.

    Args:
        opened: What it was when it was opened.
        description: What it is now; None leaves it.
        words: `FinalWords`.
        now: When, where they do not say.
        judge: Gives the assessment, or why there is none.

    Raises:
        ConfigError: A value cannot be used.
        TypeError: There is no such argument.
    """
    if unknown := set(words) - _ARGUMENTS:
        raise TypeError(f"unexpected argument {min(unknown)!r}")
    candidate = Candidate(
        description=opened.description if description is None else checked_text(description, "description"),
        frame=opened.frame,
        source=opened.source,
        options=_texts(words, "options"),
        reasons=tuple(map(_reason, _row(words, "reasons"))),
        assumptions=_texts(words, "assumptions"),
        stakes=_optional_member(Stakes, words, "stakes"),
        category=_optional_text(words, "category"),
        confidence=words.get("confidence"),
        confidence_source=_optional_member(ConfidenceSource, words, "confidence_source"),
    )
    ts, review_by = words.get("ts"), words.get("review_by")
    at = checked_time(now if ts is None else ts)
    due = None if review_by is None else checked_time(review_by, "review_by")
    prediction = _optional_text(words, "prediction")
    particulars = words.get("particulars")
    expect("particulars", particulars, Particulars, optional=True)
    assessment, degraded = judge(candidate, words.get("context"))
    return Proposal(
        settlement=Settlement(
            candidate=candidate,
            at=at,
            assessment=assessment,
            prediction=prediction,
            review_by=due,
            particulars=particulars,
            links=tuple(_row(words, "links")),
        ),
        degraded=degraded,
        force=bool(words.get("force", False)),
    )


def checked_text(value: object, name: str) -> str:
    """A text, of whatever length and characters.

    Raises:
        ConfigError: It is none.
    """
    if not isinstance(value, str):
        raise ConfigError(f"{name} = {value!r:.60}: expected a text")
    return value


def checked_source(value: object) -> Source:
    """How a candidate came up.

    Raises:
        ConfigError: No such source.
    """
    source: Source = _member(Source, value, "source")
    return source


def _reason(value: object) -> Reason:
    return value if isinstance(value, Reason) else Reason(text=checked_text(value, "reasons"))


def _optional_text(words: Mapping[str, Any], name: str) -> str | None:
    value = words.get(name)
    return None if value is None else checked_text(value, name)


def _texts(words: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(checked_text(item, name) for item in _row(words, name))


def _row(words: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = words.get(name, ())
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ConfigError(f"{name} = {value!r:.60}: expected a list")
    return value


def _optional_member(labels: Any, words: Mapping[str, Any], name: str) -> Any:
    value = words.get(name)
    return None if value is None else _member(labels, value, name)


def _member(labels: Any, value: object, name: str) -> Any:
    try:
        return labels(value)
    except ValueError as error:
        raise ConfigError(f"{name} = {value!r:.60}: expected one of {', '.join(labels)}") from error
