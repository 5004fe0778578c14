"""The execution graph: the calls of one chain as nodes, and what looks wrong about their pattern.

Source: divergence spec (clauses D01 to D10, D14, V01 to V08, X03).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from copy import deepcopy
from math import inf, isfinite
from typing import Any, Self

from ebbtide.divergence.graph.execution_node import ExecutionNode, NodeSignature, NodeStatus, plain
from ebbtide.divergence.graph.heuristics import ChainRates, ConsecutiveRepeats, Emitted, SignatureCycles
from ebbtide.errors import ConfigError, UnknownNodeError, expect, shown
from ebbtide.text.name_table import NameTable

__all__ = ["ExecutionGraph", "NodeSignature", "NodeStatus"]

_MOST = 1e12  # dollars or tokens of one node: sums and rates of such stay finite
_RUNNING = NodeStatus.RUNNING  # reading a member off its enum takes as long as a lock
_SUCCESS = NodeStatus.SUCCESS
_LOCKS = frozenset({"_lock", "_acquire", "_release"})


class ExecutionGraph:
    """The calls of one chain, with the warnings that the divergence spec asks for.

    A call is begun, marked running just before it is dispatched, and marked with its outcome. Warnings are
    staged; `drain_divergence_events` gives them to the caller, who decides: nothing halts by itself. All
    methods are thread-safe. It can be copied and pickled; a copy goes on by the same clock.

    It knows a call by kind and name alone, as the spec says, so that reading three files is a repeat to it.
    `LoopMonitor` looks at arguments and results too.

    A mark that cannot count is ignored and shows in the aggregate ``ignored_marks``: an outcome or a start of
    a node that has its outcome, any mark of a node that was dropped. A node may get its outcome unstarted. A
    clock that goes back, or gives no finite number, stands still (``clock_faults``).

    Args:
        chain_id: Name of the chain, in every event; None makes one up.
        cost_rate_threshold_usd_per_sec: USD a second, over the age of the graph, above which
            COST_RATE_EXCEEDED is due. 0 makes any cost due, inf switches it off.
        token_velocity_threshold: Output tokens a second above which TOKEN_VELOCITY_EXCEEDED is due; likewise.
        thresholds: Repeats in a row from which a kind is suspect, over the defaults: tool 3, llm 5, any other
            999. One above 8 is never reached: eight signatures are kept.
        groups: Names that count as one: ``{"search_*": "search"}`` puts "search" into the signature of all.
        max_cycle_period: Longest cycle of several signatures that is reported, as cycle_suspected, after
            three full turns. None, as in the spec, reports none: by name alone, a healthy agent that
            alternates between model and tool goes in a cycle.
        max_nodes: Nodes that are kept beside the root. For one more, the node that ended first is dropped, or
            the oldest where none has ended. It bounds as well the events that wait, and the memory of what
            was reported. None keeps everything.
        clock: Seconds on a monotonic clock.

    Raises:
        ConfigError: A threshold or bound that cannot be used.

    >>> graph = ExecutionGraph("chain-1")
    >>> root = graph.create_root("agent_run")
    >>> for _ in range(3):
    ...     graph.mark_running(graph.begin_node(root, "tool", "call_api"))
    >>> [(event["signature"], event["repeat_count"]) for event in graph.drain_divergence_events()]
    [(['tool', 'call_api'], 3)]
    """

    def __init__(
        self,
        chain_id: str | None = None,
        cost_rate_threshold_usd_per_sec: float = 0.10,
        token_velocity_threshold: float = 500.0,
        *,
        thresholds: Mapping[str, int] | None = None,
        groups: Mapping[str, str] | None = None,
        max_cycle_period: int | None = None,
        max_nodes: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.chain_id = _new_id() if chain_id is None else chain_id
        self._rates = ChainRates(self.chain_id, cost_rate_threshold_usd_per_sec, token_velocity_threshold)
        self._repeats = ConsecutiveRepeats(thresholds)
        self._groups = None if groups is None else _name_groups(groups)
        self._max_nodes = _bound("max_nodes", max_nodes, 1_000_000_000)
        period = _bound("max_cycle_period", max_cycle_period, 10_000)
        self._cycles = None if period is None else SignatureCycles(period)
        self._emitted = Emitted(max_nodes)
        self._pending: deque[dict[str, Any]] = deque(maxlen=max_nodes)
        self._lock = threading.RLock()
        # For what every call goes through: as safe as `with`, a tenth faster in all.
        self._acquire = self._lock.acquire
        self._release = self._lock.release
        self._nodes: dict[str, ExecutionNode] = {}
        self._root: ExecutionNode | None = None
        self._ended: deque[str] = deque()
        self._issued = 0
        self._steps = 0
        self._drained_divergences = 0
        self._dropped_nodes = 0
        self._dropped_events = 0
        self._ignored_marks = 0
        self._clock_faults = 0
        self._clock = clock
        self._start = clock()
        self._latest = 0.0
        if not isfinite(self._start):
            raise ConfigError(f"clock() = {shown(self._start)}: expected seconds as a finite number")

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = {name: value for name, value in vars(self).items() if name not in _LOCKS}
            return {**state, "_elapsed": self._clock() - self._start}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()
        self._acquire, self._release = self._lock.acquire, self._lock.release
        # Clocks of other processes count from elsewhere.
        self._start = self._clock() - vars(self).pop("_elapsed")

    def __copy__(self) -> Self:
        return deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self._clock)] = self._clock  # a copy asks the same clock
        twin = memo[id(self)] = self.__class__.__new__(self.__class__)
        twin.__setstate__(deepcopy(self.__getstate__(), memo))
        return twin

    def create_root(self, name: str, metadata: Mapping[str, Any] | None = None) -> str:
        """Begin the chain; gives the id of its root, a node of kind "system".

        Raises:
            ConfigError: There is a root already, or JSON cannot carry the metadata.
        """
        if not isinstance(name, str):
            raise ConfigError(f"name = {shown(name)}: expected a text")
        copy = None if metadata is None else plain(metadata)
        with self._lock:
            if self._root is not None:
                raise ConfigError(f"chain {shown(self.chain_id)} has a root already; make one graph a chain")
            self._issued += 1
            node_id = f"n{self._issued}"
            self._root = self._nodes[node_id] = ExecutionNode(node_id, None, ("system", name), name, 0)
            self._root.metadata = copy
            return node_id

    @property
    def root_id(self) -> str | None:
        """The id of the root; None before it was created."""
        return self._root.node_id if self._root else None

    def begin_node(
        self,
        parent_id: str,
        kind: str,
        name: str,
        model: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """Begin a call below `parent_id`; gives its id.

        Args:
            parent_id: The root, or the call that makes this one; it may have ended.
            kind: "tool", "llm", "system", or a kind of your own.
            name: What is called.
            model: The model, for a call of one.
            metadata: Anything that JSON can carry; it is copied.

        Raises:
            UnknownNodeError: No such parent was ever begun here.
            ConfigError: `kind` or `name` is no text, or JSON cannot carry the metadata.
        """
        if not (isinstance(kind, str) and isinstance(name, str)):
            raise ConfigError(f"kind = {shown(kind)}, name = {shown(name)}: expected two texts")
        copy = None if metadata is None else plain(metadata)
        label = name if self._groups is None else self._groups.get(name) or name
        if type(parent_id) is not str:
            raise UnknownNodeError(parent_id, self.chain_id)
        self._acquire()
        try:
            parent = self._nodes.get(parent_id)
            if parent is None:
                self._must_be_dropped(parent_id)
            depth = None if parent is None or parent.depth is None else parent.depth + 1
            self._issued += 1
            node_id = f"n{self._issued}"
            node = self._nodes[node_id] = ExecutionNode(node_id, parent_id, (kind, label), name, depth)
            if model is not None:
                node.model = model
            if copy is not None:
                node.metadata = copy
            # The root is kept for ever and does not count.
            if self._max_nodes is not None and len(self._nodes) > self._max_nodes + 1:
                self._drop_one()
            return node_id
        finally:
            self._release()

    def mark_running(self, node_id: str) -> None:
        """Say that a call is about to be dispatched; a mark of a node that runs already counts as well.

        Raises:
            UnknownNodeError: No such node was ever begun here.
        """
        if type(node_id) is not str:
            raise UnknownNodeError(node_id, self.chain_id)
        self._acquire()
        try:
            node = self._nodes.get(node_id)
            if node is None:
                self._ignore(node_id)
                return
            if node.ended_s is not None:
                self._ignored_marks += 1
            elif node.started_s is None:
                now = self._clock() - self._start
                node.started_s = self._latest = now if self._latest <= now < inf else self._stand_still()
                node.status = _RUNNING
                if node is not self._root:
                    self._steps += 1
            signature = node.signature
            repeats = self._repeats.push(signature)
            if repeats and self._emitted.first(signature):
                self._stage(self._repeats.event(signature, repeats, self.chain_id))
            if self._cycles is not None:
                cycle = self._cycles.push(signature)
                if cycle is not None and self._emitted.first(cycle):
                    self._stage(self._cycles.event(cycle, self.chain_id))
        finally:
            self._release()

    def mark_success(
        self,
        node_id: str,
        cost_usd: float | None = None,
        tokens_in: int | None = None,
        tokens_out: int | None = None,
    ) -> None:
        """Say that a call succeeded, and what it took.

        Args:
            node_id: The call.
            cost_usd: 0 to 1e12; None where it is not known.
            tokens_in: Likewise.
            tokens_out: Likewise.

        Raises:
            UnknownNodeError: No such node was ever begun here.
            ConfigError: A cost or token count is negative, infinite or no number; nothing was changed.
        """
        if not (cost_usd is None or (type(cost_usd) is float and 0.0 <= cost_usd <= _MOST)):
            _check_amount("cost_usd", cost_usd, (int, float))
        if not (tokens_in is None or (type(tokens_in) is int and 0 <= tokens_in <= _MOST)):
            _check_amount("tokens_in", tokens_in, int)
        if not (tokens_out is None or (type(tokens_out) is int and 0 <= tokens_out <= _MOST)):
            _check_amount("tokens_out", tokens_out, int)
        self._acquire()
        try:
            node = self._end(node_id, _SUCCESS)
            if node is None:
                return
            node.cost_usd = cost_usd
            node.tokens_in = tokens_in
            node.tokens_out = tokens_out
            if node.started_s is None and node is not self._root:
                self._steps += 1
            events = self._rates.add(cost_usd, tokens_out, self._latest, node_id)
            if events:
                for event in events:
                    self._stage(event)
        finally:
            self._release()

    def mark_failure(
        self, node_id: str, error_class: str | None = None, stop_reason: str | None = None
    ) -> None:
        """Say that a call failed.

        Args:
            node_id: The call.
            error_class: Name of the error's class.
            stop_reason: Why, in words.

        Raises:
            UnknownNodeError: No such node was ever begun here.
        """
        with self._lock:
            node = self._end(node_id, NodeStatus.FAILURE)
            if node is not None:
                node.error_class = error_class
                node.stop_reason = stop_reason

    def mark_halt(self, node_id: str, stop_reason: str | None = None) -> None:
        """Say that a call was not let through, or was cut.

        Raises:
            UnknownNodeError: No such node was ever begun here.
        """
        with self._lock:
            node = self._end(node_id, NodeStatus.HALTED)
            if node is not None:
                node.stop_reason = stop_reason

    def drain_divergence_events(self) -> list[dict[str, Any]]:
        """The events that were staged since the last time; each is given once."""
        if not self._pending:
            return []
        with self._lock:
            events = list(self._pending)
            self._pending.clear()
            types = [event["event_type"] for event in events]
            self._drained_divergences += types.count("divergence_suspected")
            return events

    def snapshot(self) -> dict[str, Any]:
        """The chain as plain data that JSON can carry; it takes a moment for each node that is kept.

        ``aggregates.divergence_emitted_count`` counts the signatures whose event was drained.
        ``aggregates.total_steps`` counts the nodes that ran, the root left out.
        """
        with self._lock:
            now = self._clock() - self._start
            return {
                "chain_id": self.chain_id,
                "root_id": self.root_id,
                "elapsed_s": now if self._latest <= now < inf else self._latest,
                "window": [list(signature) for signature in self._repeats.ring],
                "nodes": {node_id: node.to_dict() for node_id, node in self._nodes.items()},
                "aggregates": {
                    "total_cost_usd": self._rates.cost_usd,
                    "total_steps": self._steps,
                    "divergence_emitted_count": self._drained_divergences,
                    "total_tokens_out": self._rates.tokens_out,
                    "dropped_nodes": self._dropped_nodes,
                    "dropped_events": self._dropped_events,
                    "ignored_marks": self._ignored_marks,
                    "clock_faults": self._clock_faults,
                },
            }

    def _end(self, node_id: str, status: NodeStatus) -> ExecutionNode | None:
        if type(node_id) is not str:
            raise UnknownNodeError(node_id, self.chain_id)
        node = self._nodes.get(node_id)
        if node is None or node.ended_s is not None:
            self._ignore(node_id)
            return None
        now = self._clock() - self._start
        node.ended_s = self._latest = now if self._latest <= now < inf else self._stand_still()
        node.status = status
        if self._max_nodes is not None and node is not self._root:
            self._ended.append(node_id)
        return node

    def _ignore(self, node_id: str) -> None:
        if node_id not in self._nodes:
            self._must_be_dropped(node_id)
        self._ignored_marks += 1

    def _must_be_dropped(self, node_id: str) -> None:
        # Ids are handed out in order, so that those of dropped nodes need not be remembered.
        try:
            number = int(node_id[1:])
        except Exception:  # noqa: BLE001 - it can be anything
            number = 0
        if not (0 < number <= self._issued and node_id == f"n{number}"):
            raise UnknownNodeError(node_id, self.chain_id)

    def _drop_one(self) -> None:
        if self._ended:
            node_id = self._ended.popleft()
        else:
            node_id = next(node_id for node_id, node in self._nodes.items() if node is not self._root)
        del self._nodes[node_id]
        self._dropped_nodes += 1

    def _stage(self, event: dict[str, Any]) -> None:
        if len(self._pending) == self._max_nodes:
            self._dropped_events += 1
        self._pending.append(event)

    def _stand_still(self) -> float:
        self._clock_faults += 1
        return self._latest


def _new_id() -> str:
    import uuid

    return f"chain-{uuid.uuid4().hex}"


def _bound(name: str, value: int | None, most: int) -> int | None:
    """Returns a whole number from 1 to `most`, or None."""
    if value is not None and (
        isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most
    ):
        raise ConfigError(f"{name} = {shown(value)}: expected a whole number, 1 to {most:,}, or None")
    return value


def _name_groups(groups: Mapping[str, str]) -> NameTable[str]:
    """Returns names and patterns with the group that each belongs to."""
    expect("groups", groups, Mapping)
    for pattern, group in groups.items():
        if not (isinstance(pattern, str) and isinstance(group, str)):
            raise ConfigError(f"groups[{shown(pattern)}] = {shown(group)}: expected the name of a group")
    return NameTable(groups)


def _check_amount(name: str, value: float, kinds: type | tuple[type, ...]) -> None:
    """Refuses what is no amount of dollars or tokens."""
    if isinstance(value, bool) or not isinstance(value, kinds) or not 0 <= value <= _MOST:
        raise ConfigError(
            f"{name} = {shown(value)}: expected a number from 0 to {_MOST:g}; None if not known"
        )
