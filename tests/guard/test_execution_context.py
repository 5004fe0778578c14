"""The execution context around the calls of a run (divergence spec, sections 1, 2.5, 4 and 8)."""

import asyncio
import contextlib
import functools
import gc
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.budget.prices import Prices
from ebbtide.budget.scope import Scope
from ebbtide.divergence.graph.execution_graph import ExecutionGraph
from ebbtide.errors import ConfigError, LimitExceeded
from ebbtide.events.usage import Usage
from ebbtide.guard.execution_context import ExecutionContext
from ebbtide.guard.guard_report import Outcome


class Sink:
    """A pipeline that keeps its events."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def emit_safety_event(self, event: dict[str, Any]) -> None:
        self.events.append(event)

    @property
    def types(self) -> list[str]:
        return [event["event_type"] for event in self.events]


class Clock:
    """A clock that stands where it is put."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def plain(word: str, times: int = 2) -> list[str]:
    """Says a word."""
    return [word] * times


async def asynchronous(word: str, times: int = 2) -> list[str]:
    await asyncio.sleep(0)
    return [word] * times


def stream(word: str, times: int = 2) -> Iterator[str]:
    for _ in range(times):
        yield word


async def asynchronous_stream(word: str, times: int = 2) -> AsyncIterator[str]:
    for _ in range(times):
        await asyncio.sleep(0)
        yield word


class Caller:
    """A callable without a name of its own."""

    async def __call__(self, word: str, times: int = 2) -> list[str]:
        return await asynchronous(word, times)


KINDS = {
    "plain": plain,
    "asynchronous": asynchronous,
    "stream": stream,
    "asynchronous stream": asynchronous_stream,
    "partial": functools.partial(plain, times=2),
    "lambda that awaits": lambda word, times=2: asynchronous(word, times),
    "lambda that streams": lambda word, times=2: stream(word, times),
    "lambda that streams and awaits": lambda word, times=2: asynchronous_stream(word, times),
    "object": Caller(),
}


def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    """What a callable of any kind gives in the end."""

    async def finish(answer: Any) -> Any:
        if hasattr(answer, "__await__"):
            answer = await answer
        if hasattr(answer, "__aiter__"):
            return [item async for item in answer]
        return list(answer)

    return asyncio.run(finish(function(*args, **kwargs)))


