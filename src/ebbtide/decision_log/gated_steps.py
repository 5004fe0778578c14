"""What a decision says when it is taken, and what the gate and the window make of that in the log.

Comparing with earlier decisions and writing are one transaction, which the caller opens and commits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Required, TypedDict

from ebbtide.decision_log import steps
from ebbtide.decision_log.answer import DecisionAnswer, DecisionVerdict
from ebbtide.decision_log.guardrails import Guarded, Guardrail, with_guardrails
from ebbtide.decision_log.particulars import Particulars
from ebbtide.decision_log.record import Decision, DecisionScope, Link, Mode, Occurrence, Relation, Status
from ebbtide.decision_log.steps import Settlement
from ebbtide.decision_log.store.transaction import OnSubject, Transaction, checked_time
from ebbtide.decision_log.window import compare
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate, ConfidenceSource, Reason, Source, Stakes, TurnContext
from ebbtide.decisions.repeats.duplicate_assessment import duplicate_assessment
from ebbtide.decisions.repeats.duplicate_verdict import DuplicateVerdict
from ebbtide.decisions.repeats.reversals import find_reversal
from ebbtide.errors import ConfigError, LifecycleError, expect
from ebbtide.profile import Profile
from ebbtide.profile.duplicates import DuplicateRules

_VERDICTS = {Status.KEPT: DecisionVerdict.KEPT, Status.QUARANTINED: DecisionVerdict.QUARANTINED}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRules:
    """What is asked, and what the answer may do.

    Args:
        profile: The rules of the gate.
        duplicates: Window and thresholds.
        mode: What a refusal does.
        guardrails: The rules of the team.
    """

    profile: Profile
    duplicates: DuplicateRules
    mode: Mode
    guardrails: Sequence[Guardrail] = ()


def subjects(rules: StepRules, scope: DecisionScope, proposal: Proposal) -> tuple[OnSubject, ...]:
    """What is asked of the decisions that stand when one is taken: nothing of what the gate refuses."""
    settlement, most = proposal.settlement, rules.duplicates.rivals_at_most
    if not most or (settlement.assessment is not None and not settlement.assessment.keep):
        return ()
    text, at = settlement.candidate.description, settlement.at
    return (OnSubject(tenant=scope.tenant, agent=scope.agent, text=text, at=at, most=most),)


def start(
    tx: Transaction, rules: StepRules, scope: DecisionScope, candidate: Candidate, at: float
) -> DecisionAnswer:
    """Open a decision, unless the same was opened or decided in the window."""
    duplicate = compare(tx, scope, candidate.description, at, rules.duplicates, final=False)
    if duplicate is None or not duplicate.is_duplicate or duplicate.of is None:
        decision = steps.open_decision(tx, scope, candidate, at)
        return DecisionAnswer(
            verdict=DecisionVerdict.OPENED, mode=rules.mode, decision=decision, duplicate=duplicate
        )
    assessment = duplicate_assessment(duplicate, None, rules.profile)
    if rules.mode is not Mode.ENFORCE:
        decision = steps.open_decision(tx, scope, candidate, at, objection=(assessment, rules.mode))
        return DecisionAnswer(
            verdict=DecisionVerdict.OPENED,
            mode=rules.mode,
            decision=decision,
            assessment=assessment,
            duplicate=duplicate,
        )
    steps.add_occurrence(
        tx,
        tx.load(scope.tenant, scope.agent, duplicate.of),
        _occurrence(duplicate, "start", candidate, at),
        at,
        to_count=(candidate, assessment, rules.mode),
    )
    return DecisionAnswer(
        verdict=DecisionVerdict.DUPLICATE, mode=rules.mode, assessment=assessment, duplicate=duplicate
    )


def finalize(tx: Transaction, rules: StepRules, decision: Decision, proposal: Proposal) -> DecisionAnswer:
    """Take a decision that was opened, into the log or into quarantine.

    Raises:
        LifecycleError: It is final already, with another text.
    """
    if decision.status not in {Status.OPENED, Status.ABANDONED}:
        return _repeat_answer(decision, proposal, rules)
    return _judge_and_settle(tx, rules, decision.scope, proposal, decision)


def finalize_at_once(
    tx: Transaction, rules: StepRules, scope: DecisionScope, proposal: Proposal
) -> DecisionAnswer:
    """Take a decision that nobody opened, into the log or into quarantine."""
    return _judge_and_settle(tx, rules, scope, proposal, None)


def _judge_and_settle(
    tx: Transaction, rules: StepRules, scope: DecisionScope, proposal: Proposal, opened: Decision | None
) -> DecisionAnswer:
    settlement = proposal.settlement
    candidate, at, assessment = settlement.candidate, settlement.at, settlement.assessment
    duplicate = None
    if assessment is None or assessment.keep:
        # What is noise is no decision, and so no duplicate of one either.
        not_id = None if opened is None else opened.id
        duplicate = compare(tx, scope, candidate.description, at, rules.duplicates, final=True, not_id=not_id)
        if duplicate is not None and duplicate.is_duplicate:
            assessment = duplicate_assessment(duplicate, assessment, rules.profile)
        elif duplicate is not None and not duplicate.contradicts:
            rivals = [rival for subject in subjects(rules, scope, proposal) for rival in tx.standing(subject)]
            duplicate = find_reversal(candidate.description, rivals) or duplicate
    assessment = with_guardrails(
        assessment, rules.guardrails, _guarded(settlement, opened), rules.profile.name
    )
    is_refused = assessment is not None and not assessment.keep
    enforced = is_refused and rules.mode is Mode.ENFORCE and not proposal.force
    settlement = replace(
        settlement,
        assessment=assessment,
        verdict=Status.QUARANTINED if enforced else Status.KEPT,
        mode=rules.mode,
        forced=is_refused and proposal.force,
        links=(
            *_links(duplicate),
            *(link for link in settlement.links if link.relation is not Relation.SUPERSEDES and not enforced),
        ),
    )
    if opened is None:
        decision = steps.settle_at_once(tx, scope, settlement)
    else:
        decision = steps.settle_opened(tx, opened, settlement)
    if not enforced:
        decision = _superseding(tx, decision, proposal.settlement)
    verdict = _VERDICTS[decision.status]
    if enforced and duplicate is not None and duplicate.is_duplicate and duplicate.of is not None:
        verdict = DecisionVerdict.DUPLICATE
        occurrence = replace(
            _occurrence(duplicate, "final", candidate, at), of_id=decision.id, thoughts=decision.thoughts
        )
        steps.add_occurrence(tx, tx.load(scope.tenant, scope.agent, duplicate.of), occurrence, at)
    return DecisionAnswer(
        verdict=verdict,
        mode=rules.mode,
        decision=decision,
        assessment=assessment,
        duplicate=duplicate,
        degraded=proposal.degraded,
    )


def _guarded(settlement: Settlement, opened: Decision | None) -> Guarded:
    """What the guardrails look at: what is said now, and where nothing is, what was said before."""
    if opened is None:
        return Guarded(
            candidate=settlement.candidate,
            particulars=settlement.particulars,
            review_by=settlement.review_by,
            links=settlement.links,
        )
    return Guarded(
        candidate=settlement.candidate,
        particulars=settlement.particulars or opened.particulars,
        review_by=opened.review_by if settlement.review_by is None else settlement.review_by,
        links=(*opened.links, *settlement.links),
    )


def _superseding(tx: Transaction, decision: Decision, settlement: Settlement) -> Decision:
    """The decision, once those are out of force whose place it takes."""
    scope = decision.scope
    for link in settlement.links:
        if link.relation is Relation.SUPERSEDES:
            steps.supersede(tx, tx.load(scope.tenant, None, link.to), decision, settlement.at, why=link.why)
            decision = tx.load(scope.tenant, scope.agent, decision.id)
    return decision


def _links(duplicate: DuplicateVerdict | None) -> tuple[Link, ...]:
    """What a comparison says about two decisions, for later readers."""
    if duplicate is None or duplicate.of is None:
        return ()
    if duplicate.is_duplicate:
        return (Link(relation=Relation.DUPLICATE_OF, to=duplicate.of),)
    if duplicate.difference is None:
        return ()
    return (Link(relation=Relation.CONTRADICTS, to=duplicate.of, why="possible reversal"),)


def _repeat_answer(decision: Decision, proposal: Proposal, rules: StepRules) -> DecisionAnswer:
    same = decision.candidate.description == proposal.settlement.candidate.description
    if not same or decision.status is Status.PURGED:
        raise LifecycleError(
            f"decision {decision.id} is {decision.status.value} already, with another text; "
            "record a new one, and let it supersede this one"
        )
    is_duplicate = any(link.relation is Relation.DUPLICATE_OF for link in decision.links)
    verdict = DecisionVerdict.QUARANTINED if decision.status is Status.QUARANTINED else DecisionVerdict.KEPT
    return DecisionAnswer(
        verdict=DecisionVerdict.DUPLICATE
        if is_duplicate and verdict is DecisionVerdict.QUARANTINED
        else verdict,
        mode=decision.mode or rules.mode,
        decision=decision,
        assessment=decision.assessment,
    )


def _occurrence(duplicate: DuplicateVerdict, stage: str, candidate: Candidate, at: float) -> Occurrence:
    return Occurrence(
        ts=at,
        stage=stage,
        text=candidate.description,
        measure="" if duplicate.measure is None else duplicate.measure.value,
        score=duplicate.score or 0.0,
        reasons=candidate.reasons,
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
