"""Who looks on never breaks the run (divergence spec, 2.5)."""

import math
import threading
from collections.abc import Callable
from typing import Any

import pytest

from ebbtide.budget.limits import Limits
from ebbtide.budget.prices import Prices
from ebbtide.divergence.graph.execution_graph import ExecutionGraph
from ebbtide.errors import ConfigError
from ebbtide.events.event import Event, ModelCall, ModelPart, Phase, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.guard.execution_context import ExecutionContext
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict


class Broken:
    """A pipeline and a supervisor that fail whenever they are asked."""

    def emit_safety_event(self, event: dict[str, Any]) -> None:
        raise RuntimeError(event["event_type"])

    def record(self, event: Event) -> Verdict:
        raise LookupError(type(event).__name__)

    def check_before_model(self, chain_id: str | None = None, *, now: float | None = None) -> Verdict:
        raise LookupError(chain_id, now)

    def ending(self, chain_id: str) -> Verdict | None:
        raise LookupError(chain_id)


class BrokenGraph(ExecutionGraph):
    """A graph that can begin a chain and nothing else."""

    def begin_node(self, *_: Any) -> str:
        raise MemoryError


class SilentError(Exception):
    """An error without words."""

    def __str__(self) -> str:
        raise RuntimeError


class Recorder(Supervisor):
    """A supervisor that keeps what it is told, and answers an event as planned."""

    def __init__(self, plan: Callable[[Event], Any] = lambda _: Verdict()) -> None:
        super().__init__()
        self.events_recorded: list[Any] = []
        self.plan = plan

    def record(self, event: Any) -> Verdict:
        self.events_recorded.append(event)
        verdict: Verdict = self.plan(event)
        return verdict


class Sink:
    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def emit_safety_event(self, event: dict[str, Any]) -> None:
        self.events.append(event)


@pytest.mark.clause("X02")
def test_a_broken_pipeline_and_supervisor_break_nothing() -> None:
    """Every result is right, every fault is counted by where it was, and the report says so."""
    graph = ExecutionGraph()
    run = ExecutionContext(Limits(steps=6), pipeline=Broken(), supervisor=Broken(), graph=graph)
    look = run.wrap_tool_call(lambda place: place)
    assert [look("attic") for _ in range(4)] == ["attic"] * 4
    report = run.report()
    assert report.degraded
    assert report.faults == {"supervisor": 8, "pipeline": 1}  # the repeats of the graph
    assert report.last_fault == "supervisor: LookupError: ToolCall"
    assert run.wrap_llm_call(lambda: "answered")() == "answered"
    assert run.report().faults == {"supervisor": 10, "pipeline": 2}  # asked before it; and 70 % of the steps
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

    options: Any = {"at_most": lambda: None, where: broken}
    run = ExecutionContext(Limits(cost_usd=1.0), supervisor=Recorder())
    ask = run.wrap_llm_call(lambda: "answered", **options)
    assert ask() == "answered"
    report = run.report()
    assert report.faults == {where: 1}
    assert report.spent.unpriced_calls == 1


@pytest.mark.clause("X02")
@pytest.mark.parametrize("answer", [None, 5, (None,), ["stop"], iter("x")])
def test_a_supervisor_that_gives_something_else(answer: Any) -> None:
    """What is no verdict is a fault, and stops nothing, in the middle of a stream either."""
    run = ExecutionContext(supervisor=Recorder(lambda _: answer))
    assert run.wrap_tool_call(lambda: "x")() == "x"
    assert run.report().faults == {"supervisor": 1}
    assert list(run.wrap_llm_call(lambda: (word for word in "abc"))()) == ["a", "b", "c"]
    assert run.report().faults == {"supervisor": 5}


class HostileError(Exception):
    """An error of a library that fails when it is looked at."""

    def __str__(self) -> str:
        raise RuntimeError

    __repr__ = __str__

    @property
    def status_code(self) -> int:
        raise RuntimeError


