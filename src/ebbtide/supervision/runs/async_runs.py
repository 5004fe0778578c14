"""The registry of runs for asyncio: what has to be read from a store does not hold up the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Self, TypeVar

from ebbtide.budget.limits import Limits
from ebbtide.errors import expect
from ebbtide.events.event import Event, ToolCall
from ebbtide.events.transcript import Round
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.runs.runs import Runs
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

_P = ParamSpec("_P")
_T = TypeVar("_T")


class AsyncRuns:
    """A registry whose verbs are awaited.

    A run at hand is asked at once, which takes some microseconds. One that is made, read from the store or
    written at its end is so in a thread, and so is every question where there are budgets.

    Args:
        runs: The registry that is asked; None makes one without limits.

    Attributes:
        runs: The registry that is asked.

    >>> async def ask():
    ...     async with AsyncRuns(Runs()) as runs:
    ...         return await runs.before_model("run 1")
    >>> asyncio.run(ask()).refusal is None
    True
    """

    def __init__(self, runs: Runs | None = None) -> None:
        expect("runs", runs, Runs, optional=True)
        self.runs = Runs() if runs is None else runs

    async def get(self, run_id: str) -> Supervisor:
        """Awaits `Runs.get`."""
        return await self._ask(self.runs.get, run_id)

    async def record(self, run_id: str, event: Event | Round) -> Verdict:
        """Awaits `Runs.record`."""
        return await self._ask(self.runs.record, run_id, event)

    async def before_model(
        self, run_id: str, *, agent: str | None = None, now: float | None = None
    ) -> Advice:
        """Awaits `Runs.before_model`."""
        return await self._ask(self.runs.before_model, run_id, agent=agent, now=now)

    async def before_tool(self, run_id: str, call: ToolCall) -> Advice:
        """Awaits `Runs.before_tool`."""
        return await self._ask(self.runs.before_tool, run_id, call)

    async def before_end(self, run_id: str, text: str) -> str | None:
        """Awaits `Runs.before_end`."""
        return await self._ask(self.runs.before_end, run_id, text)

    async def acknowledge(self, run_id: str, *, agent: str | None = None) -> None:
        """Awaits `Runs.acknowledge`."""
        await self._ask(self.runs.acknowledge, run_id, agent=agent)

    async def extend(self, run_id: str, turns: int, *, limits: Limits | None = None) -> None:
        """Awaits `Runs.extend`."""
        await self._ask(self.runs.extend, run_id, turns, limits=limits)

    async def end(self, run_id: str) -> RunStanding:
        """Awaits `Runs.end`."""
        return await asyncio.to_thread(self.runs.end, run_id)

    async def forget(self, run_id: str) -> None:
        """Awaits `Runs.forget`."""
        await asyncio.to_thread(self.runs.forget, run_id)

    async def standing(self) -> list[RunStanding]:
        """Awaits `Runs.standing`."""
        return await asyncio.to_thread(self.runs.standing)

    async def close(self) -> None:
        """Awaits `Runs.close`."""
        await asyncio.to_thread(self.runs.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _ask(
        self, verb: Callable[Concatenate[str, _P], _T], run_id: str, *args: _P.args, **options: _P.kwargs
    ) -> _T:
        """Asks about one run: here, or in a thread where the answer may have to wait for a store."""
        if self.runs.is_at_hand(run_id) and not self.runs.has_budgets:
            return verb(run_id, *args, **options)
        return await asyncio.to_thread(verb, run_id, *args, **options)
