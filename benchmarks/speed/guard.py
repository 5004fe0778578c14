"""What it costs to put a call through an execution context.

    python -m benchmarks.speed.guard

Prints the microseconds of a wrapped call that does nothing: with limits of every kind, inside another scope,
with a pipeline, and with a supervisor that only observes; and those of a reservation alone. Calls are made
in short pieces, of which the median and the least are printed: the machine has other work.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from benchmarks.measure import setup, write_result
from ebbtide.budget.limits import Limits
from ebbtide.budget.scope import Scope
from ebbtide.guard.execution_context import ExecutionContext
from ebbtide.supervision.supervisor import Supervisor

PIECES = 500
PIECE = 200
MOST = 10**9
LIMITS = Limits(
    cost_usd=1e9, tokens=MOST, steps=MOST, llm_calls=MOST, tool_calls=MOST, retries=MOST, wall_s=1e9
)


class Sink:
    """A pipeline that drops everything."""

    def emit_safety_event(self, event: dict[str, Any]) -> None:
        """Take one event."""


def look(place: str) -> str:
    """A tool that takes no time."""
    return place


async def look_later(place: str) -> str:
    """The same, awaited."""
    return place


def timed(call: Callable[[str], Any]) -> dict[str, float]:
    """Microseconds a call: median and least of the pieces."""
    pieces = []
    for piece in range(PIECES):
        places = [f"place {piece} {number}" for number in range(PIECE)]
        start = time.perf_counter()
        for place in places:
            call(place)
        pieces.append((time.perf_counter() - start) / PIECE * 1e6)
    return _costs(pieces)


async def timed_awaits(call: Callable[[str], Awaitable[str]]) -> dict[str, float]:
    """The same for what is awaited."""
    pieces = []
    for piece in range(PIECES):
        places = [f"place {piece} {number}" for number in range(PIECE)]
        start = time.perf_counter()
        for place in places:
            await call(place)
        pieces.append((time.perf_counter() - start) / PIECE * 1e6)
    return _costs(pieces)


def _costs(pieces: list[float]) -> dict[str, float]:
    return {"median_us": round(statistics.median(pieces), 3), "least_us": round(min(pieces), 3)}


def wrapped_calls() -> Iterator[tuple[str, dict[str, float]]]:
    """Each way to put a call through, and what a call of it takes."""
    yield "the call alone", timed(look)
    yield "no limits", timed(ExecutionContext().wrap_tool_call(look))
    yield "limits of every kind", timed(ExecutionContext(LIMITS).wrap_tool_call(look))
    with Scope(LIMITS), ExecutionContext(LIMITS, pipeline=Sink()) as run:
        yield "limits, another scope, a pipeline", timed(run.wrap_tool_call(look))
    watched = ExecutionContext(LIMITS, pipeline=Sink(), supervisor=Supervisor(shadow=True))
    yield "limits, a pipeline, the supervisor", timed(watched.wrap_tool_call(look))
    yield "awaited, the call alone", asyncio.run(timed_awaits(look_later))
    later = ExecutionContext(LIMITS).wrap_tool_call(look_later)
    yield "awaited, limits of every kind", asyncio.run(timed_awaits(later))
    scope = Scope(LIMITS)
    yield "a reservation alone", timed(lambda _: scope.reserve("tool").settle(0.0, 0))


def main() -> None:
    """Run everything and write the result."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    rows = []
    for name, cost in wrapped_calls():
        rows.append({"case": name, **cost})
        print(f"{name:<40} median {cost['median_us']:7.2f}  least {cost['least_us']:7.2f} us", flush=True)
    write_result("speed-guard", {"setup": setup(), "calls": rows})


if __name__ == "__main__":
    main()
