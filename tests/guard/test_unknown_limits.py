"""Contexts whose limits cannot be counted, calls that failed, and contexts that are restored."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from benchmarks.quality.overspending import CASES, schedule
from ebbtide.budget.limits import Limits
from ebbtide.budget.prices import Prices
from ebbtide.errors import ConfigError, LimitExceeded, LimitUnknown
from ebbtide.events.usage import Usage
from ebbtide.guard import dispatcher
from ebbtide.guard.execution_context import ExecutionContext
from ebbtide.guard.metering import is_unbilled
from ebbtide.supervision.supervisor import Supervisor

PRICES = Prices({"small": {"output": 1.0}}, public=False)


class Sink:
    """A pipeline that keeps its events."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def emit_safety_event(self, event: dict[str, Any]) -> None:
        self.events.append(event)


def answer() -> str:
    return "answered"


@pytest.mark.parametrize(
    ("limits", "options", "why"),
    [
        ({"cost_usd": 1.0}, {}, "the usage of a call of 'answer' is unknown"),
        ({"cost_usd": 1.0}, {"model": "large"}, "the usage of a call of 'large' is unknown"),
        (
            {"cost_usd": 1.0},
            {"at_most": Usage(model="large", output_tokens=5)},
            "the cost of a call of 'answer'",
        ),
        ({"tokens": 10}, {"at_most": Usage(cost_usd=0.5)}, "the tokens of a call of 'answer'"),
    ],
)
def test_a_callable_that_nobody_can_count_is_refused_at_the_start(
    limits: dict[str, Any], options: Any, why: str
) -> None:
    """Neither a meter nor a most: the limit is an error before anything is called, unless that is allowed."""
    with pytest.raises(ConfigError, match=f"cannot be enforced: .*{why}"):
        ExecutionContext(Limits(**limits), prices=PRICES).wrap_llm_call(answer, **options)
    with ExecutionContext(Limits(**limits)), pytest.raises(ConfigError):
        ExecutionContext(prices=PRICES).wrap_llm_call(answer, **options)
    ExecutionContext(Limits(**limits, when_unknown="allow")).wrap_llm_call(answer, **options)()


@pytest.mark.parametrize(
    "options",
    [
        {"usage": lambda _: None},
        {"at_most": Usage(model="small", output_tokens=5)},
        {"model": "small", "at_most": Usage(output_tokens=5)},
        {"at_most": lambda: None},
    ],
)
def test_what_may_be_counted_is_not_refused(options: Any) -> None:
    """A meter may state a cost; a most that has a price is one."""
    ExecutionContext(Limits(cost_usd=1.0), prices=PRICES).wrap_llm_call(answer, **options)
    ExecutionContext(Limits(cost_usd=1.0)).wrap_tool_call(answer)()


def test_the_call_after_one_that_could_not_be_counted_is_refused() -> None:
    """The result is delivered; then the run ends, with the report of what was done, and one event."""
    sink = Sink()
    run = ExecutionContext(Limits(cost_usd=1.0), prices=PRICES, pipeline=sink)
    ask = run.wrap_llm_call(answer, usage=lambda _: Usage(model="large", output_tokens=5))
    look = run.wrap_tool_call(answer)
    assert ask() == "answered"
    for call in (ask, look):
        with pytest.raises(LimitUnknown) as halt:
            call()
    assert str(halt.value) == (
        "The limit of 1 USD cannot be enforced: the cost of a call of 'large' is unknown. Pass "
        'prices=Prices({...}) or --prices, or a usage with cost_usd; or choose Limits(when_unknown="allow").'
    )
    assert (halt.value.kind, halt.value.limit, halt.value.scope) == ("cost_usd", 1.0, "run")
    assert halt.value.report.results == ("answered",)
    assert isinstance(run.report().halted, LimitUnknown)
    assert [event["event_type"] for event in sink.events] == ["COST_UNKNOWN", "LIMIT_UNKNOWN"]


