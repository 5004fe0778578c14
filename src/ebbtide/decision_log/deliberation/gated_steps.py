"""The verdict of the gate and the window on a decision in the log.

Comparing with earlier decisions and writing are one transaction, which the caller opens and commits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ebbtide.decision_log.deliberation.answer import DecisionAnswer, DecisionVerdict
from ebbtide.decision_log.deliberation.proposal import Proposal
from ebbtide.decision_log.log import steps
from ebbtide.decision_log.record.record import (
    Decision,
    DecisionScope,
    Link,
    Mode,
    Occurrence,
    Relation,
    Status,
)
from ebbtide.decision_log.store.transaction import OnSubject, Transaction
from ebbtide.decisions.candidate import Candidate
from ebbtide.decisions.repeats.compared_text import fingerprint
from ebbtide.decisions.repeats.duplicate_verdict import DuplicateVerdict, duplicate_assessment
from ebbtide.decisions.repeats.duplicates import find_duplicate
from ebbtide.decisions.repeats.subject import find_reversal
from ebbtide.errors import LifecycleError
from ebbtide.profile import Profile
from ebbtide.profile.duplicates import DuplicateRules

_VERDICTS = {Status.KEPT: DecisionVerdict.KEPT, Status.QUARANTINED: DecisionVerdict.QUARANTINED}


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRules:
    """The rules of the gate and the window, and the power of their answer.

    Args:
        profile: The rules of the gate.
        duplicates: Window and thresholds.
        mode: What a refusal does.
    """

    profile: Profile
    duplicates: DuplicateRules
    mode: Mode


def subjects(rules: StepRules, taken: Decision) -> tuple[OnSubject, ...]:
    """The questions about the decisions that stand when one is taken: none where the gate refuses it."""
    scope, most = taken.scope, rules.duplicates.rivals_at_most
    if not most or taken.refused:
        return ()
    text, at = taken.candidate.description, taken.settled_at or 0.0
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


def finalize(
    tx: Transaction, rules: StepRules, proposal: Proposal, opened: Decision | None = None
) -> DecisionAnswer:
    """Take a decision into the log or into quarantine.

    Args:
        tx: The transaction.
        rules: What is asked of it.
        proposal: As it would be taken.
        opened: As it was opened; None where nobody did.

    Raises:
        LifecycleError: It is final already, with another text.
    """
    if opened is not None and opened.status not in {Status.OPENED, Status.ABANDONED}:
        return _repeat_answer(opened, proposal, rules)
    taken = proposal.taken
    scope, candidate, at, assessment = taken.scope, taken.candidate, taken.settled_at or 0.0, taken.assessment
    duplicate = None
    if assessment is None or assessment.keep:
        # What is noise is no decision, and so no duplicate of one either.
        not_id = None if opened is None else opened.id
        duplicate = compare(tx, scope, candidate.description, at, rules.duplicates, final=True, not_id=not_id)
        if duplicate is not None and duplicate.is_duplicate:
            assessment = duplicate_assessment(duplicate, assessment, rules.profile)
        elif duplicate is not None and not duplicate.contradicts:
            rivals = [rival for subject in subjects(rules, taken) for rival in tx.standing(subject)]
            duplicate = find_reversal(candidate.description, rivals) or duplicate
    is_refused = assessment is not None and not assessment.keep
    enforced = is_refused and rules.mode is Mode.ENFORCE and not proposal.force
    settled = replace(
        taken,
        assessment=assessment,
        status=Status.QUARANTINED if enforced else Status.KEPT,
        mode=rules.mode,
        forced=is_refused and proposal.force,
        links=(
            *_links(duplicate),
            *(link for link in taken.links if link.relation is not Relation.SUPERSEDES and not enforced),
        ),
    )
    decision = steps.settle(tx, settled, opened)
    if not enforced:
        decision = _superseding(tx, decision, taken)
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


def _superseding(tx: Transaction, decision: Decision, taken: Decision) -> Decision:
    """The decision, once those are out of force whose place it takes."""
    scope = decision.scope
    for link in taken.links:
        if link.relation is Relation.SUPERSEDES:
            steps.supersede(
                tx, tx.load(scope.tenant, None, link.to), decision, taken.settled_at or 0.0, why=link.why
            )
            decision = tx.load(scope.tenant, scope.agent, decision.id)
    return decision


def _links(duplicate: DuplicateVerdict | None) -> tuple[Link, ...]:
    """Returns the links that a comparison makes between two decisions."""
    if duplicate is None or duplicate.of is None:
        return ()
    if duplicate.is_duplicate:
        return (Link(relation=Relation.DUPLICATE_OF, to=duplicate.of),)
    return (Link(relation=Relation.CONTRADICTS, to=duplicate.of, why="possible reversal"),)


def _repeat_answer(decision: Decision, proposal: Proposal, rules: StepRules) -> DecisionAnswer:
    same = decision.candidate.description == proposal.taken.candidate.description
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


_MOST = 1000  # rows of a window that are read, where the rules name no other number


def compare(
    tx: Transaction,
    scope: DecisionScope,
    text: str,
    at: float,
    rules: DuplicateRules,
    *,
    final: bool,
    not_id: str | None = None,
) -> DuplicateVerdict | None:
    """Compares a text with the earlier decisions of its session; None for one without words.

    What is about to be thought about is compared with what others were called when they were opened, and a
    final text with final texts. Nobody else can write to the stream in between.

    Args:
        tx: The transaction.
        scope: Whose it is.
        text: What it says.
        at: When, in seconds since the epoch. The window reaches both ways from there, since a clock can go
            back.
        rules: Window and thresholds.
        final: Whether it is final.
        not_id: The record of the text itself.
    """
    if not text.strip():
        return None
    most = _MOST if rules.compared_at_most is None else rules.compared_at_most
    rows, truncated = tx.earlier(
        scope,
        fingerprint(text),
        at=at,
        window_s=rules.window_s,
        final=final,
        most=most,
        not_id=not_id,
    )
    duplicate = find_duplicate(text, rows, rules, ts=at)
    return replace(duplicate, truncated=True) if truncated else duplicate
