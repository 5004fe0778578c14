"""Who looks on never breaks the run, and a loop ends it where the monitor says so (divergence spec, 2.5)."""

import math
import threading
from collections.abc import Callable
from typing import Any

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.budget.prices import Prices
from ebbtide.divergence.graph.execution_graph import ExecutionGraph
from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.divergence.signals import LoopKind, LoopSignal
from ebbtide.errors import CallBlocked, ConfigError, LoopHalted
from ebbtide.events.event import Event, Phase
from ebbtide.events.usage import Usage
from ebbtide.guard.execution_context import ExecutionContext


class Broken:
    """A pipeline and a monitor that fail whenever they are asked."""

    def emit_safety_event(self, event: dict[str, Any]) -> None:
        raise RuntimeError(event["event_type"])

    def update(self, call: Event) -> tuple[Signal, ...]:
        raise LookupError(call.name)


class BrokenGraph(ExecutionGraph):
    """A graph that can begin a chain and nothing else."""

    def begin_node(self, *_: Any) -> str:
        raise MemoryError


class SilentError(Exception):
    """An error without words."""

    def __str__(self) -> str:
        raise RuntimeError


class Recorder:
    """A monitor that keeps what it is told, and answers with the signals of a plan."""

    def __init__(self, plan: Callable[[Event], tuple[Signal, ...]] = lambda _: ()) -> None:
        self.calls: list[Event] = []
        self.plan = plan

    def update(self, call: Event) -> tuple[Signal, ...]:
        self.calls.append(call)
        return self.plan(call)


class Sink:
    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def emit_safety_event(self, event: dict[str, Any]) -> None:
        self.events.append(event)


def signal(level: Level) -> Signal:
    return Signal(
        id="1",
        kind=LoopKind.REPEAT,
        level=level,
        chain_id="c",
        copies=3,
        threshold=3,
        calls=3,
        first_event=1,
        last_event=3,
    )


def fail(place: str) -> str:
    raise ConnectionError(place)


@pytest.mark.clause("X02")
def test_a_broken_pipeline_and_monitor_break_nothing() -> None:
    """Every result is right, every fault is counted by where it was, and the report says so."""
    run = ExecutionContext(Limits(steps=4), pipeline=Broken(), monitor=Broken())
    look = run.wrap_tool_call(lambda place: place)
    assert [look("attic") for _ in range(4)] == ["attic"] * 4
    report = run.report()
    assert report.degraded
    assert report.faults == {"monitor": 4, "pipeline": 2}
    assert report.last_fault == "monitor: LookupError: <lambda>"
    assert not ExecutionContext().report().degraded


@pytest.mark.clause("X02")
def test_a_broken_graph_breaks_nothing() -> None:
    """Without its graph a run goes on, and its limits hold."""
    run = ExecutionContext(Limits(steps=2), graph=BrokenGraph("c"))
    look = run.wrap_tool_call(lambda place: place)
    assert (look("attic"), look("cellar")) == ("attic", "cellar")
    with pytest.raises(Exception, match="would be at 3 steps"):
        look("garden")
    assert run.report().faults == {"graph": 3}