def test_the_supervisor_says_it_in_the_same_words() -> None:
    """One sentence, whoever counts."""
    supervisor = Supervisor(limits=Limits(cost_usd=1.0))
    run = ExecutionContext(supervisor=supervisor)
    run.wrap_llm_call(answer, usage=lambda _: Usage(model="large", output_tokens=5))()
    other = ExecutionContext(Limits(cost_usd=1.0))
    other.wrap_llm_call(answer, usage=lambda _: Usage(model="large", output_tokens=5))()
    with pytest.raises(LimitUnknown) as halt:
        other.wrap_tool_call(answer)()
    assert supervisor.verdict().reason == str(halt.value)


def test_a_call_in_a_with_block_may_say_what_it_took_afterwards() -> None:
    """A block without a usage leaves the limit uncounted until it is settled."""
    run = ExecutionContext(Limits(tokens=100))
    with run.call("llm", "ask") as call:
        pass
    assert run.unsettled == (call,)
    with pytest.raises(LimitUnknown, match="tokens of a call of 'ask' are unknown"), run.call("llm", "ask"):
        raise AssertionError
    call.settle(Usage(input_tokens=40, output_tokens=2))
    assert run.unsettled == ()
    with run.call("llm", "ask") as call:
        assert run.report().spent.reserved_tokens == 42
        call.usage = Usage(output_tokens=8)
    assert run.report().spent.tokens == 50


class StatusError(Exception):
    """What client libraries raise for a status."""

    def __init__(self, status_code: int) -> None:
        self.status_code = status_code


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


UNBILLED = [
    *map(StatusError, (400, 401, 403, 404, 413, 422, 429)),
    ConnectionRefusedError(),
    socket.gaierror(),
    caused(RuntimeError("no connection"), ConnectionRefusedError()),
]
BILLED = [
    *map(StatusError, (200, 408, 499, 500, 502, 503, 504, 529)),
    TimeoutError(),
    ConnectionResetError(),
    KeyError("choices"),
    TypeError(),
    caused(StatusError(429), TimeoutError()),
    caused(ConnectionRefusedError(), type("ReadTimeout", (Exception,), {})()),
]


@pytest.mark.parametrize("error", UNBILLED, ids=repr)
def test_errors_that_say_that_nothing_was_billed(error: Exception) -> None:
    """What was refused or never sent is free."""
    assert is_unbilled(error)
    assert spent_by(error) == 0.0


@pytest.mark.parametrize("error", BILLED, ids=repr)
def test_errors_after_which_the_bill_may_come(error: Exception) -> None:
    """Whatever else it is, what was set aside stays counted, until somebody says what it took."""
    assert not is_unbilled(error)
    assert spent_by(error) == 0.25


def spent_by(error: Exception) -> float:
    run = ExecutionContext(Limits(cost_usd=1.0))

    def fail() -> str:
        raise error

    with pytest.raises(type(error)):
        run.wrap_llm_call(fail, at_most=Usage(cost_usd=0.25))()
    error.__traceback__ = None
    return run.report().spent.cost_usd


def test_a_circle_of_causes_ends() -> None:
    """Errors that cause each other are looked at for a while."""
    first, second = ValueError(), KeyError()
    first.__cause__, second.__cause__ = second, first
    assert not is_unbilled(first)


def test_time_outs_are_counted_and_settled_late() -> None:
    """Four time-outs of a quarter are a dollar; a bill that was smaller gives room again."""
    run = ExecutionContext(Limits(cost_usd=1.0, warn_at=None))

    def fail(number: int) -> str:
        raise TimeoutError(number)

    ask = run.wrap_llm_call(fail, at_most=Usage(cost_usd=0.25))
    for number in range(4):
        with pytest.raises(TimeoutError):
            ask(number)
    with pytest.raises(LimitExceeded):
        ask(4)
    assert [call.args for call in run.unsettled] == [(0,), (1,), (2,), (3,)]
    run.unsettled[1].settle(Usage(cost_usd=0.0))
    assert [call.args for call in run.unsettled] == [(0,), (2,), (3,)]
    with pytest.raises(TimeoutError):
        ask(4)
    with pytest.raises(ConfigError):
        run.unsettled[0].settle(Usage(cost_usd=-1.0))


