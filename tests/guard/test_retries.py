"""What counts as a retry (divergence spec, section 1)."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.errors import LimitExceeded
from ebbtide.guard.execution_context import ExecutionContext


class FailsAtFirst:
    """A tool that fails a number of times for each argument, then answers."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.calls: dict[str, int] = {}

    def __call__(self, place: str) -> str:
        count = self.calls[place] = self.calls.get(place, 0) + 1
        if count <= self.failures:
            raise ConnectionError(place)
        return place


def trying(function: Callable[..., Any], times: int) -> Callable[..., Any]:
    """What a retry library makes of a function."""

    def call(*args: Any) -> Any:
        for attempt in range(times):
            try:
                return function(*args)
            except ConnectionError:
                if attempt == times - 1:
                    raise
        return None

    return call


def retries(run: ExecutionContext) -> int:
    return run.report().spent.retries


@pytest.mark.clause("X01")
def test_the_same_call_again_after_it_failed() -> None:
    """A retry is the same call after a failure; other arguments, and calls after a success, are none."""
    run = ExecutionContext()
    look = run.wrap_tool_call(FailsAtFirst(2))
    assert trying(look, 3)("attic") == "attic"
    assert retries(run) == 2
    look("attic")
    assert retries(run) == 2
    for place in ("cellar", "garden", "cellar", "garden"):
        with pytest.raises(ConnectionError):
            look(place)
    assert retries(run) == 4
    look("cellar")
    assert retries(run) == 5


@pytest.mark.clause("X01")
def test_a_retry_across_layers_counts_once() -> None:
    """An outer layer that tries again makes one retry, though the call inside it is made again as well."""
    run = ExecutionContext()
    fetch = run.wrap_tool_call(FailsAtFirst(2), name="fetch")
    lookup = run.wrap_tool_call(fetch, name="lookup")
    assert trying(lookup, 3)("attic") == "attic"
    assert retries(run) == 2
    assert run.report().spent.steps == 6


@pytest.mark.clause("X01")
def test_each_layer_counts_its_own() -> None:
    """Two layers that try twice each make four calls of what fails: three of them are tried again."""
    run = ExecutionContext()
    fetch = run.wrap_tool_call(FailsAtFirst(3), name="fetch")
    lookup = run.wrap_tool_call(trying(fetch, 2), name="lookup")
    assert trying(lookup, 2)("attic") == "attic"
    assert retries(run) == 3


@pytest.mark.clause("X01")
def test_the_limit_refuses_a_retry_and_nothing_else() -> None:
    """With its retries used up a failed call stays refused; other calls go on."""
    run = ExecutionContext(Limits(retries=1))
    look = run.wrap_tool_call(FailsAtFirst(9))
    for _ in range(2):
        with pytest.raises(ConnectionError):
            look("attic")
    for _ in range(3):
        with pytest.raises(LimitExceeded, match="would be at 2 retries"):
            look("attic")
    with pytest.raises(ConnectionError):
        look("cellar")
    assert retries(run) == 1


@pytest.mark.clause("X01")
def test_sixty_four_tasks_try_again() -> None:
    """Calls at the same time are told apart, also where a task of its own makes each attempt."""
    run = ExecutionContext()
    look = FailsAtFirst(1)

    @run.wrap_tool_call
    async def fetch(place: str) -> str:
        await asyncio.sleep(0.001)
        return look(place)

    async def attempt(place: str) -> str:
        for _ in range(2):
            try:
                return await asyncio.create_task(fetch(place))
            except ConnectionError:
                continue
        raise AssertionError

    async def main() -> list[str]:
        return await asyncio.gather(*(attempt(f"place {number}") for number in range(64)))

    assert len(asyncio.run(main())) == 64
    assert retries(run) == 64


def test_arguments_that_cannot_be_told_apart() -> None:
    """An argument whose text form fails makes a call that is never a retry, and breaks nothing."""

    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError

    def fail(_: object) -> None:
        raise ConnectionError

    run = ExecutionContext()
    look = run.wrap_tool_call(fail)
    silent = Silent()
    for argument in (silent, silent, "said", "said"):
        with pytest.raises(ConnectionError):
            look(argument)
    assert retries(run) == 1
    assert not run.report().degraded


def test_failed_attempts_are_remembered_within_bounds() -> None:
    """A million calls that fail and are never tried again take no more memory than a thousand."""
    run = ExecutionContext()
    look = run.wrap_tool_call(FailsAtFirst(1))
    for number in range(3000):
        with pytest.raises(ConnectionError):
            look(str(number))
    names = run.dispatcher._attempts._failed
    assert [len(failed) for failed in names.values()] == [3000 - 2 * 1024]
    for number in range(1000):
        with pytest.raises(ConnectionError):
            run.wrap_tool_call(FailsAtFirst(1), name=str(number))("attic")
    assert len(names) <= 256
