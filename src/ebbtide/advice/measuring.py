"""Sessions after a change held against those before: its saving, or that nobody can know it yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from ebbtide.advice.estimate import (
    MONTH_S,
    Interval,
    PaidSession,
    bootstrap,
    estimate,
    paid_sessions,
    span_s,
)
from ebbtide.advice.kinds import AdviceKind
from ebbtide.advice.priced_advice import LEAST_SESSIONS
from ebbtide.advice.session_record import SessionRecord, Work
from ebbtide.budget.tally import UNITS
from ebbtide.codec import Record

NEEDED: Final = 10  #: sessions after a change that have their like before it; fewer say nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class RealisedSaving(Record):
    """The effect of a change.

    Args:
        sessions: Sessions after it that have their like before it: of the same project and kind of work.
        usd: Dollars a month that it saves; None while the sessions on a side are too few.
        interval: Of 95 %; None likewise.
        cost_ratio: Cost of a session after it, by that of its like before: all that changed is in it, also
            what the agent does to get at what was cut. None likewise.
        cost_interval: Of 95 %; None likewise.
    """

    _WIRE: ClassVar = """
        sessions sessions_needed=_NEEDED usd_per_month=usd interval_95=interval session_cost_ratio=cost_ratio
        session_cost_ratio_95=cost_interval
    """
    _NEEDED: ClassVar = NEEDED

    sessions: int
    usd: float | None = None
    interval: Interval | None = None
    cost_ratio: float | None = None
    cost_interval: Interval | None = None


def measure(
    kind: AdviceKind, before: Sequence[PaidSession], records: Sequence[SessionRecord]
) -> RealisedSaving:
    """Returns the effect of a change.

    A kind whose effect stands in the record is replayed the other way round: the cost of the sessions after
    it without it. Else, in each kind of work, the share of the cost that it was to save is held against the
    share that is still there, at the cost of the sessions after it.

    Args:
        before: The sessions of the project before it.
    """
    groups = _matched(before, paid_sessions(kind, records))
    sessions = sum(map(len, groups[1::2]))
    span = span_s(records)
    is_enough = sessions >= NEEDED and sum(map(len, groups[::2])) >= LEAST_SESSIONS
    if not is_enough or span is None or not all(map(_cost, groups)):
        return RealisedSaving(sessions=sessions)
    if kind.realised is not None:
        shown = estimate([kind.realised(record) for record in records], records)
        usd, interval = (None, None) if shown is None else (shown.usd, shown.interval)
    else:
        scale = MONTH_S / span / UNITS
        usd = _spared(*groups) * scale
        low, high = bootstrap(*groups, of=_spared)
        interval = Interval(low * scale, high * scale)
    return RealisedSaving(
        sessions=sessions,
        usd=usd,
        interval=interval,
        cost_ratio=_cost_ratio(*groups),
        cost_interval=bootstrap(*groups, of=_cost_ratio),
    )


def _matched(before: Sequence[PaidSession], after: Sequence[PaidSession]) -> list[list[PaidSession]]:
    """Returns, for each kind of work that is on both sides, the sessions before and those after."""
    groups = []
    for work in Work:
        pair = [[session for session in side if session.work is work] for side in (before, after)]
        groups += pair if all(pair) else []
    return groups


def _cost(sessions: Sequence[PaidSession]) -> int:
    return sum(session.cost for session in sessions)


def _share(sessions: Sequence[PaidSession]) -> float:
    return sum(session.saving for session in sessions) / max(_cost(sessions), 1)


def _spared(*groups: Sequence[PaidSession]) -> float:
    pairs = zip(groups[::2], groups[1::2], strict=True)
    return sum((_share(before) - _share(after)) * _cost(after) for before, after in pairs)


def _cost_ratio(*groups: Sequence[PaidSession]) -> float:
    pairs = zip(groups[::2], groups[1::2], strict=True)
    like = sum(_cost(before) / len(before) * len(after) for before, after in pairs)
    return sum(map(_cost, groups[1::2])) / max(like, 1.0)
