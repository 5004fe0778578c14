"""Where the runs of a service can be, and exports as somebody would write them by hand."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ebbtide.service.otlp.export import JSON, Export, SignalKind, read_export


@pytest.fixture(params=["sqlite", "postgres"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A file, or a database of a server."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    return request.getfixturevalue("postgres_url")


def span(name: str, start: float, end: float, **fields: Any) -> dict[str, Any]:
    """A span ``TRACE:ID<PARENT``, with attributes under their names."""
    place, _, parent = name.partition("<")
    trace, _, number = place.partition(":")
    attributes = {"gen_ai.operation.name": "chat", **fields.pop("attributes", {})}
    return {
        "traceId": trace.encode().hex().zfill(32),
        "spanId": number.encode().hex().zfill(16),
        "parentSpanId": parent.encode().hex().zfill(16) if parent else "",
        "name": number,
        "startTimeUnixNano": str(int((1_767_607_200 + start) * 1e9)),
        "endTimeUnixNano": str(int((1_767_607_200 + end) * 1e9)),
        "attributes": [{"key": key, "value": _value(value)} for key, value in attributes.items()],
        **fields,
    }


def _value(value: Any) -> dict[str, Any]:
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def tool(name: str, start: float, end: float, tool: str = "search", **more: Any) -> dict[str, Any]:
    """A call of a tool."""
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.arguments": '{"q": "x"}',
        "gen_ai.tool.call.result": "none",
        **more,
    }
    return span(name, start, end, attributes=attributes)


def model(name: str, start: float, end: float, text: str = "I see.", **more: Any) -> dict[str, Any]:
    """A call of a model."""
    attributes = {
        "gen_ai.request.model": "m",
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": text}]}]
        ),
        **more,
    }
    return span(name, start, end, attributes=attributes)


def agent(name: str, start: float, end: float, **more: Any) -> dict[str, Any]:
    """An agent at work, which sums up what is inside."""
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "finder", **more}
    return span(name, start, end, attributes=attributes)


def request(*spans: dict[str, Any], scope: str = "my.agents", service: str = "shop") -> dict[str, Any]:
    """An export of spans."""
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": service}}]}
    return {
        "resourceSpans": [
            {"resource": resource, "scopeSpans": [{"scope": {"name": scope}, "spans": list(spans)}]}
        ]
    }


def trace_id(name: str) -> str:
    """The run of a trace without a conversation."""
    return name.encode().hex().zfill(32)


@pytest.fixture
def wire() -> SimpleNamespace:
    """The functions that write spans."""
    return SimpleNamespace(span=span, tool=tool, model=model, agent=agent, request=request, trace_id=trace_id)


@pytest.fixture
def export() -> Callable[..., Export]:
    """What a receiver reads of some spans."""
    return lambda *spans, **more: read_export(
        json.dumps(request(*spans, **more)).encode(), JSON, SignalKind.TRACES
    )
