"""The registry of runs for asyncio: what has to be read from a store does not hold up the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Self

from ebbtide.budget.limits import Limits
from ebbtide.events.event import Event, ToolCall
from ebbtide.events.transcript import Round
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.runs.runs import Runs
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict


class AsyncRuns:
    """`Runs`, whose verbs are awaited.

    A run at hand is asked at once, which takes some microseconds. One that is made, read from the store or
    written at its end is so in a thread, and so is every question where there are budgets.

    Args:
        make: As in `Runs`; it is called in a thread.
        settings: The other arguments of `Runs`.

    Attributes:
        runs: The registry that is asked.
    """

    def __init__(self, make: Callable[[str], Supervisor] | None = None, **settings: Any) -> None:
        self.runs = Runs(make, **settings)

    async def get(self, run_id: str) -> Supervisor:
        """As `Runs.get`."""
        return await asyncio.to_thread(self.runs.get, run_id)

    async def record(self, run_id: str, event: Event | Round) -> Verdict:
        """As `Runs.record`."""
        if self.runs.has_budgets:
            return await asyncio.to_thread(self.runs.record, run_id, event)
        await self._fetch(run_id)
        return self.runs.record(run_id, event)

    async def before_model(
        self, run_id: str, *, agent: str | None = None, now: float | None = None
    ) -> Advice:
        """As `Runs.before_model`."""
        if self.runs.has_budgets:
            return await asyncio.to_thread(self.runs.before_model, run_id, agent=agent, now=now)
        await self._fetch(run_id)
        return self.runs.before_model(run_id, agent=agent, now=now)

    async def before_tool(self, run_id: str, call: ToolCall) -> Advice:
        """As `Runs.before_tool`."""
        await self._fetch(run_id)
        return self.runs.before_tool(run_id, call)

    async def acknowledge(self, run_id: str, *, agent: str | None = None) -> None:
        """As `Runs.acknowledge`."""
        await asyncio.to_thread(self.runs.acknowledge, run_id, agent=agent)

    async def extend(self, run_id: str, turns: int, *, limits: Limits | None = None) -> None:
        """As `Runs.extend`."""
        await self._fetch(run_id)
        self.runs.extend(run_id, turns, limits=limits)

    async def end(self, run_id: str) -> RunStanding:
        """As `Runs.end`."""
        return await asyncio.to_thread(self.runs.end, run_id)

    async def forget(self, run_id: str) -> None:
        """As `Runs.forget`."""
        await asyncio.to_thread(self.runs.forget, run_id)

    async def standing(self) -> list[RunStanding]:
        """As `Runs.standing`."""
        return await asyncio.to_thread(self.runs.standing)

    async def close(self) -> None:
        """As `Runs.close`."""
        await asyncio.to_thread(self.runs.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _fetch(self, run_id: str) -> None:
        if not self.runs.is_at_hand(run_id):
            await asyncio.to_thread(self.runs.get, run_id)
