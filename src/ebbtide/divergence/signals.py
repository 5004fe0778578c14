"""Signals of the loop monitor: facts, which `supervision.wording` turns into sentences."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ebbtide.profile.loop_kinds import LoopKind

#: Kinds that are about what was spent, not about what was called.
SPENDING = frozenset({LoopKind.SPEND_RATE, LoopKind.BUDGET_END, LoopKind.SPEND_WITHOUT_NEWS})


class Unit(StrEnum):
    """Unit of a measure."""

    USD = "usd"
    TOKENS = "tokens"
    CALLS = "calls"
    BITS = "bits"
    CHAINS = "chains"
    WORDS = "words"
    SECONDS = "s"


@dataclass(frozen=True, slots=True)
class Measurement:
    """Measurement of a rule, beside the threshold that it passed.

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
