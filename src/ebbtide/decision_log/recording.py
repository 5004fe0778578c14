"""What the gate's verdict does to the log, inside the transaction that compares and writes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ebbtide.decision_log import steps
from ebbtide.decision_log.answer import Answer, Verdict
from ebbtide.decision_log.final_words import Final
from ebbtide.decision_log.record import Decision, Link, Mode, Occurrence, Relation, Scope, Status
from ebbtide.decision_log.store.transaction import Transaction
from ebbtide.decision_log.window import compare
from ebbtide.decisions.candidate import Candidate
from ebbtide.decisions.repeats.duplicate_assessment import duplicate_assessment
from ebbtide.decisions.repeats.duplicates import DuplicateVerdict
from ebbtide.errors import LifecycleError
from ebbtide.profile import Profile
from ebbtide.profile.duplicates import DuplicateRules

_VERDICTS = {Status.KEPT: Verdict.KEPT, Status.QUARANTINED: Verdict.QUARANTINED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is asked, and what the answer may do.

    Args:
        profile: The rules of the gate.
        duplicates: Window and thresholds.
        mode: What a refusal does.
    """

    profile: Profile
    duplicates: DuplicateRules
    mode: Mode


def begin(tx: Transaction, rules: Rules, scope: Scope, candidate: Candidate, at: float) -> Answer:
    """Open a decision, unless the same was opened or decided in the window."""
    text = candidate.description
    found = compare(tx, scope, text, at, rules.duplicates, final=False)
    if found is None or not found.is_duplicate or found.of is None:
        decision = steps.open_decision(tx, scope, candidate, at)
        return Answer(verdict=Verdict.OPENED, mode=rules.mode, decision=decision, duplicate=found)
    assessment = duplicate_assessment(found, None, rules.profile)
    if rules.mode is not Mode.ENFORCE:
        decision = steps.open_decision(tx, scope, candidate, at, noted=(assessment, rules.mode))
        return Answer(
            verdict=Verdict.OPENED,
            mode=rules.mode,
            decision=decision,
            assessment=assessment,
            duplicate=found,
        )
    original = tx.load(scope.tenant, scope.agent, found.of)
    steps.occur_again(
        tx,
        original,
        _occurrence(found, "start", candidate, at),
        at,
        counted=(candidate, assessment, rules.mode),
    )
    return Answer(verdict=Verdict.DUPLICATE, mode=rules.mode, assessment=assessment, duplicate=found)


def settle(tx: Transaction, rules: Rules, decision: Decision, final: Final) -> Answer:
    """Take a decision that was opened.

    Raises:
        LifecycleError: It is final already, with another text.
    """
    if decision.status not in {Status.OPENED, Status.ABANDONED}:
        return _answered_before(decision, final, rules)
    return _take(tx, rules, decision.scope, final, decision)


def record(tx: Transaction, rules: Rules, scope: Scope, final: Final) -> Answer:
    """Take a decision in one step."""
    return _take(tx, rules, scope, final, None)


def _take(tx: Transaction, rules: Rules, scope: Scope, final: Final, opened: Decision | None) -> Answer:
    found, assessment = None, final.assessment
    if assessment is None or assessment.keep:
        # What is noise is no decision, and so no duplicate of one either.
        found = compare(
            tx,
            scope,
            final.candidate.description,
            final.at,
            rules.duplicates,
            final=True,
            not_id=None if opened is None else opened.id,
        )
        if found is not None and found.is_duplicate:
            assessment = duplicate_assessment(found, assessment, rules.profile)
    refused = assessment is not None and not assessment.keep
    enforced = refused and rules.mode is Mode.ENFORCE and not final.force
    original = found.of if found is not None and found.is_duplicate else None
    written = steps.Settling(
        candidate=final.candidate,
        at=final.at,
        assessment=assessment,
        verdict=Status.QUARANTINED if enforced else Status.KEPT,
        mode=rules.mode,
        prediction=final.prediction,
        review_by=final.review_by,
        forced=refused and final.force,
        links=_links(found),
    )
    decision = steps.record(tx, scope, written) if opened is None else steps.settle(tx, opened, written)
    verdict = _VERDICTS[decision.status]
    if enforced and found is not None and original is not None:
        verdict = Verdict.DUPLICATE
        again = replace(
            _occurrence(found, "final", final.candidate, final.at),
            of_id=decision.id,
            thoughts=decision.thoughts,
        )
        steps.occur_again(tx, tx.load(scope.tenant, scope.agent, original), again, final.at)
    return Answer(
        verdict=verdict,
        mode=rules.mode,
        decision=decision,
        assessment=assessment,
        duplicate=found,
        degraded=final.degraded,
    )


def _links(found: DuplicateVerdict | None) -> tuple[Link, ...]:
    """What a comparison says about two decisions, for whoever reads them later."""
    if found is None or found.of is None:
        return ()
    if found.is_duplicate:
        return (Link(relation=Relation.DUPLICATE_OF, to=found.of),)
    if found.difference is None:
        return ()
    return (Link(relation=Relation.CONTRADICTS, to=found.of, why="possible reversal"),)


def _answered_before(decision: Decision, final: Final, rules: Rules) -> Answer:
    same = decision.candidate.description == final.candidate.description
    if not same or decision.status is Status.PURGED:
        raise LifecycleError(
            f"decision {decision.id} is {decision.status.value} already, with another text; "
            "record a new one, and let it supersede this one"
        )
    duplicate = any(link.relation is Relation.DUPLICATE_OF for link in decision.links)
    verdict = Verdict.QUARANTINED if decision.status is Status.QUARANTINED else Verdict.KEPT
    return Answer(
        verdict=Verdict.DUPLICATE if duplicate and verdict is Verdict.QUARANTINED else verdict,
        mode=decision.mode or rules.mode,
        decision=decision,
        assessment=decision.assessment,
    )


def _occurrence(found: DuplicateVerdict, stage: str, said: Candidate, at: float) -> Occurrence:
    return Occurrence(
        ts=at,
        stage=stage,
        text=said.description,
        measure="" if found.measure is None else found.measure.value,
        score=found.score or 0.0,
        reasons=said.reasons,
    )
