"""Reasoning and cache writes for an hour, in the traces of every format that states them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.events.event import Event
from ebbtide.events.usage import Usage
from ebbtide.traces.agents.inspect_log import usage_in as inspect_usage
from ebbtide.traces.agents.openhands import totals_of
from ebbtide.traces.reading import open_trace
from ebbtide.traces.telemetry.span_attributes import usage_from
from ebbtide.traces.telemetry.usage_details import usage_in

SPLIT = {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20}
ANTHROPIC = {
    "input_tokens": 5,
    "output_tokens": 9,
    "cache_creation_input_tokens": 30,
    "cache_creation": SPLIT,
}
SENT = {"gen_ai.usage.input_tokens": 50, "gen_ai.usage.output_tokens": 20}

SPANS = {
    "opentelemetry": {**SENT, "gen_ai.usage.reasoning.output_tokens": 8},
    "opentelemetry, earlier": {**SENT, "gen_ai.usage.reasoning_tokens": 8},
    "sentry": {**SENT, "gen_ai.usage.output_tokens.reasoning": 8},
    "pydantic-ai": {**SENT, "gen_ai.usage.details.reasoning_tokens": 8},
    "vercel": {"ai.usage.inputTokens": 50, "ai.usage.outputTokens": 20, "ai.usage.reasoningTokens": 8},
    "openinference": {
        "llm.token_count.prompt": 50,
        "llm.token_count.completion": 20,
        "llm.token_count.completion_details.reasoning": 8,
    },
    "an agent's sum": {
        "gen_ai.aggregated_usage.input_tokens": 50,
        "gen_ai.aggregated_usage.output_tokens": 20,
        "gen_ai.aggregated_usage.details.reasoning_tokens": 8,
    },
}


@pytest.mark.parametrize("attributes", SPANS.values(), ids=SPANS)
def test_spans(attributes: dict[str, Any]) -> None:
    """Each convention has a name for reasoning; it is a part of the output."""
    assert usage_from(attributes) == Usage(input_tokens=50, output_tokens=20, reasoning_tokens=8)
    assert usage_from({**attributes, next(reversed(attributes)): 21}).reasoning_tokens is None


@pytest.mark.parametrize(
    ("details", "parts"),
    [
        ({"input": 60, "output": 9, "output_reasoning": 5, "total": 74}, (14, 5, None, None)),
        ({"input": 60, "output": 9, "completion_details.reasoning": 5, "total": 69}, (9, 5, None, None)),
        ({"input": 60, "output": 9, "input_cache_creation_1h": 20}, (9, None, 20, 20)),
        (
            {"input": 60, "output": 9, "input_cache_creation_5m": 10, "input_cache_creation_1h": 20},
            (9, None, 30, 20),
        ),
        (
            {"input": 60, "output": 9, "cache_creation_input_tokens": 30}
            | {"input_cache_creation_5m": 10, "input_cache_creation_1h": 20},
            (9, None, 30, 20),
        ),
        (
            {"input": 60, "output": 9, "input_cache_creation": 0}
            | {"input_ephemeral_5m_input_tokens": 10, "input_ephemeral_1h_input_tokens": 20},
            (9, None, 30, 20),
        ),
    ],
)
def test_langfuse(details: dict[str, int], parts: tuple[int | None, ...]) -> None:
    """Keys by lifetime stand beside each other, or split the sum."""
    assert parts_of(usage_in(details)) == parts


def test_inspect_and_openhands() -> None:
    """Both state reasoning beside the output that it is a part of."""
    report = {"input_tokens": 50, "output_tokens": 20, "total_tokens": 70, "reasoning_tokens": 8}
    assert parts_of(inspect_usage(report)) == (20, 8, None, None)
    sums = {"prompt_tokens": 50, "completion_tokens": 20, "reasoning_tokens": 8}
    assert parts_of(totals_of({"accumulated_token_usage": sums})) == (20, 8, None, None)


def lines(*values: dict[str, Any]) -> bytes:
    """Records, one a line."""
    return "\n".join(map(json.dumps, values)).encode()


CLAUDE = {
    "type": "assistant",
    "uuid": "a1",
    "parentUuid": None,
    "isSidechain": False,
    "sessionId": "s1",
    "timestamp": "2026-03-01T10:00:04.000Z",
    "message": {"id": "m1", "role": "assistant", "model": "claude-opus", "usage": ANTHROPIC}
    | {"content": [{"type": "text", "text": "Done."}]},
}
CODEX = {"input_tokens": 50, "cached_input_tokens": 9, "output_tokens": 20, "reasoning_output_tokens": 8}
GEMINI = {"input": 50, "output": 12, "cached": 0, "thoughts": 8, "tool": 0, "total": 70}
LANGSMITH = {
    "id": "m1",
    "trace_id": "m1",
    "dotted_order": "1",
    "run_type": "llm",
    "name": "model",
    "start_time": "2026-03-01T10:00:04.000Z",
    "end_time": "2026-03-01T10:00:05.000Z",
    "inputs": {"messages": []},
    "outputs": {
        "content": "Done.",
        "usage_metadata": {
            "input_tokens": 35,
            "output_tokens": 20,
            "total_tokens": 55,
            "input_token_details": {"cache_creation": 0, **SPLIT},
            "output_token_details": {"reasoning": 8},
        },
    },
}
FILES = {
    "claude-code": (lines(CLAUDE, CLAUDE), (9, None, 30, 20)),
    "codex": (
        lines(
            {"type": "session_meta", "payload": {"id": "s", "cwd": "/"}},
            {
                "type": "event_msg",
                "payload": {
                    "type": "token_count",
                    "info": {"last_token_usage": CODEX, "total_token_usage": CODEX},
                },
            },
        ),
        (20, 8, None, None),
    ),
    "gemini-cli": (
        json.dumps(
            {
                "sessionId": "s",
                "projectHash": "p",
                "messages": [{"id": "m", "type": "gemini", "content": "Done.", "tokens": GEMINI}],
            }
        ).encode(),
        (20, 8, None, None),
    ),
    "langsmith": (json.dumps([LANGSMITH]).encode(), (20, 8, 30, 20)),
}


@pytest.mark.parametrize(("file", "parts"), FILES.values(), ids=FILES)
def test_files(read_data: Callable[..., Any], file: bytes, parts: tuple[int | None, ...]) -> None:
    """A call states its parts once, though lines of it come twice."""
    _, events = read_data(file)
    (usage,) = (event.usage for event in events if event.usage is not None and event.usage.has_tokens)
    assert parts_of(usage) == parts


def test_real_sessions_state_their_writes_for_an_hour(data: Path) -> None:
    """What the calls of a session carry is what its messages say, each counted once; 0 is 0."""
    checked = 0
    for path in sorted((data / "runs" / "claude_code").glob("*.jsonl.gz")):
        stated = hour_writes(path)
        if not stated:
            continue
        usages = [event.usage for event in open_trace(path) if isinstance(event, Event) and event.usage]
        counts = [usage.cache_write_1h_tokens for usage in usages if usage.cache_write_1h_tokens is not None]
        assert counts
        assert sum(counts) == sum(stated.values()), path.name
        checked += 1
    if not checked:
        pytest.skip(f"no session in {data / 'runs' / 'claude_code'} says how long its cache writes stay")


def hour_writes(path: Path) -> dict[str, int]:
    """Tokens that each message of a session wrote for an hour, by its id; lines that are no JSON aside."""
    writes = {}
    with gzip.open(path) as file:
        for line in file:
            try:
                message = json.loads(line).get("message")
            except ValueError:
                continue
            if isinstance(message, dict) and isinstance(message.get("usage"), dict):
                hour = (message["usage"].get("cache_creation") or {}).get("ephemeral_1h_input_tokens")
                if hour is not None:
                    writes[message["id"]] = hour
    return writes


def parts_of(usage: Usage) -> tuple[int | None, ...]:
    """The output and the reasoning in it, all cache writes and those for an hour."""
    return (
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.cache_write_tokens,
        usage.cache_write_1h_tokens,
    )
