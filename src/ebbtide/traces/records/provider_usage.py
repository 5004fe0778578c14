"""Usage as providers report it, made into classes of tokens that do not overlap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.events.provider_usage import ANTHROPIC, OPENAI, UsageShape, shape_of, tier_of
from ebbtide.events.usage import CLASSES, COUNTS, Usage
from ebbtide.traces.records.fields import count, mapping

_EMPTY = Usage()


def disjoint_usage(
    *,
    total_input: object,
    output: object,
    cache_read: object = None,
    cache_write: object = None,
    reasoning: object = None,
    cache_write_1h: object = None,
) -> Usage:
    """Usage from a report in which the input counts what came from the cache, or went into it, too.

    Args:
        total_input: All input tokens.
        output: All output tokens, reasoning included.
        cache_read: Those of the input that were read from a cache.
        cache_write: Those of the input that were written to a cache.
        reasoning: Those of the output that are reasoning.
        cache_write_1h: Those of the cache writes that stay for an hour.
    """
    fresh, cached, stored = count(total_input), count(cache_read), count(cache_write)
    if fresh is not None:
        # A report whose parts are larger than the whole counts them beside it.
        inside = (cached or 0) + (stored or 0)
        fresh = fresh - inside if inside <= fresh else fresh
    usage = Usage(
        input_tokens=fresh,
        output_tokens=count(output),
        cache_read_tokens=cached,
        cache_write_tokens=stored,
        reasoning_tokens=count(reasoning),
        cache_write_1h_tokens=count(cache_write_1h),
    )
    usage.drop_impossible_parts()
    return usage


def usage_named(report: Mapping[str, Any], *names: str) -> Usage:
    """Usage of a report whose counts do not overlap.

    >>> usage_named({"in": 7, "out": 3}, "in", "out")
    Usage(model=None, input_tokens=7, output_tokens=3, ...)

    Args:
        report: The counts.
        names: Their names in it, in the order of `COUNTS`: input, output, read from a cache, written to one,
            reasoning, written for an hour.
    """
    counts = {field: count(report.get(name)) for field, name in zip(COUNTS, names, strict=False)}
    usage = Usage(**counts)  # type: ignore[arg-type]
    usage.drop_impossible_parts()
    return usage


def all_cache_writes(plain: object, short: object, hour: object) -> int | None:
    """Tokens written to a cache, where a report may state them by how long they stay.

    >>> all_cache_writes(0, 5, 3), all_cache_writes(8, 5, 3), all_cache_writes(2, None, 3)
    (8, 8, 5)

    Args:
        plain: Those without a lifetime, or the sum of the others.
        short: Those that stay for five minutes.
        hour: Those that stay for an hour.
    """
    whole, parts = count(plain), [count(part) for part in (short, hour)]
    split = sum(part or 0 for part in parts)
    if split == whole:
        return whole
    return whole if parts == [None, None] else (whole or 0) + split


def anthropic_usage(usage: object) -> Usage:
    """Usage as Anthropic reports it: its input tokens are those that were in no cache."""
    report = mapping(usage)
    shaped = _shaped(ANTHROPIC, report)
    shaped.tier = tier_of(report.get("speed"), report.get("service_tier"))
    return shaped


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
    """True if a number of tokens is known, if only 0."""
    return any(getattr(usage, name) is not None for name in CLASSES)


def has_spent(usage: Usage | None) -> bool:
    """True if there are tokens or a cost above 0."""
    return usage is not None and bool(usage.tokens or usage.cost_usd)


def _shaped(shape: UsageShape, report: Mapping[str, Any]) -> Usage:
    counts = shape.counts(report, count)
    if shape.cached_inside:
        fields = {name.removesuffix("_tokens"): number for name, number in counts.items()}
        return disjoint_usage(total_input=fields.pop("input"), **fields)
    usage = Usage(**counts)
    usage.drop_impossible_parts()
    return usage