def test_the_first_call_that_fails_counts_a_sixteenth() -> None:
    """Nothing is known of it, and it is not free."""
    run = ExecutionContext(Limits(cost_usd=1.6))

    def fail() -> str:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        run.wrap_llm_call(fail, usage=lambda _: None)()
    assert run.report().spent.cost_usd == 0.1


def test_a_stream_that_is_left_early_is_charged_what_it_has_said() -> None:
    """A meter that speaks with each item knows what was produced; else what was set aside counts."""
    run = ExecutionContext(Limits(cost_usd=1.6))

    def stream() -> Iterator[float]:
        yield from (0.25, 0.5, 0.75)

    items = iter(run.wrap_llm_call(stream, usage=lambda cost: Usage(cost_usd=cost))())
    next(items)
    next(items)
    del items
    assert run.report().spent.cost_usd == 0.5
    items = iter(run.wrap_llm_call(stream, usage=lambda _: None)())
    next(items)
    del items
    assert run.report().spent.cost_usd == 0.6


def test_what_was_left_early_is_no_measure_of_the_most() -> None:
    """The next call sets aside what the dearest took that was read to its end."""
    run = ExecutionContext(Limits(cost_usd=1.6))

    def stream() -> Iterator[float]:
        yield from (0.25, 0.5)

    ask = run.wrap_llm_call(stream, usage=usage_of)
    items = iter(ask())
    next(items)
    del items
    items = iter(ask())
    next(items)
    assert run.report().spent.reserved_usd == 0.1
    assert list(items) == [0.5]
    items = iter(ask())
    next(items)
    assert run.report().spent.reserved_usd == 0.5


def test_a_context_in_a_worker_thread_counts_in_the_one_around() -> None:
    """Nothing has to be carried where the main thread has entered one."""

    def work(_: int) -> None:
        ExecutionContext(name="part").wrap_tool_call(answer)()

    with (
        ExecutionContext(Limits(tool_calls=3)) as run,
        ThreadPoolExecutor(2) as pool,
        pytest.raises(LimitExceeded),
    ):
        list(pool.map(work, range(4)))
    assert run.report().spent.tool_calls == 3


def usage_of(cost: float) -> Usage:
    return Usage(cost_usd=cost)


def test_the_seventeenth_thread_waits_for_the_first_answer() -> None:
    """32 threads that nothing is known of go 16 at a time, and none is refused."""
    run = ExecutionContext(Limits(cost_usd=100.0))
    starts, answers, lock = 0, 0, threading.Lock()

    def pay() -> float:
        nonlocal starts, answers
        with lock:
            starts += not answers
        time.sleep(0.2)
        with lock:
            answers += 1
        return 0.01

    ask = run.wrap_llm_call(pay, usage=usage_of)
    with ThreadPoolExecutor(32) as pool:
        costs = list(pool.map(lambda _: ask(), range(32)))
    assert sum(costs) == pytest.approx(0.32)
    assert starts == 16


def test_the_seventeenth_task_waits_for_the_first_answer() -> None:
    """The same for tasks, whether they give one answer or a stream."""
    run = ExecutionContext(Limits(cost_usd=100.0))

    async def pay() -> float:
        await asyncio.sleep(0.02)
        return 0.01

    async def stream() -> Any:
        await asyncio.sleep(0.02)
        yield 0.01

    async def read(items: Any) -> float:
        return sum([item async for item in items])

    ask, begin = run.wrap_llm_call(pay, usage=usage_of), run.wrap_llm_call(stream, usage=usage_of)

    async def main() -> list[float]:
        calls = [ask() for _ in range(32)], [read(begin()) for _ in range(32)]
        return [*await asyncio.gather(*calls[0]), *await asyncio.gather(*calls[1])]

    assert sum(asyncio.run(main())) == pytest.approx(0.64)


