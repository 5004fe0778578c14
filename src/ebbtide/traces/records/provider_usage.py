"""Usage as providers report it, made into classes of tokens that do not overlap."""

from __future__ import annotations

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
    report = mapping(usage)
    return Usage(
        input_tokens=count(report.get("input_tokens")),
        output_tokens=count(report.get("output_tokens")),
        cache_read_tokens=count(report.get("cache_read_input_tokens")),
        cache_write_tokens=count(report.get("cache_creation_input_tokens")),
    )


def openai_usage(usage: object) -> Usage:
    """Usage as OpenAI reports it, and what is shaped like it: cached tokens are a part of the input."""
    report = mapping(usage)
    details = mapping(report.get("prompt_tokens_details") or report.get("input_tokens_details"))
    return disjoint_usage(
        total_input=_first(report.get("prompt_tokens"), report.get("input_tokens")),
        output=_first(report.get("completion_tokens"), report.get("output_tokens")),
        cache_read=_first(
            details.get("cached_tokens"),
            report.get("cached_input_tokens"),
            report.get("cached_tokens"),
            report.get("cache_read_input_tokens"),
            report.get("cache_read_tokens"),
        ),
        cache_write=_first(
            details.get("cache_write_tokens"),
            report.get("cache_write_input_tokens"),
            report.get("cache_creation_input_tokens"),
            report.get("cache_write_tokens"),
        ),
    )


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


def _first(*values: object) -> object:
    return next((value for value in values if value is not None), None)
