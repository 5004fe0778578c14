"""The registry of runs for asyncio: what has to be read from a store does not hold up the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from ebbtide.errors import expect
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.runs.runs import Runs

_P = ParamSpec("_P")
_T = TypeVar("_T")


def _awaited(
    verb: Callable[Concatenate[Runs, _P], _T],
) -> Callable[Concatenate[AsyncRuns, _P], Coroutine[Any, Any, _T]]:
    """Returns a verb about one run that is asked here, or in a thread if the answer may wait for a store."""

    @wraps(verb)
    async def ask(self: AsyncRuns, /, *args: _P.args, **options: _P.kwargs) -> _T:
        runs = self.runs
        own: Callable[_P, _T] = getattr(runs, verb.__name__)
        run_id = args[0] if args else options.get("run_id")
        if runs.is_at_hand(str(run_id)) and not runs.has_budgets:
            return own(*args, **options)
        return await asyncio.to_thread(own, *args, **options)

    return ask


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

    get = _awaited(Runs.get)
    record = _awaited(Runs.record)
    before_model = _awaited(Runs.before_model)
    before_tool = _awaited(Runs.before_tool)
    before_end = _awaited(Runs.before_end)
    acknowledge = _awaited(Runs.acknowledge)
    extend = _awaited(Runs.extend)

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
