"""Steps of the ladder: where a run first came to each, and what it took after that."""

from __future__ import annotations

from typing import NamedTuple

from ebbtide.budget.tally import Tally, usd
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.run_summary import LadderStep
from ebbtide.supervision.verdict import Verdict


class _Taken(NamedTuple):
    """Amounts that a run had taken."""

    events: int
    calls: int
    tokens: int | None
    cost: int | None


class LadderSteps:
    """The steps of one run, while it goes on.

    Args:
        tally: What the run takes.

    Attributes:
        rank: Of the strictest action so far.
    """

    __slots__ = ("_steps", "_tally", "rank")

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._steps: list[tuple[Verdict, _Taken]] = []
        self.rank = Action.ALLOW.rank

    def add(self, verdict: Verdict) -> None:
        """Take a verdict whose rank is above `rank`."""
        self.rank = verdict.rank
        self._steps.append((verdict, self._taken()))

    def listed(self) -> tuple[LadderStep, ...]:
        """The steps, with what came after each until now."""
        end = self._taken()
        return tuple(
            LadderStep(
                action=verdict.action,
                kind=verdict.kind,
                event=before.events,
                events_after=end.events - before.events,
                calls_after=end.calls - before.calls,
                tokens_after=_less(end.tokens, before.tokens),
                usd_after=usd(_less(end.cost, before.cost)),
            )
            for verdict, before in self._steps
        )

    def _taken(self) -> _Taken:
        tally = self._tally
        return _Taken(tally.events, tally.tool_calls + tally.model_calls, tally.tokens, tally.cost)


def _less(end: int | None, before: int | None) -> int | None:
    """Returns the amount that came after; None where it is not known.

    A total that is stated only then does not say how much of it came after.
    """
    return None if end is None or before is None else end - before
