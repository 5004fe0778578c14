"""Tallies as what a run, or a part of it, took; what is known of one part only is known of the sum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from ebbtide.budget.tally import Tally, usd
from ebbtide.supervision.summary.run_summary import Spending, Tokens

_N = TypeVar("_N", int, float)


def plus(values: Iterable[_N | None]) -> _N | None:
    """The sum of what is known; None where nothing is.

    >>> plus([1, None, 2]), plus([None])
    (3, None)
    """
    numbers = [value for value in values if value is not None]
    return sum(numbers[1:], start=numbers[0]) if numbers else None


def spending_of(tallies: Iterable[Tally]) -> Spending:
    """Returns the sum of tallies of different chains, or of different times."""
    tallies = tuple(tallies)
    times = [(t.first_ts, t.latest_ts) for t in tallies if t.first_ts is not None and t.latest_ts is not None]
    models = dict.fromkeys(model for tally in tallies for model in tally.unpriced_models)
    return Spending(
        events=sum(tally.events for tally in tallies),
        tool_calls=sum(tally.tool_calls for tally in tallies),
        llm_calls=sum(tally.model_calls for tally in tallies),
        tokens=Tokens(*(plus(tally.by_class[place] for tally in tallies) for place in range(4))),
        cost_usd=usd(plus(tally.cost for tally in tallies)),
        unpriced=sum(tally.unpriced_calls for tally in tallies),
        unpriced_models=tuple(models),
        seconds=max(last for _, last in times) - min(first for first, _ in times) if times else None,
    )


def since(whole: Spending, part: Spending) -> Spending:
    """Returns what was taken after `part` of it."""
    return Spending(
        events=whole.events - part.events,
        tool_calls=whole.tool_calls - part.tool_calls,
        llm_calls=whole.llm_calls - part.llm_calls,
        tokens=Tokens(*map(_less, whole.tokens, part.tokens)),
        cost_usd=_less(whole.cost_usd, part.cost_usd),
        unpriced=whole.unpriced - part.unpriced,
        unpriced_models=whole.unpriced_models,
        seconds=_less(whole.seconds, part.seconds),
    )


def together(parts: Iterable[Spending]) -> Spending:
    """Returns the sum of what runs, or parts of a run, that do not overlap took."""
    parts = tuple(parts)
    return Spending(
        events=sum(part.events for part in parts),
        tool_calls=sum(part.tool_calls for part in parts),
        llm_calls=sum(part.llm_calls for part in parts),
        tokens=Tokens(*map(plus, zip(*(part.tokens for part in parts), strict=True))),
        cost_usd=plus(part.cost_usd for part in parts),
        unpriced=sum(part.unpriced for part in parts),
        unpriced_models=tuple(dict.fromkeys(model for part in parts for model in part.unpriced_models)),
        unrecorded=sum(part.unrecorded for part in parts),
        understated=any(part.understated for part in parts),
        seconds=plus(part.seconds for part in parts),
    )


def _less(whole: _N | None, part: _N | None) -> _N | None:
    return whole if whole is None or part is None else whole - part
