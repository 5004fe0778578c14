"""A decision that is about to be taken, with the assessment of the gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Required, TypedDict, get_args, get_origin, get_type_hints

from ebbtide.decision_log.record.particulars import Particulars
from ebbtide.decision_log.record.record import Decision, Link
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


#: Fields of a candidate that are stated when it is taken, with their types.
_OF_CANDIDATE = {name: hint for name, hint in get_type_hints(Candidate).items() if name in _ARGUMENTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A decision that is about to be taken, with the assessment of the gate; whether it is kept is open.

    Args:
        taken: As it would be kept.
        degraded: Why the gate could not be asked; None where it was.
        force: Keep it whatever the gate says.
    """

    taken: Decision
    degraded: str | None
    force: bool


def propose(
    opened: Decision,
    description: str | None,
    words: Mapping[str, Any],
    now: float,
    judge: Callable[[Candidate, TurnContext | None], tuple[Assessment | None, str | None]],
) -> Proposal:
    """Puts a decision and its final words together, and asks the gate.

    Args:
        opened: As it was opened, or what is known of one that was not.
        description: The final text; None leaves that of before.
        words: `FinalWords`.
        now: When, where they do not say.
        judge: Gives the assessment, or why there is none.

    Raises:
        ConfigError: A value cannot be used.
        TypeError: There is no such argument.
    """
    if unknown := set(words) - _ARGUMENTS:
        raise TypeError(f"unexpected argument {min(unknown)!r}")
    stated = {name: words[name] for name in words if words[name] is not None}
    before = opened.candidate
    facts = {
        name: _of_type(hint, stated[name], name) for name, hint in _OF_CANDIDATE.items() if name in stated
    }
    candidate = Candidate(
        description=before.description if description is None else checked_text(description, "description"),
        frame=before.frame,
        source=before.source,
        **facts,
    )
    at = checked_time(stated.get("ts", now))
    review_by = checked_time(stated["review_by"], "review_by") if "review_by" in stated else None
    prediction = checked_text(stated["prediction"], "prediction") if "prediction" in stated else None
    particulars = stated.get("particulars")
    expect("particulars", particulars, Particulars, optional=True)
    links = tuple(_row(words.get("links", ()), "links"))
    assessment, degraded = judge(candidate, stated.get("context"))
    taken = Decision(
        scope=opened.scope,
        candidate=candidate,
        settled_at=at,
        assessment=assessment,
        prediction=prediction,
        review_by=review_by,
        particulars=particulars,
        links=links,
    )
    return Proposal(taken=taken, degraded=degraded, force=bool(words.get("force", False)))


def checked_text(value: object, name: str) -> str:
    """Returns a text, of whatever length and characters.

    Raises:
        ConfigError: It is none.
    """
    if not isinstance(value, str):
        raise ConfigError(f"{name} = {value!r:.60}: expected a text")
    return value


def checked_source(value: object) -> Source:
    """Returns the source of a candidate.

    Raises:
        ConfigError: No such source.
    """
    source: Source = _of_type(Source, value, "source")
    return source


def _of_type(hint: Any, value: object, name: str) -> Any:
    """A value as the field has it, from what a caller may write: a list, a word of an enumeration."""
    kinds = get_args(hint) or (hint,)
    kind = kinds[0]
    if get_origin(hint) is tuple:
        return tuple(_of_type(kind, item, name) for item in _row(value, name))
    if kind is Reason:
        return value if isinstance(value, Reason) else Reason(text=checked_text(value, name))
    if issubclass(kind, StrEnum):
        try:
            return kind(value)
        except ValueError as error:
            raise ConfigError(f"{name} = {value!r:.60}: expected one of {', '.join(kind)}") from error
    return checked_text(value, name) if kind is str else value  # numbers are checked by the candidate


def _row(value: object, name: str) -> Sequence[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ConfigError(f"{name} = {value!r:.60}: expected a list")
    return value
