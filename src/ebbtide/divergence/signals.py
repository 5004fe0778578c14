"""What the loop monitor reports: facts, which `supervision.wording` turns into sentences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LoopKind(StrEnum):
    """What was found."""

    REPEAT = "repeat"  #: one call with one answer, again and again
    CYCLE = "cycle"  #: several calls with their answers, in turn
    NO_PROGRESS = "no_progress"  #: one call with one answer, others between
    FAILING_CALL = "failing_call"  #: one call fails, in whatever words
    SAME_ERROR = "same_error"  #: one tool fails with errors that it gave before, whatever the arguments
    FAILING_TOOL = "failing_tool"  #: one tool fails, whatever the arguments and the error
    SAME_ANSWER = "same_answer"  #: one tool says one thing, whatever it is asked
    NEAR_DUPLICATE = "near_duplicate"  #: calls that barely differ, and one answer
    GROWING_CALL = "growing_call"  #: each call is the one before and something more
    SWEEP = "sweep"  #: pages read to the end, and again from the start
    COVERED_RANGE = "covered_range"  #: ranges that were read already, cut in other ways
    RECURRENCE = "recurrence"  #: ever new attempts that end alike: the same failure, or nothing found
    STAGNATION = "stagnation"  #: answers that hold no new word, whatever is asked
    UNSEEN_CHANGES = "unseen_changes"  #: a thing is changed again and again, and looks as before
    UNDONE_CHANGES = "undone_changes"  #: a change that was made, undone and made again
    WAITING = "waiting"  #: the same look again and again at something that takes its time
    MONOTONY = "monotony"  #: hardly anything but known calls with known answers
    HANDOFF_CYCLE = "handoff_cycle"  #: agents hand the work round in a circle
    ACROSS_CHAINS = "across_chains"  #: several chains of a session do the same
    MONOLOGUE = "monologue"  #: the model says the same again
    CHANTING = "chanting"  #: a text that ends in copies of itself
    KNOWN_GROUND = "known_ground"  #: actions that the agent describes, and that lead nowhere new
    REPEATED_ORDER = "repeated_order"  #: nearly the same order to an agent, and nothing new comes of it
    INJECTION = "injection"  #: the harness puts the same words in again, and nothing is done between
    REFUSALS = "refusals"  #: a service that has too much to do is asked again at once
    NO_ANSWERS = "no_answers"  #: the service of the model brings errors in place of answers
    IDLE_ANSWERS = "idle_answers"  #: a person asks to go on, and only hears that it begins
    HANDED_DOWN = "handed_down"  #: an agent starts others with the very order that it was given
    DEEP_TREE = "deep_tree"  #: agents start agents, many levels deep
    SPAWNED_AGAIN = "spawned_again"  #: agents are started with orders that were given before
    MISSED_WAKE_UP = "missed_wake_up"  #: an agent lay at rest until a time, and nothing woke it
    CONDENSATION = "condensation"  #: the context is condensed again and again
    SPEND_RATE = "spend_rate"  #: money or tokens are spent too fast
    BUDGET_END = "budget_end"  #: at this rate the budget ends soon
    SPEND_WITHOUT_NEWS = "spend_without_news"  #: money is spent and nothing new comes


#: Kinds that are about what was spent, not about what was called.
SPENDING = frozenset({LoopKind.SPEND_RATE, LoopKind.BUDGET_END, LoopKind.SPEND_WITHOUT_NEWS})


class Unit(StrEnum):
    """What a measure counts."""

    USD = "usd"
    TOKENS = "tokens"
    CALLS = "calls"
    BITS = "bits"
    CHAINS = "chains"
    WORDS = "words"
    SECONDS = "s"


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a rule measured, beside the threshold that it passed.

    Args:
        quantity: What was measured.
        value: How much of it.
        limit: The threshold.
        span_s: Seconds over which it was measured; of a budget that ends, the seconds that are left of it.
    """

    quantity: Unit
    value: float
    limit: float
    span_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSignal:
    """A loop, or spending, that is reported for the first time, or went on after it had been.

    Args:
        id: The same for the same loop in the same chain, also in another process.
        kind: What was found.
        report: Number of this report of the loop, from 1.
        chain_id: The chain.
        tools: Names of the calls of one turn, in order.
        period: Calls in one turn; None where there are no turns.
        copies: Turns so far, or what else the rule counts.
        threshold: Count from which the rule speaks.
        calls: Calls that belong to it.
        relapses: Times that it had ended and come back.
        earlier_copies: Of the stretch before, where it came back.
        earlier_last: Number of the last event of that in the chain.
        first_event: Number of its first event in the chain.
        last_event: Number of its last event so far.
        cost_usd: Spent between the two; None where no cost is known.
        tokens: Tokens of all classes between the two; None where none are known.
        measure: What was measured, where the rule measures more than it counts.
        is_proof: Whether the same call gave the same answer with nothing in between that may have changed it;
            else it is a suspicion.
        is_stated: Whether its calls were read in what agents state, and not recorded.
        latest_call: The latest call, cut.
    """

    id: str
    kind: LoopKind
    report: int
    chain_id: str
    tools: tuple[str, ...] = ()
    period: int | None = None
    copies: int
    threshold: float
    calls: int
    relapses: int = 0
    earlier_copies: int = 0
    earlier_last: int = 0
    first_event: int
    last_event: int
    cost_usd: float | None = None
    tokens: int | None = None
    measure: Measurement | None = None
    is_proof: bool = True
    is_stated: bool = False
    latest_call: str = ""