@pytest.mark.clause("X02")
@pytest.mark.parametrize("wrap", ["wrap_llm_call", "wrap_tool_call"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_callable_is_wrapped(kind: str, wrap: str) -> None:
    """The answer is that of the callable; its call is a node of the graph, counted, and in the report."""
    graph = ExecutionGraph()
    run = ExecutionContext(Limits(steps=2), graph=graph)
    wrapped = getattr(run, wrap)(KINDS[kind], name="say")
    with run:
        assert call(wrapped, "tick") == ["tick", "tick"]
        assert call(wrapped, word="tock", times=2) == ["tock", "tock"]
        with pytest.raises(LimitExceeded):
            call(wrapped, "tick")
    nodes = list(graph.snapshot()["nodes"].values())
    assert [node["status"] for node in nodes] == ["success", "success", "success", "halt"]
    expected = "llm" if wrap == "wrap_llm_call" else "tool"
    assert [(node["kind"], node["name"], node["depth"]) for node in nodes[1:]] == [(expected, "say", 1)] * 3
    spent = run.report().spent
    assert (spent.steps, spent.llm_calls, spent.tool_calls) == (
        2,
        2 * (expected == "llm"),
        2 * (expected == "tool"),
    )
    assert [record.outcome for record in run.report().calls] == [Outcome.SUCCESS] * 2
    assert not run.report().degraded


@pytest.mark.clause("X02")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_raised_comes_through(kind: str) -> None:
    """An exception of the callable reaches the caller untouched; the node failed, and was perhaps billed."""
    graph = ExecutionGraph()
    run = ExecutionContext(Limits(cost_usd=1.0), graph=graph)
    wrapped = run.wrap_llm_call(KINDS[kind], at_most=Usage(cost_usd=0.5))
    with pytest.raises(TypeError):
        call(wrapped, "tick", "twice")
    (record,) = run.report().calls
    assert (record.outcome, record.result) == (Outcome.FAILURE, "TypeError")
    assert (run.report().spent.cost_usd, run.report().spent.reserved_usd) == (0.5, 0)
    node = list(graph.snapshot()["nodes"].values())[-1]
    assert (node["status"], node["error_class"]) == ("fail", "TypeError")


def test_a_generator_stays_a_generator() -> None:
    """Frameworks that ask what kind of function a tool is get the same answer as before."""
    import inspect

    run = ExecutionContext()
    for function in (plain, asynchronous, stream, asynchronous_stream):
        wrapped = run.wrap_tool_call(function)
        for question in (
            inspect.iscoroutinefunction,
            inspect.isgeneratorfunction,
            inspect.isasyncgenfunction,
            inspect.signature,
        ):
            assert question(wrapped) == question(function)
        assert (wrapped.__name__, wrapped.__doc__) == (function.__name__, function.__doc__)


@pytest.mark.clause("X02")
def test_decorators() -> None:
    """Both wrappers decorate, with options and without."""
    graph = ExecutionGraph()
    run = ExecutionContext(graph=graph)

    @run.wrap_tool_call
    def look() -> str:
        return "seen"

    @run.wrap_llm_call(name="generate", model="small-1")
    def ask() -> str:
        return "answered"

    assert (look(), ask()) == ("seen", "answered")
    nodes = list(graph.snapshot()["nodes"].values())[1:]
    assert [(node["kind"], node["name"], node["model"]) for node in nodes] == [
        ("tool", "look", None),
        ("llm", "generate", "small-1"),
    ]


@pytest.mark.clause("X02")
def test_a_call_in_a_with_block() -> None:
    """Code that is no callable makes its call in a with block, and says what it took."""
    run = ExecutionContext(Limits(tool_calls=2))
    with run.call("tool", "look", {"place": "attic"}) as call:
        call.result = "nothing"
        call.usage = Usage(cost_usd=0.25, output_tokens=5)
    with pytest.raises(KeyError), run.call("tool", "look"):
        raise KeyError
    with pytest.raises(LimitExceeded), run.call("tool", "look"):
        raise AssertionError
    report = run.report()
    assert report.results == ("nothing",)
    assert (report.spent.cost_usd, report.spent.tokens, report.spent.tool_calls) == (0.25, 5, 2)


@pytest.mark.clause("X02")
def test_calls_inside_calls() -> None:
    """A call that is made inside another is its child in the graph, in a task as well."""
    graph = ExecutionGraph()
    run = ExecutionContext(graph=graph)

    @run.wrap_tool_call
    def inner(depth: int) -> int:
        return depth

    @run.wrap_tool_call
    async def middle() -> list[int]:
        return [inner(2) for _ in range(2)]

    @run.wrap_llm_call
    async def outer() -> list[list[int]]:
        return await asyncio.gather(middle(), middle())

    assert asyncio.run(outer()) == [[2, 2], [2, 2]]
    nodes = graph.snapshot()["nodes"]
    depths = [(node["name"], node["depth"]) for node in nodes.values()]
    assert sorted(depths) == [("inner", 3)] * 4 + [("middle", 2)] * 2 + [("outer", 1), ("run", 0)]
    for node in nodes.values():
        if node["name"] == "inner":
            assert nodes[node["parent_id"]]["name"] == "middle"


@pytest.mark.clause("D08", "X01", "X02")
def test_a_halt_by_the_third_call_is_reported_as_a_loop() -> None:
    """A call that a limit refuses was meant all the same: it is in the ring, and its node is halted."""
    sink = Sink()
    graph = ExecutionGraph("chain-9")
    run = ExecutionContext(Limits(tool_calls=2), pipeline=sink, graph=graph)
    look = run.wrap_tool_call(plain, name="call_api")
    look("a")
    look("b")
    with pytest.raises(LimitExceeded):
        look("c")
    suspected = [event for event in sink.events if event["event_type"] == "divergence_suspected"]
    assert suspected == [
        {
            "event_type": "divergence_suspected",
            "severity": "warn",
            "signature": ["tool", "call_api"],
            "repeat_count": 3,
            "chain_id": "chain-9",
        }
    ]
    assert [node["status"] for node in graph.snapshot()["nodes"].values()][1:] == [
        "success",
        "success",
        "halt",
    ]


@pytest.mark.clause("X02")
def test_every_event_is_forwarded_at_once() -> None:
    """Repeats, rates, warnings and refusals reach the pipeline; none of them waits for a next call."""
    sink, clock = Sink(), Clock()
    graph = ExecutionGraph("chain-9", clock=clock)
    run = ExecutionContext(Limits(llm_calls=2), pipeline=sink, graph=graph, clock=clock)
    clock.now = 1.0
    ask = run.wrap_llm_call(plain, usage=lambda _: Usage(cost_usd=0.2, output_tokens=600))
    ask("a")
    assert sink.types == ["COST_RATE_EXCEEDED", "TOKEN_VELOCITY_EXCEEDED"]
    ask("b")
    for _ in range(3):
        with pytest.raises(LimitExceeded):
            ask("c")
    assert sink.types[2:] == ["LIMIT_WARNING", "LIMIT_EXCEEDED", "divergence_suspected"]
    assert {event["chain_id"] for event in sink.events} == {"chain-9"}
    assert sink.events[3] == {
        "event_type": "LIMIT_EXCEEDED",
        "severity": "stop",
        "kind": "llm_calls",
        "value": 3,
        "limit": 2,
        "scope": "run",
        "chain_id": "chain-9",
    }


@pytest.mark.clause("X01")
def test_a_halt_hands_back_what_was_done() -> None:
    """The error has the report of the run: the latest results, what was spent, and why it ended."""
    graph = ExecutionGraph()
    run = ExecutionContext(Limits(steps=30), keep=3, graph=graph)
    look = run.wrap_tool_call(plain)
    with pytest.raises(LimitExceeded) as halt, run:
        deque(map(look, range(100), [1] * 100))
    report = halt.value.report
    assert report.results == ([27], [28], [29])
    assert report.spent.steps == 30
    assert report.halted.args == halt.value.args == ("steps", 31, 30, "run")
    assert report.halted.__traceback__ is None
    assert graph.snapshot()["nodes"]["n1"]["status"] == "halt"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (None, "success"),
        (KeyError(), "fail"),
        (KeyboardInterrupt(), "halt"),
        (LimitExceeded("steps", 1, 0, "run"), "halt"),
    ],
)
def test_the_run_is_the_root(error: BaseException | None, status: str) -> None:
    """How the with block ends is how the root ends."""
    graph = ExecutionGraph()
    run = ExecutionContext(name="night shift", graph=graph)
    with contextlib.nullcontext() if error is None else pytest.raises(type(error)), run:
        if error is not None:
            raise error
    root = graph.snapshot()["nodes"]["n1"]
    assert (root["name"], root["status"]) == ("night shift", status)


