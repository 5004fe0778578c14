"""What a decision may say when it is taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from ebbtide.decision_log.store.transaction import checked_time
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate, ConfidenceSource, Reason, Source, Stakes, TurnContext
from ebbtide.errors import ConfigError


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
        context: The turn that it came from, for layer 1 of the gate.
        force: Keep it whatever the gate says; the record says so.
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
    context: TurnContext | None
    force: bool
    ts: float | None


_KNOWN = frozenset(FinalWords.__annotations__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """A decision that is about to be recorded, and what the gate made of it.

    Args:
        candidate: What it says.
        at: When it was taken, in seconds since the epoch.
        assessment: What the gate made of it; None where it could not be asked.
        degraded: Why it could not.
        prediction: What is expected to happen.
        review_by: When somebody should look.
        force: Keep it whatever the gate says.
    """

    candidate: Candidate
    at: float
    assessment: Assessment | None
    degraded: str | None
    prediction: str | None
    review_by: float | None
    force: bool


def final_of(
    opened: Candidate,
    description: str | None,
    said: Mapping[str, Any],
    now: float,
    judge: Callable[[Candidate, TurnContext | None], tuple[Assessment | None, str | None]],
) -> Final:
    """A candidate with its final words.

    Args:
        opened: What it was when it was opened.
        description: What it is now; None leaves it.
        said: `FinalWords`.
        now: When, where they do not say.
        judge: Gives the assessment, or why there is none.

    Raises:
        ConfigError: A value cannot be used.
        TypeError: There is no such argument.
    """
    if unknown := set(said) - _KNOWN:
        raise TypeError(f"unexpected argument {min(unknown)!r}")
    ts, review_by = said.get("ts"), said.get("review_by")
    stakes, confidence_source = said.get("stakes"), said.get("confidence_source")
    candidate = Candidate(
        description=opened.description if description is None else checked_text(description, "description"),
        frame=opened.frame,
        source=opened.source,
        options=_texts(said.get("options", ()), "options"),
        reasons=tuple(map(_reason, _row(said.get("reasons", ()), "reasons"))),
        assumptions=_texts(said.get("assumptions", ()), "assumptions"),
        stakes=None if stakes is None else _member(Stakes, stakes, "stakes"),
        category=None if said.get("category") is None else checked_text(said["category"], "category"),
        confidence=said.get("confidence"),
        confidence_source=None
        if confidence_source is None
        else _member(ConfidenceSource, confidence_source, "confidence_source"),
    )
    prediction, context = said.get("prediction"), said.get("context")
    at = checked_time(now if ts is None else ts)
    due = None if review_by is None else checked_time(review_by, "review_by")
    assessment, degraded = judge(candidate, context)
    return Final(
        candidate=candidate,
        at=at,
        assessment=assessment,
        degraded=degraded,
        prediction=None if prediction is None else checked_text(prediction, "prediction"),
        review_by=due,
        force=bool(said.get("force", False)),
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
    return Source(_member(Source, value, "source"))


def _reason(value: object) -> Reason:
    return value if isinstance(value, Reason) else Reason(text=checked_text(value, "reasons"))


def _texts(value: object, name: str) -> tuple[str, ...]:
    return tuple(checked_text(each, name) for each in _row(value, name))


def _row(value: object, name: str) -> Sequence[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ConfigError(f"{name} = {value!r:.60}: expected a list")
    return value


def _member(labels: Any, value: object, name: str) -> Any:
    try:
        return labels(value)
    except ValueError as error:
        raise ConfigError(f"{name} = {value!r:.60}: expected one of {', '.join(labels)}") from error
