"""Whether a limit of cost holds, by the books of the provider.

    python -m benchmarks.quality.overspending

64 threads, or 64 tasks, share one dollar, until it is refused them. A provider bills each call 0.5 to 3
cents, and counts what it billed. Calls are plain, made in contexts inside the context, streams that are left
early, calls that time out after they were billed, or calls of which 30 % are cancelled after they were
billed. Each case is run with the most that a call can take (`at_most`) and without it, each time with another
seed.

The rule is that of docs/limits.md: with a true `at_most` no more than the limit is billed. Without one, no
more than the limit and, for every call under way at once and every call that ended and never said what it
took, the difference between the most and the least that a call took.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchmarks.measure import setup, write_result
from ebbtide.budget.limits import Limits
from ebbtide.errors import RunHalted
from ebbtide.events.usage import Usage
from ebbtide.guard.execution_context import ExecutionContext

LIMIT = 1.00
WORKERS = 64
CALLS = 12  # a worker makes at most
LEAST, MOST = 0.005, 0.03
CASES = ("plain", "nested contexts", "streams left early", "time-outs", "30 % cancelled", "everything")
_PIECES = 5  # of a stream


@dataclass
class Provider:
    """Bills calls, and keeps its books.

    Args:
        seed: Of all that is random.

    Attributes:
        billed: Dollars.
        under_way: Calls that are being answered.
        most_under_way: At once.
        unsettled: Calls that were billed, and whose caller could not read for how much.
    """

    seed: int
    billed: float = 0.0
    under_way: int = 0
    most_under_way: int = 0
    unsettled: int = 0
    random: random.Random = field(init=False)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def price(self) -> float:
        """What the next call costs."""
        with self.lock:
            return self.random.uniform(LEAST, MOST)

    def chance(self, share: float) -> bool:
        """Whether something happens."""
        with self.lock:
            return self.random.random() < share

    def begin(self) -> None:
        """Take a call."""
        with self.lock:
            self.under_way += 1
            self.most_under_way = max(self.most_under_way, self.under_way)

    def end(self) -> None:
        """Be done with it."""
        with self.lock:
            self.under_way -= 1

    def bill(self, cost: float, *, is_read: bool = True) -> float:
        """Bill a call."""
        with self.lock:
            self.billed += cost
            self.unsettled += not is_read
        return cost

    def fails(self, case: str) -> BaseException | None:
        """How a call ends after it was billed."""
        if case in ("time-outs", "everything") and self.chance(0.3):
            return TimeoutError()
        if case in ("30 % cancelled", "everything") and self.chance(0.3):
            return asyncio.CancelledError()
        return None

    def answer(self, case: str) -> float:
        """A call that waits in its thread."""
        self.begin()
        try:
            if self.chance(0.3):
                time.sleep(0.0002)
            error = self.fails(case)
            cost = self.bill(self.price(), is_read=error is None)
            if error is not None:
                raise error
            return cost
        finally:
            self.end()

    async def answer_later(self, case: str) -> float:
        """A call that is awaited."""
        self.begin()
        try:
            for _ in range(3):
                if self.chance(0.5):
                    await asyncio.sleep(0)
            error = self.fails(case)
            cost = self.bill(self.price(), is_read=error is None)
            if error is not None:
                raise error
            return cost
        finally:
            self.end()

    def stream(self, *, tells_at_end: bool) -> Iterator[float | None]:
        """Says with each piece what it has cost so far; or bills all at once, and says so at its end."""
        self.begin()
        try:
            cost = self.price()
            if tells_at_end:
                self.bill(cost)
            for piece in range(1, _PIECES + 1):
                if not tells_at_end:
                    self.bill(cost / _PIECES)
                    yield cost * piece / _PIECES
                else:
                    yield cost if piece == _PIECES else None
        finally:
            self.end()


def usage_of(cost: float | None) -> Usage | None:
    """The meter."""
    return None if cost is None else Usage(cost_usd=cost)


class Worker:
    """One of many that share the limit."""

    def __init__(self, run: ExecutionContext, provider: Provider, case: str, *, states_most: bool) -> None:
        self.provider = provider
        self.case = case
        if case == "nested contexts" or (case == "everything" and provider.chance(0.3)):
            run = ExecutionContext(Limits(cost_usd=LIMIT / 4), name="part")
        options: Any = {"usage": usage_of, "at_most": Usage(cost_usd=MOST) if states_most else None}
        self.ask = run.wrap_llm_call(provider.answer, **options)
        self.ask_later = run.wrap_llm_call(provider.answer_later, **options)
        self.stream = run.wrap_llm_call(provider.stream, **options)

    def streams(self) -> bool:
        """Whether the next call is a stream."""
        share = {"streams left early": 1.0, "everything": 0.3}.get(self.case, 0.0)
        return self.provider.chance(share)

    def read(self) -> None:
        """Read a part of a stream, and leave."""
        tells_at_end = self.provider.chance(0.5)
        items = self.stream(tells_at_end=tells_at_end)
        count = 1 + int(self.provider.chance(0.5)) + int(self.provider.chance(0.5))
        try:
            for _ in itertools.islice(items, count):
                pass
        finally:
            items.close()
        if tells_at_end:
            with self.provider.lock:
                self.provider.unsettled += 1

    def work(self) -> None:
        """Make calls in a thread until they are refused."""
        for _ in range(CALLS):
            try:
                self.read() if self.streams() else self.ask(self.case)
            except (TimeoutError, asyncio.CancelledError):
                continue
            except RunHalted:
                return

    async def work_later(self) -> None:
        """Make calls in a task likewise."""
        for _ in range(CALLS):
            try:
                if self.streams():
                    self.read()
                else:
                    await self.ask_later(self.case)
            except (TimeoutError, asyncio.CancelledError):
                continue
            except RunHalted:
                return
            await asyncio.sleep(0)


def in_threads(run: ExecutionContext, provider: Provider, case: str, *, states_most: bool) -> None:
    """64 threads of their own, which carry no context."""
    barrier = threading.Barrier(WORKERS)

    def work() -> None:
        worker = Worker(run, provider, case, states_most=states_most)
        barrier.wait()
        worker.work()

    threads = [threading.Thread(target=work) for _ in range(WORKERS)]
    with run:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def in_tasks(run: ExecutionContext, provider: Provider, case: str, *, states_most: bool) -> None:
    """64 tasks of one loop."""

    async def main() -> None:
        with run:
            workers = [Worker(run, provider, case, states_most=states_most) for _ in range(WORKERS)]
            await asyncio.gather(*(worker.work_later() for worker in workers))

    asyncio.run(main())


def schedule(where: str, case: str, seed: int, *, states_most: bool) -> tuple[float, float, float]:
    """Run one schedule.

    Returns:
        Dollars that were billed, that the rule allows, and that the context counts as spent.
    """
    provider = Provider(seed)
    run = ExecutionContext(Limits(cost_usd=LIMIT, warn_at=None))
    (in_threads if where == "threads" else in_tasks)(run, provider, case, states_most=states_most)
    allowed = LIMIT
    if not states_most:
        allowed += (provider.most_under_way + provider.unsettled) * (MOST - LEAST)
    return provider.billed, allowed, run.report().spent.cost_usd


def main() -> None:
    """Run everything, print the table and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--schedules", type=int, default=42, help="of each of the 24 cases (default: 42)")
    count = parser.parse_args().schedules
    rows, seed = [], 0
    print(
        f"{'':<32}{'at_most':<9}{'billed, median':>15}{'most':>8}{'over the limit':>16}{'over the rule':>15}"
    )
    for where, case, states_most in itertools.product(("threads", "tasks"), CASES, (True, False)):
        results = []
        for _ in range(count):
            seed += 1
            results.append(schedule(where, case, seed, states_most=states_most))
        billed = sorted(result[0] for result in results)
        row = {
            "where": where,
            "case": case,
            "at_most": states_most,
            "schedules": count,
            "billed_median_usd": round(billed[count // 2], 4),
            "billed_most_usd": round(billed[-1], 4),
            "over_limit": sum(amount > LIMIT + 1e-9 for amount in billed),
            "over_rule": sum(amount > allowed + 1e-9 for amount, allowed, _ in results),
        }
        rows.append(row)
        print(
            f"{where + ', ' + case:<32}{'yes' if states_most else 'no':<9}{row['billed_median_usd']:>15.3f}"
            f"{row['billed_most_usd']:>8.3f}{row['over_limit']:>16}{row['over_rule']:>15}",
            flush=True,
        )
    print(f"{seed:,} schedules, over the rule: {sum(int(row['over_rule']) for row in rows)}")
    write_result("quality-overspending", {"setup": setup(), "limit_usd": LIMIT, "cases": rows})


if __name__ == "__main__":
    main()