@pytest.mark.clause("X01")
def test_sixty_four_threads_never_overspend() -> None:
    """64 threads share a dollar: each call fits what is left, as it is known before the call."""
    run = ExecutionContext(Limits(cost_usd=1.00))
    spent: list[float] = []

    def pay(cost: float) -> float:
        spent.append(cost)
        return cost

    wrapped = run.wrap_llm_call(
        pay, usage=lambda cost: Usage(cost_usd=cost), at_most=lambda cost: Usage(cost_usd=cost)
    )
    ready = threading.Barrier(64)

    def work(number: int) -> None:
        ready.wait()
        for turn in range(50):
            try:
                wrapped(0.01 * (1 + (number + turn) % 3))
            except LimitExceeded:
                return

    with ThreadPoolExecutor(64) as pool:
        list(pool.map(work, range(64)))
    report = run.report()
    assert 0.97 < sum(spent) <= 1.0 + 1e-9
    assert report.spent.cost_usd == pytest.approx(sum(spent))
    assert report.spent.cost_usd <= 1.0
    assert report.spent.reserved_usd == 0


@pytest.mark.clause("X01")
def test_sixty_four_tasks_never_overspend() -> None:
    """64 tasks share a dollar, though every one of them is under way before the first has settled."""
    run = ExecutionContext(Limits(cost_usd=1.00))
    under_way = most = 0

    @run.wrap_llm_call(usage=lambda cost: Usage(cost_usd=cost), at_most=Usage(cost_usd=0.03))
    async def pay(cost: float) -> float:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001)
        under_way -= 1
        return cost

    async def work(number: int) -> None:
        for _ in range(10):
            await pay(0.02 + 0.01 * (number % 2))

    async def main() -> list[Any]:
        return await asyncio.gather(*map(work, range(64)), return_exceptions=True)

    results = asyncio.run(main())
    assert all(isinstance(result, LimitExceeded) for result in results)
    spent = run.report().spent
    assert 0.97 < spent.cost_usd <= 1.0
    assert spent.reserved_usd == 0
    assert most > 30


