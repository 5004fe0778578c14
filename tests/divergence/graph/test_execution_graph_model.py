"""The execution graph against a plain model of it, under random operations (divergence spec, 2 to 8)."""

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from ebbtide.divergence.graph.execution_graph import ExecutionGraph

AMOUNTS = st.none() | st.integers(0, 1000)


class GraphMachine(RuleBasedStateMachine):
    """Keeps the whole history as lists and answers by searching them."""

    nodes = Bundle("nodes")

    @initialize(target=nodes, max_nodes=st.none() | st.integers(1, 6))
    def start(self, max_nodes: int | None) -> str:
        self.now = 0.0
        self.max_nodes = max_nodes
        self.graph = ExecutionGraph("c", max_nodes=max_nodes, clock=lambda: self.now)
        self.root = self.graph.create_root("root")
        self.nodes: dict[str, dict[str, Any]] = {
            self.root: {"parent_id": None, "depth": 0, "status": "created"}
        }
        self.signature = {self.root: ("system", "root")}
        self.terminal: list[str] = []
        self.marks: list[tuple[str, str]] = []
        self.reports: list[tuple[str, str]] = []
        self.waiting: list[str] = []
        self.cost = self.tokens = self.steps = self.ignored = self.dropped_nodes = self.drained = 0
        self.rates_told: set[str] = set()
        return self.root

    @rule(target=nodes, parent=nodes, kind=st.sampled_from(["tool", "llm"]), name=st.sampled_from("ab"))
    def begin(self, parent: str, kind: str, name: str) -> str:
        node = self.graph.begin_node(parent, kind, name)
        above = self.nodes[parent]["depth"] if parent in self.nodes else None
        depth = None if above is None else above + 1
        self.nodes[node] = {"parent_id": parent, "depth": depth, "status": "created"}
        self.signature[node] = (kind, name)
        if self.max_nodes is not None and len(self.nodes) > self.max_nodes + 1:
            key = (
                self.terminal.pop(0) if self.terminal else next(key for key in self.nodes if key != self.root)
            )
            del self.nodes[key]
            self.dropped_nodes += 1
        return node

    @rule(node=nodes)
    def running(self, node: str) -> None:
        self.graph.mark_running(node)
        if node not in self.nodes:
            self.ignored += 1
            return
        signature = self.signature[node]
        self.marks.append(signature)
        if self.nodes[node]["status"] == "created":
            self.nodes[node] |= {"status": "running", "started_s": self.now}
            self.steps += node != self.root
        elif self.nodes[node]["status"] != "running":
            self.ignored += 1
        threshold = {"tool": 3, "llm": 5, "system": 999}[signature[0]]
        ring = self.marks[-8:]
        if ring[-threshold:] == [signature] * threshold and signature not in self.remembered():
            self.reports.append(signature)
            self.stage("divergence_suspected")

    @rule(node=nodes, cost=AMOUNTS, tokens=AMOUNTS)
    def success(self, node: str, cost: int | None, tokens: int | None) -> None:
        self.graph.mark_success(node, cost_usd=cost, tokens_out=tokens)
        if not self.end(node, "success", cost_usd=cost, tokens_out=tokens):
            return
        self.steps += node != self.root and "started_s" not in self.nodes[node]
        self.cost += cost or 0
        self.tokens += tokens or 0
        for name, total, threshold in (
            ("COST_RATE_EXCEEDED", self.cost, 0.1),
            ("TOKEN_VELOCITY_EXCEEDED", self.tokens, 500),
        ):
            if self.now >= 0.001 and total / self.now > threshold and name not in self.rates_told:
                self.rates_told.add(name)
                self.stage(name)

    @rule(node=nodes)
    def failure(self, node: str) -> None:
        self.graph.mark_failure(node, "ValueError")
        self.end(node, "fail", error_class="ValueError")

    @rule(node=nodes)
    def halt(self, node: str) -> None:
        self.graph.mark_halt(node, "limit")
        self.end(node, "halt", stop_reason="limit")

    @rule(seconds=st.sampled_from([0.0005, 1.0, 100.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def drain(self) -> None:
        events = [event["event_type"] for event in self.graph.drain_divergence_events()]
        assert events == self.waiting
        self.drained += events.count("divergence_suspected")
        self.waiting = []

    @invariant()
    def agrees(self) -> None:
        snapshot = self.graph.snapshot()
        defaults = dict.fromkeys(
            ("started_s", "ended_s", "cost_usd", "tokens_out", "error_class", "stop_reason")
        )
        for node_id, expected in self.nodes.items():
            node = snapshot["nodes"][node_id]
            assert {key: node[key] for key in {**defaults, **expected}} == {**defaults, **expected}
        assert list(snapshot["nodes"]) == list(self.nodes)
        assert snapshot["window"] == [list(signature) for signature in self.marks[-8:]]
        aggregates = snapshot["aggregates"]
        assert aggregates.pop("dropped_events") >= 0
        assert aggregates == {
            "total_cost_usd": self.cost,
            "total_steps": self.steps,
            "divergence_emitted_count": self.drained,
            "total_tokens_out": self.tokens,
            "dropped_nodes": self.dropped_nodes,
            "ignored_marks": self.ignored,
            "clock_faults": 0,
        }

    def end(self, node: str, status: str, **fields: Any) -> bool:
        if node not in self.nodes or "ended_s" in self.nodes[node]:
            self.ignored += 1
            return False
        self.nodes[node] |= {"status": status, "ended_s": self.now, **fields}
        if node != self.root:
            self.terminal.append(node)
        return True

    def stage(self, event_type: str) -> None:
        self.waiting = [*self.waiting, event_type][-(self.max_nodes or 10**6) :]

    def remembered(self) -> list[tuple[str, str]]:
        return self.reports[-(self.max_nodes or 10**6) :]


TestGraph = pytest.mark.clause("D02", "D03", "D07", "V01", "V02", "V06", "V08", "X03")(GraphMachine.TestCase)