def test_an_error_that_fails_when_it_is_looked_at() -> None:
    """It comes through as it is, and the supervisor gets its name."""
    recorder = Recorder()
    run = ExecutionContext(supervisor=recorder)

    def busy() -> None:
        raise HostileError

    with pytest.raises(HostileError):
        run.wrap_tool_call(busy)()
    assert [(call.result, call.status) for call in recorder.events_recorded] == [("HostileError", None)]
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
    graph = ExecutionGraph()
    run = ExecutionContext(Limits(cost_usd=1e12, tokens=10**12), graph=graph)
    run.wrap_llm_call(lambda: "x", usage=lambda _: most)()
    report = run.report()
    assert (report.spent.cost_usd, report.spent.tokens) == (1e12, 4 * 10**11)
    assert not report.degraded
    assert graph.snapshot()["nodes"]["n2"]["status"] == "success"


class Locked:
    """A pipeline with a lock that must not be asked for twice."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.types: list[str] = []
        self.answer: Any = None

    def emit_safety_event(self, event: dict[str, Any]) -> None:
        assert self.lock.acquire(timeout=1)
        self.answer = None
        self.types.append(event["event_type"])
        self.lock.release()


def test_a_stream_that_is_dropped_inside_the_pipeline() -> None:
    """The garbage collector may come at any time: what it settles goes out with the next call."""
    sink = Locked()
    run = ExecutionContext(Limits(cost_usd=1.0), pipeline=sink, graph=ExecutionGraph())
    ask = run.wrap_llm_call(lambda: (word for word in "abc"), at_most=Usage(cost_usd=0.8))
    sink.answer = ask()
    next(sink.answer)
    for _ in range(3):
        run.wrap_tool_call(lambda: "x", name="look")()
    assert sink.types == ["divergence_suspected"]
    assert run.report().spent.cost_usd == 0.8
    assert sink.types == ["divergence_suspected", "LIMIT_WARNING", "COST_UNKNOWN"]
    assert not run.report().degraded


def test_a_usage_that_is_none() -> None:
    """Whatever is put into the usage of a call by hand, the run goes on."""
    run = ExecutionContext()
    with run.call("llm", "ask") as call:
        call.usage = 0.5
    assert run.report().faults == {"usage": 1}


def test_a_pipeline_that_nobody_would_await() -> None:
    """An asynchronous pipeline would lose every event in silence: it is refused at once."""

    class Asynchronous:
        async def emit_safety_event(self, event: dict[str, Any]) -> None:
            raise AssertionError(event)

    with pytest.raises(ConfigError, match=r"Asynchronous\.emit_safety_event is asynchronous"):
        ExecutionContext(pipeline=Asynchronous())


@pytest.mark.clause("X02")
def test_what_the_supervisor_is_told() -> None:
    """Tools come with arguments by name and result or error, models with their text and what they took."""
    recorder = Recorder()
    now = iter(range(100))
    run = ExecutionContext(supervisor=recorder, clock=lambda: float(next(now)), chain_id="c")

    def look(place: str, *more: str, deep: bool = False) -> dict[str, Any]:
        return {"place": place, "more": more, "deep": deep}

    usage = Usage(cost_usd=0.25, input_tokens=3, output_tokens=2)
    run.wrap_tool_call(look)("attic", "box", "lid", deep=True)
    run.wrap_llm_call(lambda _: "I see", name="ask", usage=lambda _: usage)("a long conversation")
    run.wrap_llm_call(lambda: {"text": "I see"}, text=lambda answer: answer["text"], model="m")()
    run.wrap_llm_call(lambda: {"text": "I see"})()
    error = ConnectionError("busy")
    error.status_code = 503

    def busy(place: str) -> None:
        raise error

    with pytest.raises(ConnectionError):
        run.wrap_tool_call(busy)("attic")
    list(run.wrap_llm_call(lambda: (word for word in ("I ", "see")))())
    events = recorder.events_recorded
    assert {event.chain_id for event in events} == {"c"}
    assert [event.ts for event in events] == sorted(event.ts or 0.0 for event in events)
    assert [(type(event), getattr(event, "text", None), event.error) for event in events] == [
        (ToolCall, None, False),
        (ModelCall, "I see", False),
        (ModelCall, "I see", False),
        (ModelCall, None, False),
        (ToolCall, None, True),
        (ModelCall, "I ", False),
        (ModelCall, "see", False),
        (ModelCall, None, False),
    ]
    assert [event.part for event in events if isinstance(event, ModelCall)] == [
        *[ModelPart.WHOLE] * 3,
        *[ModelPart.CHUNK] * 2,
        ModelPart.WHOLE,
    ]
    assert {event.phase for event in events if isinstance(event, ToolCall)} == {Phase.FINISHED}
    assert events[0].args == {"place": "attic", "*": ("box", "lid"), "deep": True}
    assert events[0].result == {"place": "attic", "more": ("box", "lid"), "deep": True}
    assert [event.usage for event in events[:3]] == [None, usage, None]
    assert (events[4].name, events[4].args, events[4].result, events[4].status) == (
        "busy",
        {"place": "attic"},
        "ConnectionError: busy",
        503,
    )


def test_a_tool_that_returns_nothing_has_answered() -> None:
    """Its answer is empty, which is known, and not an answer that nobody knows."""
    recorder = Recorder()
    run = ExecutionContext(supervisor=recorder)
    run.wrap_tool_call(lambda: None, name="save")()
    assert [call.result for call in recorder.events_recorded] == [""]
    watched = ExecutionContext(supervisor=Supervisor())
    for _ in range(3):
        watched.wrap_tool_call(lambda: None, name="ls")()
    (nudge,) = watched.take_nudges()
    assert nudge.startswith("The same call returned the same result again")


def test_what_a_tool_says_that_it_took_reaches_the_supervisor() -> None:
    """A tool without a meter takes nothing, unless whoever runs it says what it took."""
    recorder = Recorder()
    run = ExecutionContext(supervisor=recorder)
    with run.call("tool", "search") as call:
        call.usage = Usage(cost_usd=0.25)
    with run.call("tool", "search"):
        pass
    with pytest.raises(KeyError), run.call("tool", "search"):
        raise KeyError
    assert [call.usage for call in recorder.events_recorded] == [Usage(cost_usd=0.25), None, None]


@pytest.mark.clause("X02")
def test_sixty_four_threads_with_everything_on() -> None:
    """Graph, supervisor, pipeline and limits at once from 64 threads: every call is counted everywhere."""
    sink, recorder, graph = Sink(), Recorder(), ExecutionGraph()
    run = ExecutionContext(Limits(steps=6400), pipeline=sink, supervisor=recorder, graph=graph)
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
    assert report.spent.steps == report.spent.tool_calls == len(recorder.events_recorded) == 6400
    assert graph.snapshot()["aggregates"]["total_steps"] == 6400
    assert [event["event_type"] for event in sink.events].count("divergence_suspected") == 1
    times = [event.ts for event in recorder.events_recorded]
    assert times == sorted(times)
    assert not report.degraded


@pytest.mark.clause("X02")
def test_a_graph_is_drawn_only_where_one_is_given() -> None:
    """Without one, limits and the supervisor work as before, and the pipeline hears of no repeats."""
    sink = Sink()
    run = ExecutionContext(Limits(steps=5), supervisor=Supervisor(), pipeline=sink)
    with run:
        look = run.wrap_tool_call(lambda place: place, name="ls")
        for _ in range(3):
            look("attic")
    assert run.graph is None
    assert [event["event_type"] for event in sink.events] == ["VERDICT"]
    assert len(run.take_nudges()) == 1
    assert run.report().spent.steps == 3
    assert sink.events[0]["chain_id"] == run.report().chain_id
    assert not run.report().degraded


@pytest.mark.clause("X01", "X02", "X03")
def test_with_a_graph_repeats_are_reported_as_well() -> None:
    """The node of each call, the spec's event of a repeat, and the verdict, under the name of one chain."""
    sink, graph = Sink(), ExecutionGraph("chain-9")
    run = ExecutionContext(Limits(steps=5), supervisor=Supervisor(), pipeline=sink, graph=graph)
    look = run.wrap_tool_call(lambda place: place, name="ls")
    for _ in range(3):
        look("attic")
    assert run.graph is graph
    assert [event["event_type"] for event in sink.events] == ["divergence_suspected", "VERDICT"]
    assert {event["chain_id"] for event in sink.events} == {"chain-9"}
    assert [node["name"] for node in graph.snapshot()["nodes"].values()] == ["run", *["ls"] * 3]
    context = ExecutionContext(graph=ExecutionGraph("chain-9"), chain_id="mine")
    assert context.report().chain_id == "mine"