def test_a_call_inside_one_that_costs_does_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It could wait for ever; it is refused at once."""
    monkeypatch.setattr(dispatcher, "MOST_WAIT_S", 60.0)
    run = ExecutionContext(Limits(cost_usd=1.0))
    depth = 0

    def deeper() -> float:
        nonlocal depth
        depth += 1
        return ask()

    ask: Any = run.wrap_llm_call(deeper, usage=usage_of)
    start = time.monotonic()
    with pytest.raises(LimitExceeded):
        ask()
    assert depth == 16
    assert time.monotonic() - start < 30


def test_calls_that_never_settle_hold_nobody_up_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while the call that waits is refused; in an event loop, which it would block, at once."""
    monkeypatch.setattr(dispatcher, "MOST_WAIT_S", 0.05)
    run = ExecutionContext(Limits(cost_usd=1.0))
    calls = [run.scope.reserve("llm") for _ in range(16)]
    ask = run.wrap_llm_call(lambda: 0.01, usage=usage_of)
    with pytest.raises(LimitExceeded):
        ask()

    async def ask_later() -> float:
        return 0.01

    with pytest.raises(LimitExceeded):
        asyncio.run(run.wrap_llm_call(ask_later, usage=usage_of)())
    monkeypatch.setattr(dispatcher, "MOST_WAIT_S", 60.0)

    async def main() -> None:
        ask()

    with pytest.raises(LimitExceeded):
        asyncio.run(main())
    calls[0].settle(0.0, 0)
    assert ask() == 0.01


def test_a_context_survives_a_restart() -> None:
    """What was taken counts on, in a state of some hundred bytes; the chain of its events is the same."""
    limits = Limits(cost_usd=1.0, tool_calls=2)
    run = ExecutionContext(limits)
    run.wrap_llm_call(answer, usage=lambda _: Usage(cost_usd=0.25, output_tokens=7))()
    run.wrap_tool_call(answer)()
    with run.call("llm", "ask", at_most=Usage(cost_usd=0.5)):
        data = run.to_bytes()
    assert len(data) < 500
    again = ExecutionContext.from_bytes(data, limits, prices=PRICES)
    spent = again.report().spent
    assert (spent.cost_usd, spent.tokens, spent.llm_calls, spent.tool_calls) == (0.75, 7, 2, 1)
    assert again.report().chain_id == run.report().chain_id
    look = again.wrap_tool_call(answer)
    look()
    with pytest.raises(LimitExceeded):
        look()
    assert ExecutionContext.from_bytes(data, limits, chain_id="mine").report().chain_id == "mine"


@pytest.mark.parametrize("limits", [None, Limits(), Limits(tool_calls=2)])
def test_a_context_is_not_restored_without_its_limits(limits: Limits | None) -> None:
    """A limit that is left out would be open."""
    data = ExecutionContext(Limits(cost_usd=1.0, tool_calls=2)).to_bytes()
    with pytest.raises(ConfigError, match=r"Limits\(cost_usd=\.\.\.\)"):
        ExecutionContext.from_bytes(data, limits)


@pytest.mark.parametrize("data", [b"", b"EBXC", b"EBXC\x01", b"EBBS\x02", b"EBXC\x02x", None, "x"])
def test_what_is_no_state_of_a_context(data: Any) -> None:
    """Whatever it is, it is a ConfigError; so is the state of something else, and one that was cut."""
    for state in (data, Supervisor().to_bytes(), ExecutionContext().to_bytes()[:30]):
        with pytest.raises(ConfigError):
            ExecutionContext.from_bytes(state)


@pytest.mark.clause("X01")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("where", ["threads", "tasks"])
def test_what_is_billed_never_exceeds_the_rule(where: str, case: str) -> None:
    """By the books of the provider; what the context counts is no less, where it knows the most of a call."""
    for seed in range(3):
        billed, allowed, spent = schedule(where, case, seed, states_most=True)
        assert billed <= allowed + 1e-9
        assert billed <= spent + 1e-9
        billed, allowed, _ = schedule(where, case, seed, states_most=False)
        assert billed <= allowed + 1e-9
