"""Misuse in code raises TypeError at once, and says what was expected; objects copy and pickle."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import ebbtide
from ebbtide import (
    ConvergenceMeter,
    ExecutionContext,
    ExecutionGraph,
    LoopMonitor,
    Prices,
    Round,
    Supervisor,
    Tally,
    ToolCall,
    ToolPolicies,
    Usage,
)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Supervisor().record({"name": "ls"}), "event: expected Event or Round, not dict"),
        (lambda: Supervisor().record(None), "event: expected Event or Round, not NoneType"),
        (lambda: LoopMonitor().update("x"), "event: expected Event, not str: 'x'"),
        (lambda: LoopMonitor().loop_of(None), "call: expected ToolCall"),
        (lambda: Supervisor(profile="default"), "profile: expected Profile, not str: 'default'"),
        (lambda: Supervisor(tools={}), "tools: expected ToolPolicies or None"),
        (lambda: Supervisor(limits={}), "limits: expected Limits or None"),
        (lambda: Supervisor(prices={}), "prices: expected Prices or None"),
        (lambda: Supervisor(eager_rounds="1"), "eager_rounds: expected int"),
        (lambda: Supervisor().verdict(7), "chain_id: expected str or None, not int: 7"),
        (lambda: Supervisor().check_before_tool("ls"), "call: expected ToolCall"),
        (lambda: Supervisor().check_before_model(now="12:00"), "now: expected int or float or None"),
        (lambda: Supervisor().extend(1, limits={}), "limits: expected Limits or None"),
        (lambda: Supervisor().acknowledge(ToolCall(name="ls")), "chain_id: expected str or None"),
        (lambda: LoopMonitor(profile={}), "profile: expected Profile"),
        (lambda: LoopMonitor(max_chains="1"), "max_chains: expected int"),
        (lambda: ConvergenceMeter("spec"), "profile: expected Profile"),
        (lambda: ConvergenceMeter(embedder="minilm"), "embedder: expected an Embedder or None"),
        (lambda: ConvergenceMeter().update("text"), "item: expected Round"),
        (lambda: ExecutionContext({"cost_usd": 1}), "limits: expected Limits or None"),
        (lambda: ExecutionContext(pipeline=print), "pipeline: expected a Pipeline or None"),
        (lambda: ExecutionGraph(groups=["a"]), "groups: expected Mapping"),
        (lambda: ExecutionGraph(thresholds=3), "thresholds: expected Mapping or None"),
        (lambda: Tally().add("x"), "event: expected Event"),
        (lambda: Prices([]), "table: expected Mapping or None"),
        (lambda: Prices().cost({}), "usage: expected Usage"),
        (lambda: ToolPolicies([]), "table: expected Mapping or None"),
        (lambda: ToolPolicies.from_dict(None), "table: expected Mapping"),
        (lambda: ebbtide.assess("We will use SQLite."), "candidate: expected Candidate"),
        (lambda: ebbtide.check_events([], {}), "options: expected RunOptions"),
        (lambda: ebbtide.Deliberation("log.db"), "log: expected DecisionLog"),
    ],
)
def test_misuse_is_refused_at_the_call(call: Callable[[], object], message: str) -> None:
    """A value of another class than the one that belongs there is a TypeError which names both."""
    with pytest.raises(TypeError, match=message):
        call()


WAYS = [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))]  # noqa: S301


@pytest.mark.parametrize("way", WAYS, ids=["copy", "deepcopy", "pickle"])
def test_a_meter_copies(way: Any) -> None:
    """A copy of a meter gives the same score, and goes on by itself."""
    meter = ConvergenceMeter()
    rounds = [Round(number=number, claims=(f"Fact {number % 3} is new.",)) for number in range(1, 7)]
    for item in rounds[:4]:
        meter.update(item)
    twin = way(meter)
    assert [twin.update(item) for item in rounds[4:]] == [meter.update(item) for item in rounds[4:]]
    assert twin.score().to_dict() == meter.score().to_dict()


@pytest.mark.parametrize("way", WAYS, ids=["copy", "deepcopy", "pickle"])
def test_a_graph_copies(way: Any) -> None:
    """A copy of a graph knows the same nodes, stages the same events, and shares nothing."""
    graph = ExecutionGraph("chain", max_nodes=9, max_cycle_period=2)
    root = graph.create_root("run")
    for _ in range(2):
        graph.mark_running(graph.begin_node(root, "tool", "ls"))
    twin = way(graph)
    assert twin.snapshot()["nodes"] == graph.snapshot()["nodes"]
    for each in (graph, twin):
        each.mark_running(each.begin_node(root, "tool", "ls"))
    assert twin.drain_divergence_events() == graph.drain_divergence_events() != []
    twin.begin_node(root, "tool", "ls")
    assert len(twin.snapshot()["nodes"]) == len(graph.snapshot()["nodes"]) + 1


@pytest.mark.parametrize("way", WAYS, ids=["copy", "deepcopy", "pickle"])
def test_tallies_and_prices_copy(way: Any) -> None:
    """A copy counts by itself: what it counts is neither in the other, nor in the tally of its run."""
    prices = Prices({"m": {"input": 1.0}}, public=False)
    run = Tally(prices)
    tally = Tally(prices, run)
    tally.spend(Usage(model="m", input_tokens=10))
    twin = way(tally)
    twin.spend(Usage(model="m", input_tokens=5))
    assert (twin.tokens, tally.tokens, run.tokens) == (15, 10, 10)
    assert way(prices).cost(Usage(model="m", input_tokens=1_000_000)) == 1.0
    assert way(prices)._models is not prices._models


@pytest.mark.parametrize(
    "use",
    [
        lambda: ebbtide.LoopMonitor().depth_of({"name": "Task"}),  # type: ignore[arg-type]
        lambda: ebbtide.Tally().settle([[]]),  # type: ignore[arg-type]
        lambda: ebbtide.Tally().settle((3,)),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_record_is_named(use) -> None:
    """A value of another class is refused by name, and not where a field of it is missing."""
    with pytest.raises(TypeError, match=r": expected [A-Za-z]+, not "):
        use()
