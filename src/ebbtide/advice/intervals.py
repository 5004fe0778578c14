"""Intervals of sums and rates over sessions, by drawing sessions again with replacement."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeVar

_T = TypeVar("_T")
_DRAWS: Final = 2_000
_SEED: Final = 7
_TAIL: Final = 0.025  # of each side: 95 %


class Interval(NamedTuple):
    """An interval of 95 %."""

    low: float
    high: float


def bootstrap(*groups: Sequence[_T], of: Callable[..., float]) -> Interval:
    """Returns the percentile interval of a statistic of one or more groups of sessions.

    Args:
        *groups: Sessions; each group is drawn by itself.
        of: The statistic of as many lists.

    >>> bootstrap([1.0, 1.0, 1.0], of=sum)
    Interval(low=3.0, high=3.0)
    """
    chance = random.Random(_SEED)  # noqa: S311 - the same sessions give the same interval
    values = sorted(of(*(chance.choices(group, k=len(group)) for group in groups)) for _ in range(_DRAWS))
    return Interval(values[int(_TAIL * _DRAWS)], values[int((1 - _TAIL) * _DRAWS) - 1])
