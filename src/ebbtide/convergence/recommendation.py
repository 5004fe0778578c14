"""Decision matrix, which answers the question to go on, and the words for it.

Source: novelty spec, section 4 (clauses S01 to S05, S08, B08).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from ebbtide.codec import Record
from ebbtide.convergence.novelty import Novelty
from ebbtide.convergence.outcomes import OutcomeReading
from ebbtide.convergence.readiness import ActionKind, Readiness, RoundReadiness
from ebbtide.convergence.signal import Signal
from ebbtide.convergence.witness import Standing, Witness, WitnessKind
from ebbtide.events.run_outcome import RunOutcome
from ebbtide.profile.convergence import StopRules

HINTS = {
    Signal.CONTINUE: "Run another round; verify anything that you act on before then.",
    Signal.SHIP: "Converged. Ship the decision and verify it: converged does not mean correct.",
    Signal.ESCALATE: (
        "More of the same will not help. Ask a person, or change the agents, the prompt or the scope; "
        "verify the results before you use them."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation(Record):
    """Signal, and the facts that decided it.

    Args:
        rule: The cell of the matrix or the condition that decided.
        low_run: Consecutive low rounds up to now (k).
        caveat: The fact that is missing in a SHIP; None if nothing is.
        too_short: There are fewer rounds than it takes for novelty to be LOW.
        rationale: The facts that decided, in words.
        hint: The next step.
        witness: The reason for a SHIP; None if there is none, or none is asked for.
    """

    _WIRE: ClassVar = """
        signal novelty_classification=novelty readiness_classification=readiness
        k_consecutive_low_novelty=low_run rule caveat too_short_to_judge=too_short rationale witness
    """

    signal: Signal
    rule: str
    novelty: Novelty
    readiness: Readiness
    low_run: int
    caveat: str | None
    too_short: bool
    rationale: str
    hint: str
    witness: Witness | None = None


def recommend(
    *,
    novelty: Novelty,
    readiness: RoundReadiness,
    readiness_of_low_run: Sequence[Readiness],
    rate: float,
    rounds: int,
    rounds_needed: int,
    rules: StopRules,
    standing: Standing | None = None,
) -> Recommendation:
    """Returns the recommendation after a round.

    Args:
        readiness_of_low_run: Readiness class of each consecutive low round that ends with it.
        rate: Its novelty rate, 0 to 1.
        rounds_needed: Rounds that it takes for novelty to be LOW.
        rules: Thresholds from which low novelty means stop.
        standing: Standing of the work; None after a round that is not low, and if no witness is asked for, as
            the matrix of the spec does.
    """
    low_run = len(readiness_of_low_run)
    stuck = low_run >= rules.stuck_rounds and Readiness.HIGH not in readiness_of_low_run
    ready = readiness.classification
    witness = None if standing is None else standing.witness
    if novelty is not Novelty.LOW:
        signal, rule = Signal.CONTINUE, f"4.1 {novelty}/{ready}"
    elif readiness.blocked:
        signal, rule = Signal.ESCALATE, "4.2(2) LOW and blocked"
    elif ready is Readiness.LOW:
        signal, rule = Signal.ESCALATE, "4.2(1) LOW/LOW"
    elif witness is not None:
        signal, rule = Signal.SHIP, f"4.1 LOW/{ready}, {witness.kind}"
    elif stuck:
        signal, rule = Signal.ESCALATE, f"4.2(3) LOW for {low_run} rounds, never ready"
    elif standing is None:
        signal, rule = Signal.SHIP, f"4.1 LOW/{ready}"
    elif standing.setback is not None:
        signal, rule = Signal.ESCALATE, f"LOW, {standing.setback.outcome}"
    elif standing.dry_rounds >= min(low_run, rounds_needed - 1):
        signal, rule = Signal.ESCALATE, "LOW, nothing to act on"
    else:
        signal, rule = Signal.CONTINUE, "LOW, thin"
    caveat = None
    if signal is Signal.SHIP and ready is not Readiness.HIGH:
        caveat = f"Readiness is only {ready}: {_shortfall(readiness)}. More rounds will not close that gap."
    too_short = rounds < rounds_needed
    parts = [_novelty_in_words(novelty, low_run, rate), _readiness_in_words(readiness)]
    if signal is Signal.ESCALATE and stuck and not readiness.blocked and ready is not Readiness.LOW:
        parts.append(f"Readiness was HIGH in none of the {low_run} low rounds.")
    if standing is not None:
        parts += _standing_in_words(standing)
    if too_short:
        parts.append(
            f"{_count(rounds, 'round')} so far, which is too short to judge; {rounds_needed} are needed."
        )
    hint = HINTS[signal]
    if signal is Signal.CONTINUE:
        hint = f"{_reason_to_go_on(novelty, ready, low_run, too_short=too_short)} {hint}"
    return Recommendation(
        signal=signal,
        rule=rule,
        novelty=novelty,
        readiness=ready,
        low_run=low_run,
        caveat=caveat,
        too_short=too_short,
        rationale=" ".join(parts),
        hint=f"{hint} {caveat}" if caveat else hint,
        witness=witness if signal is Signal.SHIP else None,
    )


_WITNESSES = {
    WitnessKind.FINISHED: "It is said to be finished",
    WitnessKind.CONSENSUS: "All agree",
}
_SETBACKS = {
    RunOutcome.FAILED: "It is said to have failed",
    RunOutcome.BLOCKED: "It is said to be blocked",
    RunOutcome.LIMIT: "A limit was reached",
    RunOutcome.HANDED_BACK: "A person is asked",
}


_LAST_WORDS = {
    RunOutcome.FINISHED: (
        "It is said to be finished. Run another round only if something is missing, and verify the result."
    ),
    RunOutcome.FAILED: "It is said to have failed. Change something before another round.",
    RunOutcome.BLOCKED: "It is said to be blocked. Settle that before another round.",
    RunOutcome.LIMIT: "A limit was reached. Raise it, or take the current result and verify it.",
    RunOutcome.HANDED_BACK: "A person is asked. Answer before another round.",
    RunOutcome.GOING_ON: "More is announced. Run another round; verify anything that you act on before then.",
}


def with_last_words(recommendation: Recommendation, reading: OutcomeReading | None) -> Recommendation:
    """Returns a CONTINUE whose hint fits how the work came out, as the last words say.

    Args:
        recommendation: The recommendation after the last round.
        reading: Its report; None if it reports nothing.
    """
    if recommendation.signal is not Signal.CONTINUE or reading is None or reading.outcome not in _LAST_WORDS:
        return recommendation
    return replace(recommendation, hint=f"{_LAST_WORDS[reading.outcome]} (\u201c{reading.text}\u201d)")


def _standing_in_words(standing: Standing) -> list[str]:
    if standing.witness is not None and standing.witness.kind is WitnessKind.ACTIONS:
        where = f"Round {standing.witness.round} says what to do next, and nothing is open"
        return [f"{where}: \u201c{standing.witness.text}\u201d"]
    if standing.witness is not None:
        return [f"{_WITNESSES[standing.witness.kind]}: \u201c{standing.witness.text}\u201d"]
    if standing.setback is not None:
        return [f"{_SETBACKS[standing.setback.outcome]}: \u201c{standing.setback.text}\u201d"]
    return ["Nothing says that it is finished."]


def _reason_to_go_on(novelty: Novelty, ready: Readiness, low_run: int, *, too_short: bool) -> str:
    if too_short:
        return "Too short to judge."
    if low_run:
        return "It may have run dry; one more round will tell."
    if novelty is Novelty.MEDIUM and ready is Readiness.HIGH:
        return "Nearly there; one more round to let it settle."
    return "Still productive."


def _novelty_in_words(novelty: Novelty, low_run: int, rate: float) -> str:
    if novelty is Novelty.LOW:
        return f"Novelty has been low for {low_run} consecutive rounds (rate {rate:.2f})."
    if low_run:
        return f"Novelty is low (rate {rate:.2f}) for {_count(low_run, 'round')}, which may be a pause."
    return f"Novelty is {novelty.lower()} (rate {rate:.2f})."


def _readiness_in_words(readiness: RoundReadiness) -> str:
    facts = (_actions_in_words(readiness), _questions_in_words(readiness), _blockers_in_words(readiness))
    grade = f"{readiness.classification.lower()} ({readiness.readiness:g})"
    return f"Action readiness is {grade}: {', '.join(facts)}."


def _actions_in_words(readiness: RoundReadiness) -> str:
    specific = sum(action.kind is ActionKind.SPECIFIC for action in readiness.actions)
    if not readiness.actions:
        return "no next actions"
    if not specific:
        return "only vague next actions"
    owned = " with an owner" if readiness.next_actions_score == 1.0 else ""
    return f"{_count(specific, 'specific next action')}{owned}"


def _questions_in_words(readiness: RoundReadiness) -> str:
    words = {
        1.0: "no open questions",
        0.7: "fewer open questions",
        0.4: "as many open questions as before",
        0.3: "open questions",
        0.1: "more open questions than before",
    }
    return words[readiness.open_questions_score]


def _blockers_in_words(readiness: RoundReadiness) -> str:
    if not readiness.blockers:
        return "no blockers"
    first = readiness.blockers[0]
    return f"blocked (\u201c{first.phrase}\u201d in \u201c{first.text.strip()}\u201d)"


def _shortfall(readiness: RoundReadiness) -> str:
    short = []
    if readiness.next_actions_score < 0.7:
        short.append(_actions_in_words(readiness))
    if readiness.open_questions_score < 1.0:
        short.append(_questions_in_words(readiness))
    return ", ".join(short) or f"{readiness.readiness:g}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