@pytest.mark.clause("X02")
@pytest.mark.parametrize(
    ("where", "answer"),
    [
        *((where, answer) for where in ("usage", "at_most", "text") for answer in ({"total": 5}, 0.5)),
        *(
            (where, error)
            for where in ("usage", "at_most", "text")
            for error in (RuntimeError("no"), SilentError())
        ),
    ],
)
def test_a_broken_meter_breaks_nothing(where: str, answer: Any) -> None:
    """A meter, estimate or text that fails, or gives something else, is counted; the amount is not known."""

    def broken(*_: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    options: Any = {where: broken}
    run = ExecutionContext(Limits(cost_usd=1.0), monitor=Recorder())
    ask = run.wrap_llm_call(lambda: "answered", **options)
    assert ask() == "answered"
    report = run.report()
    assert report.faults == {where: 1}
    assert report.spent.unpriced_calls == 1


@pytest.mark.clause("X02")
@pytest.mark.parametrize("answer", [None, 5, (None,), ["stop"], iter("x")])
def test_a_monitor_that_gives_something_else(answer: Any) -> None:
    """What is no signal is a fault, and stops nothing."""
    run = ExecutionContext(monitor=Recorder(lambda _: answer))
    assert run.wrap_tool_call(lambda: "x")() == "x"
    assert run.report().faults == {"monitor": 1}


class HostileError(Exception):
    """An error of a library that fails when it is looked at."""

    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__

    @property
    def status_code(self) -> int:
        raise RuntimeError


def test_an_error_that_fails_when_it_is_looked_at() -> None:
    """It comes through as it is, and the monitor gets its name."""
    recorder = Recorder()
    run = ExecutionContext(monitor=recorder)

    def busy() -> None:
        raise HostileError

    with pytest.raises(HostileError):
        run.wrap_tool_call(busy)()
    assert [(call.result, call.status) for call in recorder.calls] == [("HostileError", None)]
    assert not run.report().degraded


class OddPrices(Prices):
    """A price table that knows nothing but nonsense."""

    def cost(self, usage: Usage) -> float | None:
        return {"nan": math.nan, "minus": -1.0, "text": "1"}[usage.model or ""]


@pytest.mark.parametrize("model", ["nan", "minus", "text", "missing"])
def test_prices_that_are_none(model: str) -> None:
    """A price table that fails, or gives what is no cost, leaves the cost unknown."""
    run = ExecutionContext(Limits(cost_usd=1.0), prices=OddPrices(public=False))
    run.wrap_llm_call(lambda: "x", model=model, usage=lambda _: Usage(output_tokens=5))()
    assert run.report().faults == {"prices": 1}
    assert (run.report().spent.unpriced_calls, run.report().spent.tokens) == (1, 5)


def test_the_most_that_a_call_can_take_is_counted() -> None:
    """Tokens and dollars at the end of what a Usage may hold pass through graph, scope and price table."""
    most = Usage(
        input_tokens=10**11,
        output_tokens=10**11,
        cache_read_tokens=10**11,
        cache_write_tokens=10**11,
        cost_usd=1e12,
    )
    run = ExecutionContext(Limits(cost_usd=1e12, tokens=10**12))
    run.wrap_llm_call(lambda: "x", usage=lambda _: most)()
    report = run.report()
    assert (report.spent.cost_usd, report.spent.tokens) == (1e12, 4 * 10**11)
    assert not report.degraded
    assert run.graph.snapshot()["nodes"]["n2"]["status"] == "success"


class Locked:
    """A pipeline with a lock that must not be asked for twice."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.types: list[str] = []
        self.dropped: Any = None

    def emit_safety_event(self, event: dict[str, Any]) -> None:
        assert self.lock.acquire(timeout=1)
        self.dropped = None
        self.types.append(event["event_type"])
        self.lock.release()


def test_a_stream_that_is_dropped_inside_the_pipeline() -> None:
    """The garbage collector may come at any time: what it settles is told with the next call."""
    sink = Locked()
    run = ExecutionContext(Limits(cost_usd=1.0), pipeline=sink)
    ask = run.wrap_llm_call(lambda: (word for word in "abc"), at_most=Usage(cost_usd=0.8))
    sink.dropped = ask()
    next(sink.dropped)
    for _ in range(3):
        run.wrap_tool_call(lambda: "x", name="look")()
    assert sink.types == ["divergence_suspected"]
    assert run.report().spent.cost_usd == 0.8
    assert sink.types == ["divergence_suspected", "LIMIT_WARNING", "COST_UNKNOWN"]
    assert not run.report().degraded


def test_a_usage_that_is_none() -> None:
    """Whatever is put into the usage of a call by hand, the run goes on."""
    run = ExecutionContext()
    with run.call("llm", "ask") as made:
        made.usage = 0.5
    assert run.report().faults == {"usage": 1}


def test_a_pipeline_that_nobody_would_await() -> None:
    """An asynchronous pipeline would lose every event in silence: it is refused at once."""

    class Asynchronous:
        async def emit_safety_event(self, event: dict[str, Any]) -> None:
            raise AssertionError(event)

    with pytest.raises(ConfigError, match=r"Asynchronous\.emit_safety_event is asynchronous"):
        ExecutionContext(pipeline=Asynchronous())


@pytest.mark.clause("X02")
def test_what_the_monitor_is_told() -> None:
    """Tools come with arguments by name and result or error, models with their text and what they took."""
    recorder = Recorder()
    now = iter(range(100))
    run = ExecutionContext(monitor=recorder, clock=lambda: float(next(now)), graph=ExecutionGraph("c"))

    def look(place: str, *more: str, deep: bool = False) -> dict[str, Any]:
        return {"place": place, "more": more, "deep": deep}

    usage = Usage(cost_usd=0.25, input_tokens=3, output_tokens=2)
    run.wrap_tool_call(look)("attic", "box", "lid", deep=True)
    run.wrap_llm_call(lambda _: "I see", name="ask", usage=lambda _: usage)("a long conversation")
    run.wrap_llm_call(lambda: {"text": "I see"}, text=lambda answer: answer["text"])()
    run.wrap_llm_call(lambda: {"text": "I see"})()
    error = ConnectionError("busy")
    error.status_code = 503

    def busy(place: str) -> None:
        raise error

    with pytest.raises(ConnectionError):
        run.wrap_tool_call(busy)("attic")
    list(run.wrap_llm_call(lambda: (word for word in ("I ", "see")))())
    calls = recorder.calls
    assert {call.chain_id for call in calls} == {"c"}
    assert [call.ts for call in calls] == sorted(call.ts or 0.0 for call in calls)
    assert {call.phase for call in calls} == {Phase.FINISHED}
    assert [(call.kind, call.name, call.text, call.error) for call in calls] == [
        ("tool", "look", None, False),
        ("llm", "message", "I see", False),
        ("llm", "message", "I see", False),
        ("llm", "generate", None, False),
        ("tool", "busy", None, True),
        ("llm", "stream", "I ", False),
        ("llm", "stream", "see", False),
        ("llm", "generate", None, False),
    ]
    assert calls[0].args == {"place": "attic", "*": ("box", "lid"), "deep": True}
    assert calls[0].result == {"place": "attic", "more": ("box", "lid"), "deep": True}
    assert (calls[1].args, calls[1].cost_usd, calls[1].input_tokens, calls[1].output_tokens) == (
        None,
        0.25,
        3,
        2,
    )
    assert (calls[4].args, calls[4].result, calls[4].status) == (
        {"place": "attic"},
        "ConnectionError: busy",
        503,
    )


@pytest.mark.clause("X02")
def test_signals_are_forwarded_and_hints_are_for_the_model() -> None:
    """A signal reaches the pipeline in its wire form; its message waits to be told to the model, once."""
    sink = Sink()
    recorder = Recorder(lambda _: (signal(Level.HINT),))
    run = ExecutionContext(monitor=recorder, pipeline=sink)
    run.wrap_tool_call(lambda: "x")()
    assert sink.events == [{"event_type": "LOOP_SIGNAL", "severity": "hint", **signal(Level.HINT).to_dict()}]
    assert run.take_hints() == [signal(Level.HINT).message]
    assert run.take_hints() == []


@pytest.mark.clause("X02")
def test_a_blocked_call_is_not_made() -> None:
    """Once the monitor blocks a loop it sees calls first, and can refuse one; others go on."""

    def plan(call: Event) -> tuple[Signal, ...]:
        return (signal(Level.BLOCK),) if call.args == {"place": "attic"} else ()

    recorder = Recorder(plan)
    made: list[str] = []

    def search(place: str) -> None:
        made.append(place)

    run = ExecutionContext(Limits(steps=10), monitor=recorder)
    look = run.wrap_tool_call(search, name="look")
    look("attic")
    for _ in range(2):
        with pytest.raises(CallBlocked) as blocked:
            look("attic")
        assert blocked.value.signal == signal(Level.BLOCK)
        assert str(blocked.value) == signal(Level.BLOCK).message
    look("cellar")
    assert made == ["attic", "cellar"]
    assert [call.phase for call in recorder.calls] == [
        Phase.FINISHED,
        Phase.STARTED,
        Phase.STARTED,
        Phase.STARTED,
        Phase.FINISHED,
    ]
    assert run.report().spent.steps == 2
    assert [node["status"] for node in run.graph.snapshot()["nodes"].values()][1:] == [
        "success",
        "halt",
        "halt",
        "success",
    ]


@pytest.mark.clause("X02")
@pytest.mark.parametrize("level", list(Level))
def test_a_run_that_only_looks_on_is_never_refused(level: Level) -> None:
    """With stop_on_loops off, signals are told and hints kept, and every call is made."""
    sink = Sink()
    run = ExecutionContext(monitor=Recorder(lambda _: (signal(level),)), pipeline=sink, stop_on_loops=False)
    look = run.wrap_tool_call(lambda place: place)
    assert [look("attic") for _ in range(4)] == ["attic"] * 4
    assert list(run.wrap_tool_call(lambda: (word for word in "abc"))()) == ["a", "b", "c"]
    assert run.report().halted is None
    assert len(run.take_hints()) == len(sink.events) - 1 == 5


@pytest.mark.clause("X02")
def test_a_loop_ends_the_run() -> None:
    """At the level stop no more calls are let through, and what was done is attached."""
    run = ExecutionContext(monitor=Recorder(lambda _: (signal(Level.STOP),)))
    look = run.wrap_tool_call(lambda place: place)
    assert look("attic") == "attic"
    for _ in range(2):
        with pytest.raises(LoopHalted) as halt:
            look("cellar")
        assert halt.value.signal == signal(Level.STOP)
        assert halt.value.done.results == ("attic",)
    assert isinstance(run.report().halted, LoopHalted)


def test_a_stream_is_cut_by_a_loop() -> None:
    """A model that chants is cut while it streams."""

    def plan(call: Event) -> tuple[Signal, ...]:
        return (signal(Level.STOP),) if call.name == "stream" and call.text == "no" else ()

    run = ExecutionContext(monitor=Recorder(plan))
    read = []
    say = run.wrap_llm_call(lambda: (word for word in ["yes", "no", "no", "no"]))
    with pytest.raises(LoopHalted):
        read.extend(word for word in say())
    assert read == ["yes", "no"]


@pytest.mark.clause("X01", "X02")
def test_an_agent_that_is_stuck_is_stopped_with_the_reason() -> None:
    """A loop that ignores every hint ends long before its limit; a healthy run of that length does not."""
    run = ExecutionContext(Limits(steps=1000), monitor=LoopMonitor())
    look = run.wrap_tool_call(lambda path: f"nothing in {path}", name="ls")
    refused = 0

    def agent() -> None:
        nonlocal refused
        while True:
            try:
                look(path=".")
            except CallBlocked:
                refused += 1

    with pytest.raises(LoopHalted) as halt, run:
        agent()
    assert halt.value.signal.kind is LoopKind.REPEAT
    assert refused > 0
    assert halt.value.done.spent.steps < 20
    assert run.take_hints()
    healthy = ExecutionContext(Limits(steps=1000), monitor=LoopMonitor())
    read = healthy.wrap_tool_call(lambda path: f"content of {path}", name="read")
    for number in range(500):
        read(path=f"file {number}")
    assert not healthy.take_hints()


@pytest.mark.clause("X02")
def test_sixty_four_threads_with_everything_on() -> None:
    """Graph, monitor, pipeline and limits at once from 64 threads: every call is counted everywhere."""
    sink, recorder = Sink(), Recorder()
    run = ExecutionContext(Limits(steps=6400), pipeline=sink, monitor=recorder, graph=ExecutionGraph())
    look = run.wrap_tool_call(lambda place: place)
    ready = threading.Barrier(64)

    def work(number: int) -> None:
        ready.wait()
        for turn in range(100):
            look(f"{number} {turn}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = run.report()
    assert report.spent.steps == report.spent.tool_calls == len(recorder.calls) == 6400
    assert run.graph.snapshot()["aggregates"]["total_steps"] == 6400
    assert [event["event_type"] for event in sink.events].count("divergence_suspected") == 1
    assert [call.ts for call in recorder.calls] == sorted(call.ts or 0.0 for call in recorder.calls)
    assert not report.degraded
