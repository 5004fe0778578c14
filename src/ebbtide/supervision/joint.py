"""High burn and flat progress: what neither engine reports alone.

Each engine speaks when its own measure is full: so many calls without a new answer, so much money without
news, so many rounds without a new claim. A run can stay below all of them and still burn its budget for
nothing. So both measures are taken as shares of what their own engine needs, and the joint rule speaks where
both are far enough at the same time, over the same stretch: since the last thing that was new.
"""

from __future__ import annotations

from typing import NamedTuple

from ebbtide.budget.tally import UNITS
from ebbtide.divergence.detectors.spend import CACHE_DISCOUNT, SpentSoFar
from ebbtide.divergence.loop_state import LoopState
from ebbtide.divergence.signals import Measurement, Unit
from ebbtide.profile import Profile
from ebbtide.supervision.facts import BurnFacts

_STALE = 32  # calls, where the profile has no such rule


class Burn(NamedTuple):
    """How far spending and flatness have come, and on what.

    Args:
        spending: Share of what spending alone needs to be reported, 0 and more.
        flatness: Share of what a lack of progress alone needs, 0 and more.
        facts: Calls and rounds since anything new, and the measure of spending that has come furthest.
    """

    spending: float
    flatness: float
    facts: BurnFacts

    @property
    def share(self) -> float:
        """The lesser of the two: both have to be there."""
        return min(self.spending, self.flatness)


def flatness(profile: Profile, calls: int, low_rounds: int) -> float:
    """How flat a stretch is: idle calls and rounds, each as a share of what its engine needs, added up."""
    return calls / (profile.divergence.stale or _STALE) + low_rounds / (profile.novelty.low_rounds + 1)


def calls_without_news(loops: LoopState) -> int:
    """Calls since a new answer, or since a person or a long pause began things afresh."""
    answers, calls = loops.repetition.answers, loops.repetition.calls
    return calls - max(answers.latest_news, min(answers.start - 1, calls))


def burn(
    profile: Profile,
    loops: LoopState,
    progress: SpentSoFar,
    low_rounds: int,
    *,
    left_cost: float | None,
    left_tokens: float | None,
) -> Burn:
    """How far spending and flatness have come.

    Args:
        profile: What each engine needs alone.
        loops: The chain.
        progress: What was spent when a round last brought something new.
        low_rounds: Rounds since then.
        left_cost: What is left of the budget, in units of money; None where there is none.
        left_tokens: Likewise.
    """
    spend, rules = loops.spend, profile.divergence
    calls = calls_without_news(loops)
    spent, before = spend.spent, max(spend.spent_at_news, progress)  # counts that only grow, together
    cost = (spent.cost - before.cost) / UNITS
    tokens = spent.tokens - before.tokens
    unpriced = (spent.unpriced - before.unpriced) // CACHE_DISCOUNT
    hour = spend.windows[-1]
    left_usd = None if left_cost is None else left_cost / UNITS
    measures = (
        # Were the stretch to last as long again as it has, what is left would be gone at 1.
        (Measurement(Unit.USD, cost, rules.usd_without_news or 0), rules.usd_without_news, None),
        (Measurement(Unit.TOKENS, unpriced, rules.tokens_without_news or 0), rules.tokens_without_news, None),
        (
            Measurement(Unit.USD, hour.cost / UNITS, rules.usd_per_hour or 0, hour.span_s),
            rules.usd_per_hour,
            None,
        ),
        (Measurement(Unit.USD, cost, left_usd or 0), left_usd, left_usd),
        (Measurement(Unit.TOKENS, tokens, left_tokens or 0), left_tokens, left_tokens),
    )
    spending, measure, remaining = max(
        ((_share(measure.value, full), measure, remaining) for measure, full, remaining in measures),
        key=lambda item: item[0],
    )
    facts = BurnFacts(calls=calls, rounds=low_rounds, measure=measure, remaining=remaining)
    return Burn(spending, flatness(profile, calls, low_rounds), facts)


def _share(value: float, full: float | None) -> float:
    if full is None or not value:
        return 0.0
    return value / full if full > 0 else 1.0
