"""Usage as providers report it, made into classes of tokens that do not overlap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.events.provider_usage import ANTHROPIC, OPENAI, UsageShape, shape_of
from ebbtide.events.usage import CLASSES, Usage
from ebbtide.traces.records.fields import count, mapping

_EMPTY = Usage()


def disjoint_usage(
    *, total_input: object, output: object, cache_read: object = None, cache_write: object = None
) -> Usage:
    """Usage from a report in which the input counts what came from the cache, or went into it, too.

    Args:
        total_input: All input tokens.
        output: All output tokens, reasoning included.
        cache_read: Those of the input that were read from a cache.
        cache_write: Those of the input that were written to a cache.
    """
    fresh, cached, stored = count(total_input), count(cache_read), count(cache_write)
    if fresh is not None:
        # A report whose parts are larger than the whole counts them beside it.
        inside = (cached or 0) + (stored or 0)
        fresh = fresh - inside if inside <= fresh else fresh
    return Usage(
        input_tokens=fresh, output_tokens=count(output), cache_read_tokens=cached, cache_write_tokens=stored
    )


def anthropic_usage(usage: object) -> Usage:
    """Usage as Anthropic reports it: its input tokens are those that were in no cache."""
    return _shaped(ANTHROPIC, mapping(usage))


def openai_usage(usage: object) -> Usage:
    """Usage as OpenAI reports it, and what is shaped like it: cached tokens are a part of the input."""
    return _shaped(OPENAI, mapping(usage))


def usage_by_keys(usage: object) -> Usage:
    """Usage as any provider reports it; its keys tell which."""
    report = mapping(usage)
    shape = shape_of(report)
    return Usage() if shape is None else _shaped(shape, report)


def reported(usage: Usage) -> Usage | None:
    """The usage, or None where it has neither a model nor a number."""
    return None if usage == _EMPTY else usage


def has_tokens(usage: Usage) -> bool:
    """Whether a number of tokens is known, if only 0."""
    return any(getattr(usage, name) is not None for name in CLASSES)


def has_spent(usage: Usage | None) -> bool:
    """Whether there are tokens or a cost above 0."""
    return usage is not None and bool(usage.tokens or usage.cost_usd)


def total(usages: list[Usage]) -> Usage:
    """The sum over model calls; what none of them reports is not known."""
    whole = Usage()
    for name in (*CLASSES, "cost_usd"):
        amounts = [amount for usage in usages if (amount := getattr(usage, name)) is not None]
        if amounts:
            setattr(whole, name, sum(amounts))
    return whole


def _shaped(shape: UsageShape, report: Mapping[str, Any]) -> Usage:
    fresh, output, cached, stored = shape.counts(report, count)
    if shape.cached_inside:
        return disjoint_usage(total_input=fresh, output=output, cache_read=cached, cache_write=stored)
    return Usage(
        input_tokens=fresh, output_tokens=output, cache_read_tokens=cached, cache_write_tokens=stored
    )
