"""Observers of a run: graph and pipeline. Whatever goes wrong here, the run does not notice."""

from __future__ import annotations

import inspect
import threading
from typing import Any, Protocol

from ebbtide.divergence.graph.execution_graph import ExecutionGraph
from ebbtide.errors import ConfigError, error_text
from ebbtide.events.usage import Usage
from ebbtide.guard.operation import Operation

WORDS = 2000  # characters of an error


class Pipeline(Protocol):
    """Receiver of events, which takes them to wherever they are wanted: a log, a dashboard, an alarm."""

    def emit_safety_event(self, event: dict[str, Any], /) -> object:
        """Takes one event."""


class Observers:
    """Caller of the graph and the pipeline, which keeps what they throw away from the run.

    Args:
        graph: Gets a node for each call; a chain without a root gets one. None draws no graph.
        pipeline: None forwards no events.
        chain_id: The chain of the run's events.

    Raises:
        ConfigError: The pipeline is asynchronous.
    """

    def __init__(
        self,
        graph: ExecutionGraph | None,
        pipeline: Pipeline | None,
        *,
        name: str,
        chain_id: str,
    ) -> None:
        if pipeline is not None and inspect.iscoroutinefunction(pipeline.emit_safety_event):
            raise ConfigError(
                f"{type(pipeline).__name__}.emit_safety_event is asynchronous, and nobody would await it; "
                "give it a function that puts the event into a queue"
            )
        self.graph = graph
        self.root_id = None if graph is None else graph.root_id or graph.create_root(name)
        self.chain_id = chain_id
        self.faults: dict[str, int] = {}
        self.last_fault: str | None = None
        self._pipeline = pipeline
        # Re-entrant, since a stream that was let go is settled whenever the garbage collector comes by.
        self._lock = threading.RLock()

    def fault(self, where: str, error: Exception) -> None:
        """Counts something that went wrong, and keeps its words."""
        words = f"{where}: {error_text(error, WORDS)}"
        with self._lock:
            self.faults[where] = self.faults.get(where, 0) + 1
            self.last_fault = words

    def emit(self, event: dict[str, Any]) -> None:
        """Forwards an event to the pipeline."""
        if self._pipeline is not None:
            try:
                self._pipeline.emit_safety_event(event)
            except Exception as error:  # noqa: BLE001
                self.fault("pipeline", error)

    def started(self, operation: Operation, parent_id: str | None) -> str | None:
        """Puts a call into the graph before it is dispatched; returns its node, or None if it has none."""
        graph, parent_id = self.graph, parent_id or self.root_id
        if graph is None or parent_id is None:
            return None
        try:
            node_id = graph.begin_node(parent_id, operation.kind, operation.name, operation.model)
            graph.mark_running(node_id)
        except Exception as error:  # noqa: BLE001
            self.fault("graph", error)
            return None
        self._forward()
        return node_id

    def succeeded(
        self, node_id: str | None, cost_usd: float | None = None, usage: Usage | None = None
    ) -> None:
        """Gives a node its outcome, and forwards what is due at once: there may be no next call."""
        if node_id is not None and self.graph is not None:
            tokens_in = tokens_out = None
            if usage is not None and usage.tokens is not None:
                tokens_out = usage.output_tokens
                tokens_in = usage.tokens - (tokens_out or 0)
            try:
                self.graph.mark_success(node_id, cost_usd, tokens_in, tokens_out)
            except Exception as error:  # noqa: BLE001
                self.fault("graph", error)
            self._forward()

    def failed(self, node_id: str | None, error_class: str) -> None:
        """Gives a node the outcome of a call that failed."""
        if node_id is not None and self.graph is not None:
            try:
                self.graph.mark_failure(node_id, error_class)
            except Exception as error:  # noqa: BLE001
                self.fault("graph", error)

    def halted(self, node_id: str | None, reason: str) -> None:
        """Gives a node the outcome of a call that was not let through."""
        if node_id is not None and self.graph is not None:
            try:
                self.graph.mark_halt(node_id, reason)
            except Exception as error:  # noqa: BLE001
                self.fault("graph", error)

    def _forward(self) -> None:
        try:
            events = [] if self.graph is None else self.graph.drain_divergence_events()
        except Exception as error:  # noqa: BLE001
            self.fault("graph", error)
            return
        for event in events:
            self.emit(event)


def status_of(error: BaseException) -> int | None:
    """Returns the HTTP status that an error carries, as those of client libraries do."""
    try:
        status = getattr(error, "status_code", None)
    except Exception:  # noqa: BLE001 - and so can its attributes
        return None
    return status if type(status) is int else None
