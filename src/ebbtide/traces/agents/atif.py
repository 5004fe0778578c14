"""The Agent Trajectory Interchange Format (Harbor RFC 0001), versions 1.0 and later.

Steps of the sources ``system``, ``user`` and ``agent``.

Steps that were copied from another run are passed over. Trajectories of sub-agents are chains of their
own; the totals of a trajectory include those of the sub-agents in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.agents.sniffing import ATIF_TRAJECTORY
from ebbtide.traces.input.record_sign import is_like
from ebbtide.traces.records.fields import (
    arguments,
    count,
    dollars,
    identifier,
    items,
    joined_text,
    mapping,
    seconds,
    shown,
    text,
)
from ebbtide.traces.records.provider_usage import disjoint_usage, reported
from ebbtide.traces.records.usage_accounts import UsageLedger

_ERRORS = ("is_error", "tool_result_is_error")
_DEEPEST = 8  # trajectories of sub-agents in each other


class AtifReader:
    """Reads steps one by one."""

    duplicates = 0

    def __init__(self, chain: str = "", agent: str | None = None, depth: int = 0) -> None:
        self._chain = chain
        self._agent = agent
        self._depth = depth
        self._model: str | None = None
        self._ledger = UsageLedger()
        self._totals: Mapping[str, Any] = {}
        self._prompt = 0
        self._cached = 0
        self._ts: float | None = None
        self._steps = 0
        self._below = 0
        self._runs = 0

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events of a step, or of a whole trajectory."""
        record = mapping(value)
        if path == "agent":
            self._model = text(record.get("model_name"))
        elif path == "final_metrics":
            self._totals = record
        elif path == "subagent_trajectories.item":
            return self._count(self._subagent(record))
        elif path == "steps.item":
            return self._count(self._step(record))
        elif is_like(record, ATIF_TRAJECTORY):
            self._runs += 1
            chain = identifier(record.get("trajectory_id")) or identifier(record.get("session_id"))
            chain = chain or (f"run {self._runs}" if path or self._runs > 1 else "")
            return AtifReader(chain=chain).whole(record)
        return ()

    def finish(self) -> Sequence[Event]:
        """Returns what the totals have beyond the steps, as a notice of usage."""
        prompt = count(self._totals.get("total_prompt_tokens"))
        totals = Usage(
            output_tokens=count(self._totals.get("total_completion_tokens")),
            cost_usd=dollars(self._totals.get("total_cost_usd")),
        )
        if prompt is not None:
            # Some steps report their input but not what of it was cached, which the totals do.
            beyond = max(prompt - self._prompt, 0)
            cached = count(self._totals.get("total_cached_tokens"))
            more = min(max((cached or 0) - self._cached, 0), beyond)
            totals.input_tokens = self._prompt - self._cached + beyond - more
            totals.cache_read_tokens = None if cached is None else self._cached + more
        return self._ledger.rest(totals, chain_id=self._chain, ts=self._ts)

    def whole(self, trajectory: Mapping[str, Any]) -> Sequence[Event]:
        """The events of a whole trajectory."""
        events: list[Event] = []
        for path in ("agent", "final_metrics"):
            self.read(trajectory.get(path), path)
        for path in ("steps", "subagent_trajectories"):
            for record in items(trajectory.get(path)):
                events += self.read(record, f"{path}.item")
        events += self.finish()
        return events

    def _count(self, events: Iterable[Event]) -> Sequence[Event]:
        listed_events = [self._ledger.add(event) for event in events]
        for event in listed_events:
            if (usage := event.usage) is not None:
                cached = usage.cache_read_tokens or 0
                self._cached += cached
                self._prompt += (usage.input_tokens or 0) + cached
        return listed_events

    def _subagent(self, trajectory: Mapping[str, Any]) -> Sequence[Event]:
        if self._depth >= _DEEPEST:
            return ()
        self._below += 1
        name = identifier(trajectory.get("trajectory_id")) or identifier(trajectory.get("session_id"))
        name = name or f"{self._chain or 'sub-agent'} {self._below}"
        agent = text(mapping(trajectory.get("agent")).get("name"))
        return AtifReader(chain=name, agent=agent, depth=self._depth + 1).whole(trajectory)

    def _step(self, step: Mapping[str, Any]) -> Iterator[Event]:
        if not step or step.get("is_copied_context"):
            return
        self._steps += 1
        self._ts = seconds(step.get("timestamp")) or self._ts
        words, source = joined_text(step.get("message")), step.get("source")
        common: dict[str, Any] = {"chain_id": self._chain, "agent": self._agent, "ts": self._ts}
        if source == "agent" and step.get("llm_call_count") != 0:
            usage = _usage(mapping(step.get("metrics")))
            usage.model = text(step.get("model_name")) or self._model
            yield ModelCall(text=words or "", usage=reported(usage), **common)
        elif words is not None and source == "user":
            yield Message(text=words, **common)
        elif words is not None:
            yield Notice(kind=NoticeKind.NOTE, text=words, **common)
        yield from self._calls(step, common)

    def _calls(self, step: Mapping[str, Any], common: Mapping[str, Any]) -> Iterator[ToolCall]:
        calls = [mapping(call) for call in items(step.get("tool_calls"))]
        results = [mapping(result) for result in items(mapping(step.get("observation")).get("results"))]
        by_id = {name: result for result in results if (name := identifier(result.get("source_call_id")))}
        unnamed = iter([result for result in results if not identifier(result.get("source_call_id"))])
        for call in calls:
            name = identifier(call.get("tool_call_id"))
            tool_call = ToolCall(
                name=text(call.get("function_name")) or "tool",
                args=arguments(call.get("arguments")),
                batch=f"step {self._steps}",
                **common,
            )
            result = by_id.get(name) if name is not None else None
            result = result if result is not None else next(unnamed, None)
            if result is not None:
                content = result.get("content")
                # The answer of a sub-agent stands in its own trajectory.
                silent = content is None and "subagent_trajectory_ref" not in result
                tool_call.result = "" if silent else shown(content)
                tool_call.error = _failed(result) or (len(calls) == 1 and _failed(step))
            yield tool_call


def _usage(metrics: Mapping[str, Any]) -> Usage:
    usage = disjoint_usage(
        total_input=metrics.get("prompt_tokens"),
        output=metrics.get("completion_tokens"),
        cache_read=metrics.get("cached_tokens"),
    )
    usage.cost_usd = dollars(metrics.get("cost_usd"))
    return usage


def _failed(record: Mapping[str, Any]) -> bool:
    """True if a result, or a step with one call, says that it failed; the format has no field for it."""
    extra = mapping(record.get("extra"))
    inner = mapping(extra.get("tool_metadata")) or mapping(extra.get("tool_result_metadata"))
    flags = [place.get(key) for place in (record, extra, inner) for key in _ERRORS]
    code = inner.get("exit_code", extra.get("exit_code"))
    return any(flag is True for flag in flags) or (isinstance(code, int) and code != 0)
