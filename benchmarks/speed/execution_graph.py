"""Cost of one node's life in the execution graph: begun, running, warnings drained, succeeded.

    python -m benchmarks.speed.execution_graph [--peer]

Prints microseconds a node from 1,000 to 1,000,000 nodes with 1,000 kept, and bytes a node where all are kept.
The nodes are run in short pieces, of which the median and the least are told: the machine has other work.
With --peer the published package `veronica-core` takes turns with it, piece by piece, in the same run.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

from benchmarks.measure import setup, write_result
from ebbtide.divergence.graph.execution_graph import ExecutionGraph

SIZES = (1_000, 10_000, 100_000, 1_000_000)
KEPT = 1_000
PIECE = 200
TOOLS = tuple(f"tool_{number}" for number in range(20))
PEER = "veronica-core"

Graph = Any


def lives(graph: Graph, root: str, first: int, count: int) -> float:
    """Seconds that the lives of `count` nodes take."""
    start = time.perf_counter()
    for number in range(first, first + count):
        node = graph.begin_node(root, "tool", TOOLS[number % len(TOOLS)])
        graph.mark_running(node)
        graph.drain_divergence_events()
        graph.mark_success(node, 0.0001, 7, 5)
    return time.perf_counter() - start


def cost(makers: dict[str, Callable[[], Graph]], size: int) -> dict[str, dict[str, float]]:
    """Microseconds a node for each maker of a graph: median and least of the pieces, median of the last."""
    graphs = {name: make() for name, make in makers.items()}
    roots = {name: graph.create_root("agent_run") for name, graph in graphs.items()}
    spent: dict[str, list[float]] = {name: [] for name in graphs}
    gc.collect()
    for first in range(0, size, PIECE):
        for name, graph in graphs.items():
            spent[name].append(lives(graph, roots[name], first, PIECE) / PIECE * 1e6)
    return {
        name: {
            "median_us": round(statistics.median(pieces), 3),
            "least_us": round(min(pieces), 3),
            "last_tenth_median_us": round(statistics.median(pieces[-max(1, len(pieces) // 10) :]), 3),
        }
        for name, pieces in spent.items()
    }


def bytes_a_node(make: Callable[[], Graph], nodes: int) -> float:
    """Memory held after the lives of `nodes` nodes, a node."""
    tracemalloc.start()
    graph = make()
    lives(graph, graph.create_root("agent_run"), 0, nodes)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return round(held / nodes, 1)


def main() -> None:
    """Run everything and write the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", action="store_true", help=f"{PEER} 3.10.0 takes turns")
    options = parser.parse_args()
    bounded: dict[str, Callable[[], Graph]] = {"ebbtide": lambda: ExecutionGraph("chain", max_nodes=KEPT)}
    unbounded: dict[str, Callable[[], Graph]] = {"ebbtide": lambda: ExecutionGraph("chain")}
    if options.peer:
        from veronica_core.containment.execution_graph import ExecutionGraph as PeerGraph

        bounded[PEER] = lambda: PeerGraph(chain_id="chain", max_nodes=KEPT)
        unbounded[PEER] = lambda: PeerGraph(chain_id="chain")
    rows = []
    for size in SIZES:
        row: dict[str, Any] = {"nodes": size, "kept": KEPT, **cost(bounded, size)}
        if options.peer:
            row["ratio"] = round(row[PEER]["median_us"] / row["ebbtide"]["median_us"], 2)
        rows.append(row)
        shown = "  ".join(
            f"{name} {row[name]['median_us']:.2f} ({row[name]['least_us']:.2f})" for name in bounded
        )
        print(f"{size:>9} nodes: median (least) us: {shown}  ratio {row.get('ratio', '-')}", flush=True)
    cycles = cost(
        {
            "off": lambda: ExecutionGraph("chain", max_nodes=KEPT),
            "up to 16": lambda: ExecutionGraph("chain", max_nodes=KEPT, max_cycle_period=16),
            "up to 128": lambda: ExecutionGraph("chain", max_nodes=KEPT, max_cycle_period=128),
        },
        100_000,
    )
    print(f"looking for cycles: {cycles}")
    held = {name: bytes_a_node(make, 100_000) for name, make in unbounded.items()}
    print(f"bytes a node where all are kept: {held}")
    result = {
        "setup": setup(*([PEER] if options.peer else [])),
        "cost": rows,
        "cycles": cycles,
        "bytes_a_node": held,
    }
    write_result("speed-execution-graph", result)


if __name__ == "__main__":
    main()
