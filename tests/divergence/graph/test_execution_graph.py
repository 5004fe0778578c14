"""The execution graph (divergence spec, sections 2 to 8)."""

import json
import math
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.divergence.graph.execution_graph import ExecutionGraph, NodeSignature
from ebbtide.errors import ConfigError, UnknownNodeError


class Clock:
    """A clock that stands where it is put."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def run(graph: ExecutionGraph, *calls: NodeSignature) -> list[list[dict[str, Any]]]:
    """Start one node a call below a new root; the events that each start brought."""
    root = graph.create_root("agent_run")
    events = []
    for kind, name in calls:
        graph.mark_running(graph.begin_node(root, kind, name))
        events.append(graph.drain_divergence_events())
    return events


def divergence(kind: str, name: str, count: int) -> dict[str, Any]:
    return {
        "event_type": "divergence_suspected",
        "severity": "warn",
        "signature": [kind, name],
        "repeat_count": count,
        "chain_id": "chain-abc-123",
    }


API = ("tool", "call_api")
GENERATE = ("llm", "generate")
A, B, C = ("tool", "a"), ("tool", "b"), ("tool", "c")


@pytest.mark.clause("D05", "D07", "D09")
@pytest.mark.parametrize(
    ("calls", "events"),
    [
        pytest.param([API] * 5, {3: divergence(*API, 3)}, id="7.1"),
        pytest.param([GENERATE] * 6, {5: divergence(*GENERATE, 5)}, id="7.2"),
        pytest.param([A, B, A, B], {}, id="7.3"),
    ],
)
@pytest.mark.parametrize("max_cycle_period", [None, 8])
def test_the_worked_traces(
    calls: list[NodeSignature], events: dict[int, dict[str, Any]], max_cycle_period: int | None
) -> None:
    """Each trace of section 7 gives exactly the stated events, with cycles looked for as well as without."""
    graph = ExecutionGraph("chain-abc-123", max_cycle_period=max_cycle_period)
    found = run(graph, *calls)
    assert {number: got[0] for number, got in enumerate(found, start=1) if got} == events
    assert sum(map(len, found)) == len(events)
    assert list(graph.snapshot()["nodes"]) == [f"n{number}" for number in range(1, len(calls) + 2)]


@pytest.mark.clause("D01")
def test_a_signature_is_kind_and_name() -> None:
    """Calls of one name and two kinds are two signatures."""
    assert NodeSignature == tuple[str, str]
    found = run(ExecutionGraph(), ("tool", "x"), ("tool", "x"), ("llm", "x"), ("tool", "x"))
    assert not any(found)


@pytest.mark.clause("D02")
def test_the_ring_holds_the_last_eight() -> None:
    """The window has the last eight signatures in the order of mark_running, not of begin_node."""
    graph = ExecutionGraph()
    root = graph.create_root("r")
    nodes = [graph.begin_node(root, "tool", str(number)) for number in range(12)]
    for node in reversed(nodes):
        graph.mark_running(node)
    assert graph.snapshot()["window"] == [["tool", str(number)] for number in range(7, -1, -1)]


@pytest.mark.clause("D02")
@pytest.mark.parametrize("ended", [False, True])
def test_an_idempotent_mark_counts(ended: bool) -> None:
    """Marking one node three times is three entries of the ring, one step, and leaves its status alone."""
    graph = ExecutionGraph()
    node = graph.begin_node(graph.create_root("r"), "tool", "x")
    graph.mark_running(node)
    if ended:
        graph.mark_success(node)
    before = graph.snapshot()["nodes"][node]
    graph.mark_running(node)
    graph.mark_running(node)
    after = graph.snapshot()
    assert [event["repeat_count"] for event in graph.drain_divergence_events()] == [3]
    assert after["nodes"][node] == before
    assert after["aggregates"]["total_steps"] == 1
    assert after["aggregates"]["ignored_marks"] == (2 if ended else 0)


@pytest.mark.clause("D03")
@pytest.mark.parametrize(
    ("window", "fires"), [([A, B, A, C, C, C], True), ([A, B, C, A, B, A], False), ([C, C, A, C], False)]
)
def test_only_the_tail_counts(window: list[NodeSignature], fires: bool) -> None:
    """Consecutive entries at the end count, the same entries further back do not."""
    assert bool(run(ExecutionGraph(), *window)[-1]) is fires


@pytest.mark.clause("D04")
@pytest.mark.parametrize(
    ("thresholds", "kind", "at"),
    [
        (None, "tool", 3),
        (None, "llm", 5),
        (None, "system", None),
        (None, "memory", None),
        ({"tool": 2}, "tool", 2),
        ({"tool": 2}, "llm", 5),
        ({"memory": 8}, "memory", 8),
        ({"memory": 9}, "memory", None),
        ({"llm": 1}, "llm", 1),
    ],
)
def test_thresholds(thresholds: dict[str, int] | None, kind: str, at: int | None) -> None:
    """Each kind has its threshold, unknown kinds 999; what eight signatures cannot hold never fires."""
    found = run(ExecutionGraph(thresholds=thresholds), *[(kind, "x")] * 30)
    assert [number for number, events in enumerate(found, start=1) if events] == ([] if at is None else [at])


@pytest.mark.clause("D06")
def test_a_suspicion_halts_nothing() -> None:
    """After a warning the graph goes on as before, and every call may succeed."""
    graph = ExecutionGraph()
    root = graph.create_root("r")
    for _ in range(50):
        node = graph.begin_node(root, "tool", "x")
        graph.mark_running(node)
        graph.mark_success(node)
    assert graph.snapshot()["aggregates"]["total_steps"] == 50
    assert len(graph.drain_divergence_events()) == 1


@pytest.mark.clause("D07")
def test_each_signature_fires_once_in_a_chain() -> None:
    """A streak that comes back is not told again; another graph, or another signature, tells its own."""
    calls = [A] * 3 + [B] * 3 + [A] * 5 + [B] * 5
    assert [bool(events) for events in run(ExecutionGraph(), *calls)] == [
        number in (2, 5) for number in range(len(calls))
    ]
    assert any(run(ExecutionGraph(), *calls))


@pytest.mark.clause("D08")
def test_a_call_counts_when_it_is_about_to_run() -> None:
    """The third call is told at mark_running, before its outcome, also where the others never completed."""
    graph = ExecutionGraph()
    root = graph.create_root("r")
    for _ in range(2):
        node = graph.begin_node(root, "tool", "x")
        graph.mark_running(node)
        graph.mark_halt(node, "budget")
    third = graph.begin_node(root, "tool", "x")
    assert graph.drain_divergence_events() == []
    graph.mark_running(third)
    assert len(graph.drain_divergence_events()) == 1


@pytest.mark.clause("D10")
@pytest.mark.parametrize("period", [2, 3, 5, 8])
def test_a_cycle_is_told_after_three_full_turns(period: int) -> None:
    """A cycle up to the bound has an event type of its own, once, wherever in the cycle the calls begin."""
    turn = [("tool", chr(ord("a") + number)) for number in range(period)]
    graph = ExecutionGraph("c", max_cycle_period=8)
    found = run(graph, *turn * 6, ("tool", "other"), *turn[1:], *turn * 4)
    reports = {number: events for number, events in enumerate(found, start=1) if events}
    assert reports == {
        3 * period: [
            {
                "event_type": "cycle_suspected",
                "severity": "warn",
                "signatures": [list(signature) for signature in turn],
                "period": period,
                "repeat_count": 3,
                "chain_id": "c",
            }
        ]
    }
    assert graph.snapshot()["aggregates"]["divergence_emitted_count"] == 0


@pytest.mark.clause("D10")
def test_cycles_are_bounded_and_off_by_default() -> None:
    """A longer cycle than asked for is not told, and none is told unless asked for."""
    turn = [A, B, C]
    assert not any(run(ExecutionGraph(), *turn * 20))
    assert not any(run(ExecutionGraph(max_cycle_period=2), *turn * 20))
    graph_events = run(ExecutionGraph(max_cycle_period=3), *[A] * 20)
    assert [event["event_type"] for events in graph_events for event in events] == ["divergence_suspected"]


@pytest.mark.clause("D14")
def test_names_of_a_group_count_as_one() -> None:
    """The signature has the group, the node keeps its name; an exact name comes before a pattern."""
    groups = {"search_*": "search", "search_code": "code"}
    graph = ExecutionGraph("c", groups=groups)
    found = run(graph, ("tool", "search_web"), ("tool", "search_docs"), ("tool", "search_code"))
    assert not any(found)
    root = graph.snapshot()["root_id"]
    names = ["search_mail", "search_web", "search_mail"]
    for name in names:
        graph.mark_running(graph.begin_node(root, "tool", name))
    (event,) = graph.drain_divergence_events()
    assert event["signature"] == ["tool", "search"]
    assert [node["name"] for node in graph.snapshot()["nodes"].values()][-3:] == names


def spend(graph: ExecutionGraph, clock: Clock, at: float, **amounts: Any) -> list[dict[str, Any]]:
    clock.now = at
    root = graph.snapshot()["root_id"] or graph.create_root("r")
    node = graph.begin_node(root, "llm", f"call at {at}")
    graph.mark_running(node)
    graph.mark_success(node, **amounts)
    return graph.drain_divergence_events()


@pytest.mark.clause("V01", "V04")
def test_cost_rate_over_the_age_of_the_graph() -> None:
    """Total cost over the time since construction, above 0.10 USD a second, told at mark_success."""
    clock = Clock(100.0)
    graph = ExecutionGraph("chain-xyz", clock=clock)
    assert spend(graph, clock, 110.0, cost_usd=0.6) == []
    assert spend(graph, clock, 110.0, cost_usd=0.4) == []  # exactly 0.10
    assert spend(graph, clock, 116.0, cost_usd=1.4) == [
        {
            "event_type": "COST_RATE_EXCEEDED",
            "severity": "warn",
            "cost_rate": pytest.approx(0.15),
            "threshold": 0.1,
            "node_id": "n4",
            "chain_id": "chain-xyz",
        }
    ]


@pytest.mark.clause("V02")
def test_token_velocity_over_the_age_of_the_graph() -> None:
    """Output tokens of all nodes over the time since construction, above 500 a second."""
    clock = Clock()
    graph = ExecutionGraph("chain-xyz", clock=clock)
    assert spend(graph, clock, 2.0, tokens_in=10**9, tokens_out=1000) == []
    assert spend(graph, clock, 2.0, tokens_out=1) == [
        {
            "event_type": "TOKEN_VELOCITY_EXCEEDED",
            "severity": "warn",
            "token_velocity": 500.5,
            "threshold": 500,
            "node_id": "n3",
            "chain_id": "chain-xyz",
        }
    ]


@pytest.mark.clause("V03")
def test_each_rate_is_told_once() -> None:
    """Both rates can be told by one node; afterwards neither is told again."""
    clock = Clock()
    graph = ExecutionGraph(clock=clock)
    reports = [event["event_type"] for event in spend(graph, clock, 1.0, cost_usd=1.0, tokens_out=501)]
    assert reports == ["COST_RATE_EXCEEDED", "TOKEN_VELOCITY_EXCEEDED"]
    assert spend(graph, clock, 2.0, cost_usd=100.0, tokens_out=10**6) == []


@pytest.mark.clause("V04")
@pytest.mark.parametrize(("age", "fires"), [(0.0, False), (0.000999, False), (0.001, True)])
def test_a_chain_younger_than_a_millisecond_has_no_rate(age: float, fires: bool) -> None:
    """Below 1 ms nothing is told; what was spent then counts at the next success."""
    clock = Clock()
    graph = ExecutionGraph(clock=clock)
    assert bool(spend(graph, clock, age, cost_usd=1.0)) is fires
    assert bool(spend(graph, clock, 1.0)) is not fires


@pytest.mark.clause("V05")
@pytest.mark.parametrize(
    ("threshold", "cost", "fires"),
    [(0.0, 1e-9, True), (0.0, 0.0, False), (0, 1e-9, True), (math.inf, 1e12, False)],
)
def test_the_ends_of_a_threshold(threshold: float, cost: float, fires: bool) -> None:
    """0 makes any cost due, and no cost is none; inf switches the alarm off."""
    clock = Clock()
    graph = ExecutionGraph(
        cost_rate_threshold_usd_per_sec=threshold, token_velocity_threshold=threshold, clock=clock
    )
    reports = spend(graph, clock, 3600.0, cost_usd=cost, tokens_out=int(cost > 0))
    assert len(reports) == (2 if fires else 0)


@pytest.mark.clause("V05")
@pytest.mark.parametrize("name", ["cost_rate_threshold_usd_per_sec", "token_velocity_threshold"])
@pytest.mark.parametrize("value", [math.nan, -0.1, -math.inf, True, "0.1", None])
def test_a_threshold_that_is_none(name: str, value: Any) -> None:
    """A threshold that is negative or not a number is a ValueError with its name and value."""
    with pytest.raises(ConfigError, match=f"{name} = {value!r}"):
        ExecutionGraph(**{name: value})
    assert issubclass(ConfigError, ValueError)


@pytest.mark.clause("V06")
def test_aggregates() -> None:
    """Costs and output tokens of successes add up, steps are the nodes that ran, unknown counts nothing."""
    graph = ExecutionGraph()
    root = graph.create_root("r")
    nodes = [graph.begin_node(root, "llm", str(number)) for number in range(6)]
    for node in nodes[:4]:
        graph.mark_running(node)
    graph.mark_success(nodes[0], cost_usd=0.25, tokens_in=7, tokens_out=11)
    graph.mark_success(nodes[1], 0.5)
    graph.mark_failure(nodes[2], "TimeoutError")
    graph.mark_halt(nodes[3], "budget")
    graph.mark_success(nodes[4], tokens_out=4)  # never announced, but it ran
    found = graph.snapshot()["aggregates"]
    assert found["total_cost_usd"] == 0.75
    assert found["total_tokens_out"] == 15
    assert found["total_steps"] == 5
    assert found["divergence_emitted_count"] == 0


@pytest.mark.clause("V07", "V08")
def test_draining_clears_and_is_what_counts() -> None:
    """A second drain is empty; an event counts once it was drained, rate events never do."""
    clock = Clock()
    graph = ExecutionGraph(clock=clock)
    root = graph.create_root("r")
    clock.now = 1.0
    for _ in range(3):
        node = graph.begin_node(root, "tool", "x")
        graph.mark_running(node)
        graph.mark_success(node, cost_usd=1.0)
    assert graph.snapshot()["aggregates"]["divergence_emitted_count"] == 0
    assert len(graph.drain_divergence_events()) == 2
    assert graph.snapshot()["aggregates"]["divergence_emitted_count"] == 1
    assert graph.drain_divergence_events() == []


@pytest.mark.clause("V07")
def test_sixty_four_threads() -> None:
    """Nothing is lost or told twice when 64 threads run calls and drain at once."""
    graph = ExecutionGraph(cost_rate_threshold_usd_per_sec=0.0, token_velocity_threshold=math.inf)
    root = graph.create_root("r")
    reports: list[dict[str, Any]] = []
    errors: list[BaseException] = []
    ready = threading.Barrier(64)

    def work(number: int) -> None:
        try:
            ready.wait()
            for turn in range(200):
                node = graph.begin_node(root, "tool", f"tool {number % 8}")
                graph.mark_running(node)
                reports.extend(graph.drain_divergence_events())
                graph.mark_success(node, cost_usd=0.5, tokens_out=1)
                if turn % 100 == 0:
                    json.dumps(graph.snapshot())
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    reports.extend(graph.drain_divergence_events())
    aggregates = graph.snapshot()["aggregates"]
    assert aggregates["total_steps"] == aggregates["total_tokens_out"] == 64 * 200
    assert aggregates["total_cost_usd"] == 32 * 200
    assert len(graph.snapshot()["nodes"]) == 1 + 64 * 200
    signatures = [
        tuple(event["signature"]) for event in reports if event["event_type"] == "divergence_suspected"
    ]
    assert len(signatures) == len(set(signatures)) == aggregates["divergence_emitted_count"]
    assert sum(event["event_type"] == "COST_RATE_EXCEEDED" for event in reports) == 1


@pytest.mark.clause("X03")
def test_a_node_has_links_depth_timing_and_outcome() -> None:
    """The snapshot tells where a call hangs, when it ran, and what became of it."""
    clock = Clock(50.0)
    graph = ExecutionGraph("c", clock=clock)
    root = graph.create_root("agent_run", metadata={"user": "ana"})
    ask = graph.begin_node(root, "llm", "generate", model="small-1")
    clock.now = 51.0
    graph.mark_running(ask)
    look = graph.begin_node(ask, "tool", "look", metadata={"path": ["a", 1]})
    clock.now = 53.5
    graph.mark_success(ask, cost_usd=0.5, tokens_in=3, tokens_out=2)
    graph.mark_failure(look, "KeyError", stop_reason="no such path")
    found = graph.snapshot()
    assert (found["chain_id"], found["root_id"], found["elapsed_s"]) == ("c", root, 3.5)
    assert found["nodes"][root]["metadata"] == {"user": "ana"}
    assert found["nodes"][root]["status"] == "created"
    assert found["nodes"][ask] == {
        "node_id": ask,
        "parent_id": root,
        "kind": "llm",
        "name": "generate",
        "depth": 1,
        "status": "success",
        "model": "small-1",
        "started_s": 1.0,
        "ended_s": 3.5,
        "cost_usd": 0.5,
        "tokens_in": 3,
        "tokens_out": 2,
        "error_class": None,
        "stop_reason": None,
        "metadata": {},
    }
    look_node = found["nodes"][look]
    assert (look_node["parent_id"], look_node["depth"], look_node["started_s"]) == (ask, 2, None)
    assert (look_node["status"], look_node["error_class"]) == ("fail", "KeyError")
    assert look_node["stop_reason"] == "no such path"


@pytest.mark.clause("X03")
def test_a_snapshot_is_detached() -> None:
    """Changing a snapshot, or metadata that was given, changes nothing in the graph; taking one neither."""
    graph = ExecutionGraph(clock=Clock())
    metadata = {"list": [1]}
    root = graph.create_root("r", metadata=metadata)
    node = graph.begin_node(root, "tool", "x")
    graph.mark_running(node)
    before = json.dumps(graph.snapshot(), allow_nan=False)
    metadata["list"].append(2)
    taken = graph.snapshot()
    taken["nodes"][root]["metadata"]["list"].append(3)
    taken["window"][0][0] = "other"
    taken["nodes"].clear()
    assert json.dumps(graph.snapshot(), allow_nan=False) == before


@pytest.mark.clause("X03")
@pytest.mark.parametrize("first", ["mark_success", "mark_failure", "mark_halt"])
@pytest.mark.parametrize("second", ["mark_success", "mark_failure", "mark_halt"])
@pytest.mark.parametrize("started", [False, True])
def test_the_first_outcome_stays(first: str, second: str, started: bool) -> None:
    """A node may end unstarted; another outcome afterwards is ignored, costs included, and counted."""
    graph = ExecutionGraph(clock=Clock())
    node = graph.begin_node(graph.create_root("r"), "tool", "x")
    if started:
        graph.mark_running(node)
    getattr(graph, first)(node)
    before = graph.snapshot()
    if second == "mark_success":
        graph.mark_success(node, cost_usd=1.0, tokens_out=5)
    else:
        getattr(graph, second)(node)
    after = graph.snapshot()
    assert before["aggregates"].pop("ignored_marks") == 0
    assert after["aggregates"].pop("ignored_marks") == 1
    assert after == before


@pytest.mark.parametrize("method", ["mark_running", "mark_success", "mark_failure", "mark_halt"])
@pytest.mark.parametrize(
    "node_id", ["nope", "n3", "n0", "n-1", "n02", "n1_0", "", "n", None, 1, "n" + "9" * 5000]
)
def test_an_id_that_was_never_given_out(method: str, node_id: Any) -> None:
    """A mark for an unknown node, or a call below one, is an error that names the id."""
    graph = ExecutionGraph("chain")
    graph.begin_node(graph.create_root("r"), "tool", "x")
    with pytest.raises(UnknownNodeError, match="was never begun in chain 'chain'"):
        getattr(graph, method)(node_id)
    with pytest.raises(KeyError):
        graph.begin_node(node_id, "tool", "x")
    assert graph.snapshot()["aggregates"]["ignored_marks"] == 0


@pytest.mark.parametrize(
    "amounts",
    [
        {name: value}
        for name in ("cost_usd", "tokens_in", "tokens_out")
        for value in (-1, math.nan, math.inf, "1", True)
    ]
    + [{"tokens_out": 1.5}, {"cost_usd": 1.1e12}, {"tokens_in": 10**13}, {"tokens_out": 10**13}],
)
def test_amounts_that_are_none(amounts: dict[str, Any]) -> None:
    """A negative, endless or wrong cost or count is refused, and the node can still be marked."""
    graph = ExecutionGraph()
    node = graph.begin_node(graph.create_root("r"), "llm", "x")
    with pytest.raises(ConfigError, match=next(iter(amounts))):
        graph.mark_success(node, **amounts)
    assert graph.snapshot()["nodes"][node]["status"] == "created"
    graph.mark_success(node, cost_usd=1, tokens_in=0, tokens_out=10**12)
    assert graph.snapshot()["aggregates"]["total_cost_usd"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        {"max_nodes": 0},
        {"max_nodes": True},
        {"max_nodes": 1.5},
        {"max_cycle_period": 0},
        {"thresholds": {"tool": 0}},
        {"thresholds": {"tool": 2.5}},
        {"groups": {"a": 1}},
        {"clock": Clock(math.nan)},
        {"clock": Clock(math.inf)},
    ],
)
def test_bounds_that_are_none(arguments: dict[str, Any]) -> None:
    """A bound, threshold, group or clock that cannot be used is refused at construction."""
    with pytest.raises(ConfigError):
        ExecutionGraph(**arguments)


def test_a_chain_has_one_root() -> None:
    """A second root is refused."""
    graph = ExecutionGraph()
    graph.create_root("r")
    with pytest.raises(ConfigError, match="has a root already"):
        graph.create_root("s")


@pytest.mark.parametrize("metadata", [{"x": object()}, {"x": math.nan}, [1], "text"])
def test_metadata_that_json_cannot_carry(metadata: Any) -> None:
    """Metadata that would break the snapshot is refused when it is given."""
    graph = ExecutionGraph()
    with pytest.raises(ConfigError, match="metadata"):
        graph.create_root("r", metadata=metadata)
    assert graph.snapshot()["nodes"] == {}


@pytest.mark.parametrize(("kind", "name"), [(None, "x"), ("tool", 1), (b"tool", "x")])
def test_kind_and_name_are_texts(kind: Any, name: Any) -> None:
    """Anything but a text is refused; any text is fine."""
    graph = ExecutionGraph()
    root = graph.create_root("\u30a8\u30fc\u30b8\u30a7\u30f3\u30c8")
    with pytest.raises(ConfigError, match="two texts"):
        graph.begin_node(root, kind, name)
    for text in ("", "\ud800", "\u0641\u062a\u062d", "x" * 100_000):
        graph.begin_node(root, "tool", text)
    json.dumps(graph.snapshot())


@pytest.mark.parametrize("fault", [-5.0, math.nan, math.inf, -math.inf])
def test_a_clock_that_goes_back_stands_still(fault: float) -> None:
    """Times never go back and stay finite; each fault is counted, and a clock that recovers is believed."""
    clock = Clock()
    graph = ExecutionGraph(clock=clock)
    root = graph.create_root("r")
    nodes = [graph.begin_node(root, "tool", "x") for _ in range(2)]
    clock.now = 10.0
    graph.mark_running(nodes[0])
    clock.now = fault
    graph.mark_success(nodes[0], cost_usd=0.5)
    assert graph.snapshot()["elapsed_s"] == 10.0
    clock.now = 20.0
    graph.mark_running(nodes[1])
    found = graph.snapshot()
    assert [found["nodes"][nodes[0]][key] for key in ("started_s", "ended_s")] == [10.0, 10.0]
    assert found["nodes"][nodes[1]]["started_s"] == 20.0
    assert found["aggregates"]["clock_faults"] == 1
    json.dumps(found, allow_nan=False)


def test_bounded_memory_drops_what_ended_first() -> None:
    """Of ended nodes the oldest goes first; what runs stays, and totals know everything."""
    graph = ExecutionGraph(max_nodes=3)
    root = graph.create_root("r")
    long = graph.begin_node(root, "tool", "long")
    ended = []
    for number in range(10):
        node = graph.begin_node(long, "tool", str(number))
        graph.mark_running(node)
        graph.mark_success(node, cost_usd=1.0, tokens_out=1)
        ended.append(node)
    found = graph.snapshot()
    assert list(found["nodes"]) == [root, long, *ended[-2:]]
    assert found["aggregates"]["dropped_nodes"] == 8
    assert found["aggregates"]["total_cost_usd"] == found["aggregates"]["total_steps"] == 10
    graph.mark_success(ended[0], cost_usd=1.0)
    assert graph.snapshot()["aggregates"]["ignored_marks"] == 1
    below = graph.begin_node(ended[0], "tool", "late child")
    child = graph.begin_node(below, "tool", "its child")
    nodes = graph.snapshot()["nodes"]
    assert (nodes[below]["parent_id"], nodes[below]["depth"], nodes[child]["depth"]) == (ended[0], None, None)


def test_bounded_memory_when_nothing_ever_ends() -> None:
    """Where no node has ended the oldest goes, the root never."""
    graph = ExecutionGraph(max_nodes=2)
    root = graph.create_root("r")
    graph.mark_success(root)
    nodes = [graph.begin_node(root, "tool", str(number)) for number in range(50)]
    assert list(graph.snapshot()["nodes"]) == [root, *nodes[-2:]]
    graph.mark_running(nodes[0])
    assert graph.snapshot()["aggregates"]["ignored_marks"] == 1


def test_bounded_memory_of_events() -> None:
    """Events that nobody drains, and what was told of a thousand tools, stay within the bound."""
    graph = ExecutionGraph(max_nodes=10, max_cycle_period=2)
    run_names = [("tool", str(number)) for number in range(1000) for _ in range(3)]
    root = graph.create_root("r")
    for kind, name in run_names:
        graph.mark_running(graph.begin_node(root, kind, name))
    assert graph.snapshot()["aggregates"]["dropped_events"] == 990
    assert [event["signature"][1] for event in graph.drain_divergence_events()] == [
        str(number) for number in range(990, 1000)
    ]
    for _ in range(3):
        graph.mark_running(graph.begin_node(root, "tool", "0"))
    assert len(graph.drain_divergence_events()) == 1  # what was told of it is forgotten


@given(st.lists(st.tuples(st.sampled_from(["tool", "llm", "system"]), st.sampled_from("ab")), max_size=40))
def test_the_count_is_that_of_a_search_through_the_ring(calls: list[NodeSignature]) -> None:
    """The events are those that a search through the last eight signatures would give."""
    thresholds = {"tool": 3, "llm": 5, "system": 999}
    reports: set[NodeSignature] = set()
    for at, found in enumerate(run(ExecutionGraph(), *calls)):
        ring = calls[: at + 1][-8:]
        tail = next((n for n, other in enumerate(reversed(ring)) if other != calls[at]), len(ring))
        due = tail >= thresholds[calls[at][0]] and calls[at] not in reports
        assert [event["repeat_count"] for event in found] == ([tail] if due else [])
        reports |= {calls[at]} if due else set()