@pytest.mark.clause("X01")
def test_without_an_estimate_the_dearest_call_is_set_aside() -> None:
    """One call after the other, a run without estimates ends before it would pass its limit."""
    run = ExecutionContext(Limits(cost_usd=1.0, tokens=100))
    ask = run.wrap_llm_call(lambda cost: cost, usage=lambda cost: Usage(cost_usd=cost, output_tokens=1))
    for cost in (0.25, 0.3, 0.25):
        ask(cost)
    with pytest.raises(LimitExceeded, match="cost_usd"):
        ask(0.05)
    assert run.report().spent.cost_usd == 0.8
    assert run.scope.left("tokens") == 97
    context = ExecutionContext(Limits(tokens=100))
    ask = context.wrap_llm_call(lambda tokens: tokens, usage=lambda tokens: Usage(output_tokens=tokens))
    ask(60)
    with pytest.raises(LimitExceeded, match="would be at 120 tokens"):
        ask(1)


def test_tools_are_free_unless_they_have_a_meter() -> None:
    """With the money gone, a tool can still be called; one that costs cannot."""
    run = ExecutionContext(Limits(cost_usd=0.5))
    look = run.wrap_tool_call(plain)
    search = run.wrap_tool_call(plain, at_most=Usage(cost_usd=0.5))
    search("a")
    look("a")
    with pytest.raises(LimitExceeded):
        search("b")
    assert run.report().spent.unpriced_calls == 1


def test_prices() -> None:
    """Tokens are priced by the model of the meter, or else of the call; the estimate as well."""
    prices = Prices({"small": {"input": 1.0, "output": 2.0}, "large": {"output": 100.0}}, public=False)
    graph = ExecutionGraph()
    run = ExecutionContext(Limits(cost_usd=10.0), prices=prices, graph=graph)
    ask = run.wrap_llm_call(
        lambda model: model,
        model="small",
        usage=lambda model: Usage(model=model, input_tokens=1_000_000, output_tokens=1_000_000),
        at_most=Usage(model="small", output_tokens=2_500_000),
    )
    ask(None)
    assert run.report().spent.cost_usd == 3.0
    node = graph.snapshot()["nodes"]["n2"]
    assert (node["cost_usd"], node["tokens_in"], node["tokens_out"]) == (3.0, 1_000_000, 1_000_000)
    ask("large")
    with pytest.raises(LimitExceeded, match="would be at 13 cost_usd"):  # 3, 5 set aside, and 5
        ask(None)


def test_an_unknown_price_is_shown() -> None:
    """A cost that nobody knows is counted, reported once where it matters, and never zero."""
    sink, graph = Sink(), ExecutionGraph()
    limits = Limits(cost_usd=1.0, when_unknown="allow")
    run = ExecutionContext(limits, pipeline=sink, prices=Prices(public=False), graph=graph)
    ask = run.wrap_llm_call(plain, name="ask", model="large", usage=lambda _: Usage(input_tokens=5))
    for _ in range(3):
        ask("a")
    assert sink.events == [
        {
            "event_type": "COST_UNKNOWN",
            "severity": "warn",
            "name": "ask",
            "model": "large",
            "chain_id": graph.chain_id,
        }
    ]
    report = run.report()
    assert (report.spent.cost_usd, report.spent.unpriced_calls, report.spent.tokens) == (0.0, 3, 15)
    assert report.unknown_prices == {"large": 3}
    assert graph.snapshot()["nodes"]["n2"]["cost_usd"] is None
    assert graph.snapshot()["nodes"]["n2"]["tokens_in"] == 5


