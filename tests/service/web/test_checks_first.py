"""Work in the loop makes room for checks, but not for ever."""

import asyncio
import time

from ebbtide.service.web.service import CheckQueue


def test_work_waits_for_the_checks_under_way() -> None:
    """Work that has gone on for long lets a check through to its end; work that has just begun goes on."""
    log: list[str] = []
    checks = CheckQueue()

    async def check() -> None:
        with checks.one_more():
            for step in range(3):
                log.append(f"check {step}")
                await asyncio.sleep(0)

    async def work() -> None:
        first = asyncio.ensure_future(check())
        await checks.pause(time.perf_counter())
        log.append("short work")
        await checks.pause(0.0)
        log.append("work")
        await first

    asyncio.run(work())
    assert log == ["short work", "check 0", "check 1", "check 2", "work"]


def test_a_check_that_takes_long_does_not_hold_up_events() -> None:
    checks = CheckQueue()

    async def work() -> float:
        with checks.one_more():
            start = time.perf_counter()
            return await checks.pause(0.0) - start

    assert 0.005 < asyncio.run(work()) < 5
