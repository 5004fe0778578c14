"""Tokens and dollars by class in the objects that Langfuse keeps them in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.events.usage import Usage
from ebbtide.traces.records.fields import count, dollars
from ebbtide.traces.records.provider_usage import all_cache_writes
from ebbtide.traces.telemetry.span import usage_of

_SENT = ("input", "input_tokens", "prompt_tokens", "inputTokens", "promptTokens")
_RECEIVED = ("output", "output_tokens", "completion_tokens", "outputTokens", "completionTokens")
_TOTAL = ("total", "total_tokens", "totalTokens")
_READ = (
    "cache_read_input_tokens",
    "input_cache_read",
    "input_cached_tokens",
    "cached_input_tokens",
    "prompt_details.cache_read",
    "cache_read.input_tokens",
    "cache_read_tokens",
    "details.cache_read_tokens",
    "details.cache_read_input_tokens",
    "cached_tokens",
    "details.cached_tokens",
    "cache_read",
)
_WRITTEN = (
    "cache_creation_input_tokens",
    "input_cache_creation",
    "input_cache_write",
    "prompt_details.cache_write",
    "cache_write.input_tokens",
    "cache_creation.input_tokens",
    "cache_write_tokens",
    "cache_write_input_tokens",
    "details.cache_write_tokens",
    "details.cache_creation_input_tokens",
    "cache_write",
)
# Langfuse prices a cache write by how long it stays, in keys beside each other.
_WRITTEN_5M = ("input_cache_creation_5m", "input_ephemeral_5m_input_tokens", "ephemeral_5m_input_tokens")
_WRITTEN_1H = ("input_cache_creation_1h", "input_ephemeral_1h_input_tokens", "ephemeral_1h_input_tokens")
_THOUGHT = (
    "output_reasoning",
    "output_reasoning_tokens",
    "completion_details.reasoning",
    "reasoning.output_tokens",
    "reasoning_tokens",
    "details.reasoning_tokens",
    "details.thoughts_tokens",
    "reasoning",
)
#: Names of conventions in which the cached tokens are a part of the input.
_INSIDE = ("prompt_details.", "details.", "cache_read.", "cache_write.", "cache_creation.")


def usage_in(details: Mapping[str, Any]) -> Usage:
    """Tokens by class; the total, or the names, show whether cached ones and thoughts are parts of others."""
    fresh, output = (count(either(details, *keys)) for keys in (_SENT, _RECEIVED))
    cached, thought = (count(either(details, *keys)) for keys in (_READ, _THOUGHT))
    short, hour = (either(details, *keys) for keys in (_WRITTEN_5M, _WRITTEN_1H))
    stored = all_cache_writes(either(details, *_WRITTEN), short, hour)
    total = count(either(details, *_TOTAL))
    apart = (cached or 0) + (stored or 0)
    plain = (fresh or 0) + (output or 0)
    if thought and total is not None and total in (plain + thought, plain + thought + apart):
        output = (output or 0) + thought  # Counted beside the other output, not as a part of it.
        plain += thought
    inside = any(key.startswith(_INSIDE) for key in details)
    if apart and fresh is not None and total != plain and not inside:
        fresh += apart  # Counted beside the other input; `usage_of` takes them out again.
    return usage_of(
        total_input=fresh,
        output=output,
        read=cached,
        written=stored,
        reasoning=thought,
        written_1h=hour,
        total=None,
    )


def cost_in(details: Mapping[str, Any]) -> float | None:
    """Dollars: the total, or the sum of the parts; None where there are none."""
    total = dollars(details.get("total"))
    if total is not None:
        return total
    parts = [cost for key, part in details.items() if key != "total" and (cost := dollars(part)) is not None]
    return sum(parts) if parts else None


def either(value: Mapping[str, Any], *keys: str) -> Any:
    """The value of the first of the keys that is there; None if none is."""
    return next((value[key] for key in keys if value.get(key) is not None), None)
