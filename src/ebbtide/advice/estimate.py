"""Savings a month of sessions whose costs are known, with intervals by drawing sessions again."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple, TypeVar

from ebbtide.advice.kinds import AdviceKind, ReplayedSaving
from ebbtide.advice.session_record import SessionRecord, Work
from ebbtide.budget.tally import UNITS
from ebbtide.codec import Record

_T = TypeVar("_T")
_DRAWS: Final = 2_000
_SEED: Final = 7
_TAIL: Final = 0.025  # of each side: 95 %
MONTH_S: Final = 30 * 86_400.0  #: seconds
_LEAST_S: Final = 7 * 86_400.0  # a shorter time is taken for a week: nobody knows how a month goes on


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Record):
    """An amount a month, as an estimate.

    Args:
        usd: Dollars; None where no price is known.
        interval: Of 95 %; None likewise.
        tokens: Tokens a month that are not read, or are read at another price.
        share: Of what the sessions cost; None where that is not known.
        sessions: Sessions that it is made of.
        since: When the first of them began, in seconds since 1970.
    """

    _WIRE: ClassVar = "usd_per_month=usd interval_95=interval tokens_per_month=tokens share sessions since"

    usd: float | None
    interval: Interval | None
    tokens: int
    share: float | None
    sessions: int
    since: float


class PaidSession(NamedTuple):
    """A session as the comparison with later ones needs it.

    Args:
        saving: Units that the change saves.
        cost: Units that the session cost.
    """

    work: Work
    saving: int
    cost: int


def estimate(savings: Sequence[ReplayedSaving], records: Sequence[SessionRecord]) -> Estimate | None:
    """Returns what sessions would have saved, a month; None where they have no times.

    Args:
        savings: Of each session.
    """
    span, since = (
        span_s(records),
        min((item.began for item in records if item.began is not None), default=None),
    )
    if span is None or since is None:
        return None
    months = span / MONTH_S
    tokens = round(sum(saving.tokens for saving in savings) / months)
    costs = [saving.cost for saving in savings if saving.cost is not None]
    paid = sum(record.cost or 0 for record in records)
    if not costs or not paid:
        return Estimate(
            usd=None, interval=None, tokens=tokens, share=None, sessions=len(records), since=since
        )
    scale = 1 / UNITS / months
    low, high = bootstrap(costs, of=sum)
    return Estimate(
        usd=sum(costs) * scale,
        interval=Interval(low * scale, high * scale),
        tokens=tokens,
        share=sum(costs) / paid,
        sessions=len(costs),
        since=since,
    )


def span_s(records: Iterable[SessionRecord]) -> float | None:
    """Returns the seconds from the first to the last event of sessions, a week at least; None: unknown."""
    times = [(item.began, item.ended) for item in records]
    known = [(began, ended) for began, ended in times if began is not None and ended is not None]
    if not known:
        return None
    return max(max(ended for _, ended in known) - min(began for began, _ in known), _LEAST_S)


def paid_sessions(kind: AdviceKind, records: Iterable[SessionRecord]) -> tuple[PaidSession, ...]:
    """Returns the sessions whose cost and saving are known."""
    pairs = ((record, kind.replay(record).cost) for record in records)
    return tuple(
        PaidSession(record.work, saving, record.cost)
        for record, saving in pairs
        if saving is not None and record.cost is not None
    )