@pytest.mark.clause("X01")
def test_a_stream_is_cut_when_the_time_is_up() -> None:
    """A stream that goes on for ever ends with the limit, is closed, and what it took so far is counted."""
    clock = Clock()
    run = ExecutionContext(Limits(wall_s=5), clock=clock)
    closed = []

    @run.wrap_llm_call(usage=lambda count: Usage(output_tokens=count))
    def forever() -> Iterator[int]:
        try:
            while True:
                clock.now += 1
                yield int(clock.now)
        finally:
            closed.append(clock.now)

    numbers = []
    with pytest.raises(LimitExceeded, match="wall_s") as halt:
        numbers.extend(item for item in forever())
    assert numbers == [1, 2, 3, 4, 5]
    assert closed == [5]
    assert halt.value.report.calls == ()
    (record,) = run.report().calls
    assert (record.outcome, run.report().spent.tokens) == (Outcome.HALTED, 5)


@pytest.mark.parametrize("kind", ["stream", "lambda that streams"])
@pytest.mark.parametrize("how", ["close", "drop", "throw"])
def test_a_stream_that_is_not_read_to_its_end(kind: str, how: str) -> None:
    """A stream that is closed, let go or broken off settles: what was set aside counts as spent."""
    graph = ExecutionGraph()
    run = ExecutionContext(Limits(cost_usd=1.0), graph=graph)
    items = run.wrap_llm_call(KINDS[kind], at_most=Usage(cost_usd=0.25))("tick", 100)
    assert next(items) == "tick"
    if how == "close":
        items.close()
        assert list(items) == []
    del items
    gc.collect()
    spent = run.report().spent
    assert (spent.cost_usd, spent.reserved_usd, spent.unpriced_calls) == (0.25, 0, 1)
    node = list(graph.snapshot()["nodes"].values())[-1]
    assert node["status"] == "halt"


def test_an_asynchronous_stream_that_is_not_read_to_its_end() -> None:
    """Breaking out of an asynchronous stream settles it; closing it closes what is inside, at once."""
    run = ExecutionContext(Limits(cost_usd=1.0))
    closed = []

    async def say() -> AsyncIterator[str]:
        try:
            async for word in asynchronous_stream("tick", 100):
                yield word
        finally:
            closed.append("say")

    ask = run.wrap_llm_call(say, at_most=Usage(cost_usd=0.25))

    async def main() -> None:
        async for _ in ask():
            break
        closed.clear()
        items = ask()
        await anext(items)
        await items.aclose()
        assert closed == ["say"]

    asyncio.run(main())
    gc.collect()
    spent = run.report().spent
    assert (spent.cost_usd, spent.reserved_usd, spent.steps) == (0.5, 0, 2)


def test_a_stream_that_is_never_begun() -> None:
    """A generator that nobody reads was not dispatched; what a function returned unread was."""
    run = ExecutionContext(Limits(cost_usd=1.0))
    run.wrap_llm_call(stream, at_most=Usage(cost_usd=0.25))("tick")
    run.wrap_llm_call(KINDS["lambda that streams"], at_most=Usage(cost_usd=0.25))("tick")
    gc.collect()
    assert (run.report().spent.steps, run.report().spent.reserved_usd) == (1, 0)


def test_a_meter_may_speak_in_the_middle_of_a_stream() -> None:
    """What an item says about usage holds until another says more; items that say nothing change nothing."""
    run = ExecutionContext()
    meter = {"two": Usage(output_tokens=2), "five": Usage(cost_usd=0.5, output_tokens=5)}.get
    list(run.wrap_llm_call(lambda: (word for word in ("", "two", "", "five", "")), usage=meter)())
    assert (run.report().spent.tokens, run.report().spent.cost_usd) == (5, 0.5)


