"""Reasoning and cache writes for an hour: parts of a class, as each provider states them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.budget.tally import Tally
from ebbtide.errors import ConfigError
from ebbtide.events.event import ModelCall
from ebbtide.events.event_json import read_event
from ebbtide.events.provider_usage import GEMINI as GEMINI_SHAPE
from ebbtide.events.provider_usage import GEMINI_INTERACTION, OPENAI, UsageShape, whole_count
from ebbtide.events.usage import CLASSES, COUNTS, PARTS, Usage, total
from ebbtide.traces.agents.ebbtide_events import EbbtideEventsReader
from ebbtide.traces.records.calls_once import CallsOnce
from ebbtide.traces.records.usage_accounts import RunningTotal, UsageLedger

CHAT = {"prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 70}
ANTHROPIC = {"input_tokens": 5, "output_tokens": 20, "cache_creation_input_tokens": 30}
LANGCHAIN = {"input_tokens": 40, "output_tokens": 20}
GEMINI = {"promptTokenCount": 50, "candidatesTokenCount": 20}

# What a provider reports; the whole output and the reasoning in it; all cache writes and those for an hour.
SHAPES = {
    "openai chat": ({**CHAT, "completion_tokens_details": {"reasoning_tokens": 8}}, (20, 8, None, None)),
    "reasoning left out of the output": (
        {**CHAT, "total_tokens": 98, "completion_tokens_details": {"reasoning_tokens": 28}},
        (48, 28, None, None),
    ),
    "openai responses": (
        {"input_tokens": 50, "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 8}}
        | {"input_tokens_details": {"cached_tokens": 0}},
        (20, 8, None, None),
    ),
    "codex": (
        {"input_tokens": 50, "cached_input_tokens": 9, "output_tokens": 20, "reasoning_output_tokens": 8},
        (20, 8, None, None),
    ),
    "anthropic": (
        {**ANTHROPIC, "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20}},
        (20, None, 30, 20),
    ),
    "anthropic, five minutes only": (
        {**ANTHROPIC, "cache_creation": {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 0}},
        (20, None, 30, 0),
    ),
    "anthropic's thinking": (
        {**ANTHROPIC, "output_tokens_details": {"thinking_tokens": 8}},
        (20, 8, 30, None),
    ),
    "gemini": ({**GEMINI, "thoughtsTokenCount": 8}, (28, 8, None, None)),
    "gemini's client": (
        {"prompt_token_count": 50, "candidates_token_count": 20, "thoughts_token_count": 8},
        (28, 8, None, None),
    ),
    "gemini's client over litellm": (
        {"prompt_token_count": 50, "candidates_token_count": 20, "thoughts_token_count": 8}
        | {"total_token_count": 70},
        (20, 8, None, None),
    ),
    "gemini's client, with a total": (
        {"prompt_token_count": 50, "candidates_token_count": 20, "thoughts_token_count": 8}
        | {"total_token_count": 78},
        (28, 8, None, None),
    ),
    "langchain": ({**LANGCHAIN, "output_token_details": {"reasoning": 8}}, (20, 8, None, None)),
    "langchain to anthropic": (
        {
            **LANGCHAIN,
            "input_token_details": {
                "cache_creation": 0,
                "ephemeral_5m_input_tokens": 10,
                "ephemeral_1h_input_tokens": 20,
            },
        },
        (20, None, 30, 20),
    ),
    "litellm to anthropic": (
        {
            **CHAT,
            "prompt_tokens_details": {
                "cache_creation_tokens": 30,
                "cache_creation_token_details": {"ephemeral_1h_input_tokens": 20},
            },
        },
        (20, None, 30, 20),
    ),
    "pydantic-ai": (
        {"input_tokens": 50, "output_tokens": 20, "cache_read_tokens": 0, "details": {"reasoning_tokens": 8}},
        (20, 8, None, None),
    ),
    "ebbtide": (
        {"output_tokens": 20, "reasoning_tokens": 8, "cost_usd": None}
        | {"cache_write_tokens": 30, "cache_write_1h_tokens": 20},
        (20, 8, 30, 20),
    ),
    "bedrock": (
        {"inputTokens": 5, "outputTokens": 20, "cacheWriteInputTokens": 30}
        | {"cacheDetails": [{"ttl": "1h", "inputTokens": 20}, {"ttl": "5m", "inputTokens": 10}]},
        (20, None, 30, 20),
    ),
    "bedrock, no lifetimes": (
        {"inputTokens": 5, "outputTokens": 20, "cacheWriteInputTokens": 0, "cacheDetails": []},
        (20, None, 0, None),
    ),
    "not what bedrock states": (
        {"inputTokens": 5, "outputTokens": 20, "cacheDetails": [None, 7, {"ttl": ["1h"]}]},
        (20, None, None, None),
    ),
    "more reasoning than output": (
        {**CHAT, "completion_tokens_details": {"reasoning_tokens": 28}},
        (20, None, None, None),
    ),
    "more for an hour than was written": (
        {**ANTHROPIC, "cache_creation": {"ephemeral_1h_input_tokens": 31}},
        (20, None, 30, None),
    ),
    "no count": ({**CHAT, "completion_tokens_details": {"reasoning_tokens": -1}}, (20, None, None, None)),
}


@pytest.mark.parametrize(("report", "parts"), SHAPES.values(), ids=SHAPES)
def test_each_provider_states_parts_in_its_own_way(
    report: dict[str, Any], parts: tuple[int | None, ...]
) -> None:
    """They come out as parts of a class; what is not stated, or cannot be, is not known."""
    usage = Usage.of({"usage": report})
    assert usage is not None
    assert (
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.cache_write_tokens,
        usage.cache_write_1h_tokens,
    ) == parts
    assert usage.checked() is usage


@pytest.mark.parametrize(("part", "whole"), PARTS.items())
def test_a_part_adds_no_tokens(part: str, whole: str) -> None:
    """Tokens of all classes are the same with it and without it."""
    assert Usage(**{whole: 20, part: 8}).tokens == 20  # type: ignore[arg-type]


@pytest.mark.parametrize(("part", "whole"), PARTS.items())
@pytest.mark.parametrize(("count", "most"), [(9, 8), (1, None), (-1, 8), (2.5, 8), (True, 8)])
def test_a_part_that_cannot_be(part: str, whole: str, count: Any, most: int | None) -> None:
    """It is an error where it is checked, and elsewhere a fault that leaves its class as it is."""
    usage = Usage(**{whole: most, part: count})  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=f"{part} = "):
        usage.checked()
    tally = Tally()
    tally.add(ModelCall(usage=usage))
    assert (tally.tokens, tally.faults) == (most, 1)
    usage.drop_impossible_parts()
    assert usage.checked() == Usage(**{whole: most})  # type: ignore[arg-type]


def test_the_plain_form_states_them() -> None:
    """Both readers of plain events give the same usage."""
    usage = Usage(output_tokens=20, reasoning_tokens=8, cache_write_tokens=30, cache_write_1h_tokens=20)
    wire = {"kind": "llm", "text": "Done.", **{name: getattr(usage, name) for name in COUNTS}}
    assert read_event(wire).usage == usage
    assert EbbtideEventsReader().read(wire, "")[0].usage == usage
    assert read_event({"kind": "llm", "reasoning_tokens": 8}).usage == Usage(reasoning_tokens=8)


def test_a_stream_keeps_parts_that_can_be() -> None:
    """A later count of a class may be lower than the part that came before; then the part is not known."""
    begun = Usage(cache_write_tokens=30, cache_write_1h_tokens=20, output_tokens=1)
    ended = Usage(output_tokens=20, reasoning_tokens=8)
    both = Usage(cache_write_tokens=30, cache_write_1h_tokens=20, output_tokens=20, reasoning_tokens=8)
    assert begun.updated(ended) == both
    assert both.updated(Usage(output_tokens=5)).reasoning_tokens is None


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    """A usage in which every number can be."""
    counts = {name: draw(st.none() | st.integers(0, 90)) for name in CLASSES}
    parts = {
        part: None if counts[whole] is None else draw(st.none() | st.integers(0, counts[whole]))
        for part, whole in PARTS.items()
    }
    return Usage(**counts, **parts)  # type: ignore[arg-type]


@given(st.lists(usages(), max_size=8))
def test_sums_keep_every_part_within_its_class(items: list[Usage]) -> None:
    """The sum of what is known, which can be again; None where no usage states it."""
    whole = total(items)
    assert whole.checked() is whole
    for name in COUNTS:
        amounts = [amount for item in items if (amount := getattr(item, name)) is not None]
        assert getattr(whole, name) == (sum(amounts) if amounts else None)


@given(st.lists(usages(), max_size=8))
def test_differences_keep_every_part_within_its_class(items: list[Usage]) -> None:
    """What grew, what was not counted yet, and what a total has beyond the calls can all be."""
    once, running, ledger = CallsOnce(), RunningTotal(), UsageLedger()
    for item in items:
        assert once.sight("m", item).growth.checked()
        assert running.growth(item).checked()
        ledger.add(ModelCall(usage=item))
    for notice in ledger.rest(total([*items, *items[:1]])):
        assert notice.usage is not None
        assert notice.usage.checked()


@given(
    shape=st.sampled_from([OPENAI, GEMINI_SHAPE, GEMINI_INTERACTION]),
    fresh=st.integers(0, 10**6),
    output=st.integers(1, 10**6),
    thought=st.integers(0, 10**6),
    inside=st.booleans(),
)
def test_the_parts_add_up_to_the_total(
    shape: UsageShape, fresh: int, output: int, thought: int, inside: bool
) -> None:
    """Reasoning counts once, within the output or beside it, where the report states a total."""
    thought = min(thought, output) if inside else thought
    total = fresh + output + (0 if inside else thought)
    report: dict[str, Any] = {shape.total: total}
    for part, value in (("input_tokens", fresh), ("output_tokens", output), ("reasoning_tokens", thought)):
        ((holder, name), *_), *_ = shape.places[part]
        (report.setdefault(holder, {}) if holder else report)[name] = value
    counts = shape.counts(report, whole_count)
    assert (counts["input_tokens"] or 0) + (counts["output_tokens"] or 0) == total
