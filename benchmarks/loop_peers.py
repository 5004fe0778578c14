"""Published loop detectors behind one face: a fresh watcher for each run, told of one call after the other.

Each is used as its own documentation does, with its defaults. A package that is not installed is left out.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

from ebbtide.divergence.monitor import LoopMonitor
from ebbtide.events.event import Event, ModelCall, Notice, NoticeKind, ToolCall, title

#: Takes an event, and says whether anything was raised at it.
Watcher = Callable[[Event], bool]


def ebbtide() -> Watcher:
    """This project, with the default profile and no declarations."""
    monitor = LoopMonitor()
    return lambda event: bool(monitor.update(event))


def veronica_core() -> Watcher:
    """The graph that the divergence spec comes from: kind and name alone."""
    from veronica_core.containment.execution_graph import ExecutionGraph

    graph = ExecutionGraph()
    root = graph.create_root("run")

    def see(event: Event) -> bool:
        if not isinstance(event, (ToolCall, ModelCall)):
            return False
        node = graph.begin_node(root, "tool" if isinstance(event, ToolCall) else "llm", title(event))
        graph.mark_running(node)
        raised = bool(graph.drain_divergence_events())
        graph.mark_success(node, cost_usd=0.0)
        return raised

    return see


def agentguard47(*, fuzzy: bool = False) -> Watcher:
    """Equal calls in a row; with `fuzzy`, frequent names and alternation too."""
    from agentguard import FuzzyLoopGuard, LoopDetected, LoopGuard

    guards: list[Any] = [LoopGuard(), *([FuzzyLoopGuard()] if fuzzy else [])]

    def see(event: Event) -> bool:
        raised = False
        if not isinstance(event, ToolCall):
            return raised
        for guard in guards:
            try:
                guard.check(event.name, arguments(event))
            except LoopDetected:
                raised = True
        return raised

    return see


def agent_watchdog() -> Watcher:
    """Equal calls in a row, and a pattern that fills the last eight."""
    from agent_watchdog import AgentWatchdog, WatchdogHalt

    watchdog = AgentWatchdog(timeout_seconds=None)
    run = watchdog.watch("run")
    run.__enter__()

    def see(event: Event, _open: object = run) -> bool:  # a run that nobody holds is closed
        if not isinstance(event, ToolCall):
            return False
        try:
            watchdog.record_tool_call(event.name, event.args, event.result)
        except WatchdogHalt:
            return True
        return False

    return see


def loopguard_runtime() -> Watcher:
    """Every detector that its trace analysis uses, and its policy."""
    from loopguard.detectors import (
        CycleDetector,
        HandoffLoopDetector,
        LoopDetector,
        ProgressDetector,
        RepeatedFailureDetector,
        StallDetector,
    )
    from loopguard.monitor import Monitor
    from loopguard.runner import tool_signature

    detectors = [
        LoopDetector(),
        StallDetector(),
        ProgressDetector(),
        RepeatedFailureDetector(),
        CycleDetector(),
        HandoffLoopDetector(),
    ]
    monitor = Monitor(detectors)

    def see(event: Event) -> bool:
        if not isinstance(event, ToolCall):
            return False
        args = arguments(event)
        alerts = monitor.observe(
            "agent",
            f"decided: {event.name}",
            tool_signature(event.name, args),
            last_tool=event.name,
            last_args=args,
        )
        if event.result is not None:
            text = str(event.result).strip().replace("\n", " ")[:160]
            alerts += monitor.observe("agent", f"observed: {text}", f"result:{text}", last_result=text)
        return bool(alerts)

    return see


#: By name, the module of each published package and what makes a watcher of it.
PEERS: dict[str, tuple[str, Callable[[], Watcher]]] = {
    "veronica-core": ("veronica_core", veronica_core),
    "agentguard47": ("agentguard", agentguard47),
    "agentguard47 + fuzzy": ("agentguard", lambda: agentguard47(fuzzy=True)),
    "agent-watchdog": ("agent_watchdog", agent_watchdog),
    "loopguard-runtime": ("loopguard", loopguard_runtime),
}


def installed() -> dict[str, Callable[[], Watcher]]:
    """The watchers that can be made here, by name: this project first."""
    makers = {name: make for name, (module, make) in PEERS.items() if importlib.util.find_spec(module)}
    for name in PEERS.keys() - makers.keys():
        print(f"{name}: not installed; the extra `bench` has it")
    return {"ebbtide": ebbtide, **makers}


def packages() -> list[str]:
    """Names of the installed packages, for the set-up block of a result."""
    return sorted({name.split(" ")[0] for name in installed()} - {"ebbtide"})


def starts_anew(event: Event) -> bool:
    """Whether a watcher that knows no runs has to be made anew here."""
    return isinstance(event, Notice) and event.kind is NoticeKind.RUN_START


def arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call as a table, as packages want them."""
    if isinstance(call.args, dict):
        return call.args
    return {} if call.args is None else {"value": call.args}
