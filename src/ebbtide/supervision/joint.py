"""High burn and flat progress: what neither engine says alone.

Each engine speaks when its own measure is full: so many calls without a new answer, so much money without
news, so many rounds without a new claim. A run can stay below all of them and still burn its budget for
nothing. So both measures are taken as shares of what their own engine needs, and the joint rule speaks where
both are far enough at the same time, over the same stretch: since the last thing that was new.
"""

from __future__ import annotations

from typing import NamedTuple

from ebbtide.divergence.detectors.spend import dollars
from ebbtide.divergence.watch import ChainWatch
from ebbtide.profile import Profile

_STALE = 32  # calls, where the profile has no such rule


class Burn(NamedTuple):
    """How far spending and flatness have come, and on what.

    Args:
        spending: Share of what spending alone needs to be told, 0 and more.
        flatness: Share of what a lack of progress alone needs, 0 and more.
        calls: Calls since anything new.
        low_rounds: Rounds since anything new.
        cost_usd: Spent since then.
        tokens: Tokens since then.
        measure: The measure of spending that is furthest, in words.
    """

    spending: float
    flatness: float
    calls: int
    low_rounds: int
    cost_usd: float
    tokens: int
    measure: str

    @property
    def share(self) -> float:
        """The lesser of the two: both have to be there."""
        return min(self.spending, self.flatness)


class Progress(NamedTuple):
    """What a chain had spent when a round last brought something new."""

    cost_usd: float = 0.0
    tokens: int = 0


def flatness(profile: Profile, calls: int, low_rounds: int) -> float:
    """How flat a stretch is: idle calls and rounds, each as a share of what its engine needs, added up."""
    return calls / (profile.divergence.stale or _STALE) + low_rounds / (profile.novelty.low_rounds + 1)


def stretch(watch: ChainWatch) -> int:
    """Calls since a new answer, or since a person or a long pause began things afresh."""
    answers, calls = watch.repetition.answers, watch.repetition.calls
    return calls - max(answers.news, min(answers.start - 1, calls))


def burn(
    profile: Profile,
    watch: ChainWatch,
    progress: Progress,
    low_rounds: int,
    *,
    left_usd: float | None,
    left_tokens: float | None,
) -> Burn:
    """How far spending and flatness have come.

    Args:
        profile: What each engine needs alone.
        watch: The chain.
        progress: What was spent when a round last brought something new.
        low_rounds: Rounds since then.
        left_usd: What is left of the budget; None where there is none.
        left_tokens: Likewise.
    """
    spend, rules = watch.spend, profile.divergence
    calls = stretch(watch)
    cost = max((spend.cost_usd or 0.0) - max(spend.cost_at_news, progress.cost_usd), 0.0)
    tokens = max((spend.tokens or 0) - max(spend.tokens_at_news, progress.tokens), 0)
    hour = spend.windows[-1]
    shares = [
        (_share(cost, rules.usd_without_news), f"{dollars(cost)} since anything new"),
        (_share(tokens, rules.tokens_without_news), f"{tokens:,} tokens since anything new"),
        (_share(hour.cost_usd, rules.usd_per_hour), f"{dollars(hour.cost_usd)} in the last hour"),
        # Were the stretch to last as long again as it has, what is left would be gone at 1.
        (_share(cost, left_usd), f"{dollars(cost)} since anything new, {dollars(left_usd or 0)} left"),
        (_share(tokens, left_tokens), f"{tokens:,} tokens since anything new, {left_tokens or 0:,.0f} left"),
    ]
    spending, measure = max(shares)
    return Burn(spending, flatness(profile, calls, low_rounds), calls, low_rounds, cost, tokens, measure)


def _share(value: float, full: float | None) -> float:
    if full is None or not value:
        return 0.0
    return value / full if full > 0 else 1.0
