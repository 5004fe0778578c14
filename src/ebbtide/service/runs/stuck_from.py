"""From where on a run is stuck: what it took since has brought nothing new."""

from __future__ import annotations

from typing import NamedTuple

from ebbtide.divergence.signals import Unit
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.supervision.facts import BurnFacts, LoopFacts
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.verdict import Verdict


class StuckFrom(NamedTuple):
    """The begin of what holds a run up."""

    chain_id: str = ""
    first_event: int | None = None  # of that chain, from 1; None where it is not known
    cost_usd: float | None = None  # of the run before it, likewise


def stuck_from(verdict: Verdict, cost_usd: float | None) -> StuckFrom | None:
    """The begin of what holds a run up; None where it may go on, or where a person has ended it.

    Args:
        cost_usd: What the run has cost so far; None where that is not known.
    """
    if verdict.rank < Action.ESCALATE.rank or verdict.cause is Cause.PERSON:
        return None
    match verdict.facts:
        case LoopFacts(signal=signal):
            measure = signal.measure
            is_money = signal.kind is LoopKind.SPEND_WITHOUT_NEWS and measure and measure.quantity is Unit.USD
            since_usd = measure.value if measure and is_money else signal.cost_usd
            return StuckFrom(signal.chain_id, signal.first_event, _before(cost_usd, since_usd))
        case BurnFacts(measure=measure) if measure.quantity is Unit.USD:
            return StuckFrom(cost_usd=_before(cost_usd, measure.value))
    return StuckFrom()


def _before(cost_usd: float | None, since_usd: float | None) -> float | None:
    return None if cost_usd is None or since_usd is None else max(0.0, cost_usd - since_usd)