class SdkStream:
    """What a client library returns: an iterable that is no generator."""

    def __iter__(self) -> Iterator[str]:
        return iter(["tick", "tock"])

    def __aiter__(self) -> AsyncIterator[str]:
        return asynchronous_stream("tick")


def test_streams_of_a_client_library() -> None:
    """With stream=True, whatever can be iterated is read as a stream; without, it comes through untouched."""
    run = ExecutionContext(Limits(cost_usd=1.0))
    answer = SdkStream()
    assert run.wrap_llm_call(lambda: answer, at_most=Usage(cost_usd=0.0))() is answer

    async def create() -> SdkStream:
        return answer

    options: Any = {"stream": True, "usage": lambda _: Usage(cost_usd=0.25)}
    assert call(run.wrap_llm_call(create, **options)) == ["tick", "tick"]
    assert run.report().spent.cost_usd == 0.25


@pytest.mark.parametrize("kind", ["asynchronous", "asynchronous stream", "lambda that awaits"])
def test_a_cancelled_call_may_have_cost_all_it_asked_for(kind: str) -> None:
    """Cancelling ends the call and the node; the provider goes on counting, so the estimate is spent."""
    graph = ExecutionGraph()
    run = ExecutionContext(Limits(cost_usd=1.0), graph=graph)
    ask = run.wrap_llm_call(KINDS[kind], at_most=Usage(cost_usd=0.25))

    async def main() -> None:
        async def consume() -> None:
            answer = ask("tick", 10**6)
            if hasattr(answer, "__aiter__"):
                async for _ in answer:
                    pass
            await answer

        task = asyncio.create_task(consume())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    spent = run.report().spent
    assert (spent.cost_usd, spent.reserved_usd) == (0.25, 0)
    assert list(graph.snapshot()["nodes"].values())[-1]["status"] == "halt"


@pytest.mark.clause("X01")
def test_scopes_and_contexts_in_each_other() -> None:
    """A context made inside another counts in both; a scope around some calls limits these alone."""
    with ExecutionContext(Limits(tool_calls=5), name="lead") as lead:
        look = lead.wrap_tool_call(plain)
        with Scope(Limits(tool_calls=1), name="research"):
            look("a")
            with pytest.raises(LimitExceeded) as halt:
                look("b")
            assert halt.value.scope == "research"
        helper = ExecutionContext(Limits(tool_calls=10), name="helper")
        find = helper.wrap_tool_call(plain)
        for _ in range(4):
            find("a")
        with pytest.raises(LimitExceeded) as halt:
            find("a")
        assert halt.value.scope == "lead"
    assert (helper.report().spent.tool_calls, lead.report().spent.tool_calls) == (4, 5)


def test_a_context_inside_a_call_of_another() -> None:
    """Its calls hang below its own root."""
    graph = ExecutionGraph()
    lead = ExecutionContext(name="lead", graph=ExecutionGraph())
    helper = ExecutionContext(name="helper", graph=graph)
    for _ in range(5):
        lead.wrap_tool_call(plain)("a")
    lead.wrap_tool_call(helper.wrap_tool_call(plain))("b")
    nodes = graph.snapshot()["nodes"]
    assert [(node["parent_id"], node["depth"]) for node in nodes.values()] == [(None, 0), ("n1", 1)]
    assert not helper.report().degraded


@pytest.mark.parametrize("at_most", [5, "much", {"cost_usd": 1}])
def test_an_estimate_that_is_none(at_most: Any) -> None:
    """An estimate is a Usage, or a function that gives one."""
    with pytest.raises(ConfigError, match="at_most"):
        ExecutionContext().wrap_llm_call(plain, at_most=at_most)


def test_public_prices_are_used_where_they_are_installed() -> None:
    """A call that states tokens and a known model costs something, with nobody naming a price."""
    pytest.importorskip("genai_prices")
    run = ExecutionContext()
    run.wrap_llm_call(lambda: "Paris.", model="gpt-4o", usage=lambda _: Usage(input_tokens=1_000_000))()
    assert run.report().spent.cost_usd
