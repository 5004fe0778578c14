"""Anthropic's messages: blocks, usage by class, answers in parts, requests with answers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.events.event import Event, Message, ModelCall, ToolCall, title
from ebbtide.events.usage import Usage
from ebbtide.traces.reading import load


def test_a_conversation(calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]) -> None:
    """Results stand with their calls, whatever their order; cached tokens are none of the input's."""
    found = calls("anthropic_messages.json", form="anthropic-messages")
    assert totals(found) == {
        "tool": 2,
        "llm": 2,
        "user": 3,
        "input_tokens": 20 + 5,
        "output_tokens": 30 + 7,
        "cache_read_tokens": 500,
        "cache_write_tokens": 500,
        "cost_usd": None,
    }
    tools = [call for call in found if isinstance(call, ToolCall)]
    assert [(call.args, call.result, call.error) for call in tools] == [
        ({"city": "Rome"}, "no such city", True),
        ({"city": "Paris"}, "rain", False),
    ]
    assert tools[0].batch == tools[1].batch is not None
    assert [call.text for call in found if not isinstance(call, ToolCall)] == [
        "Be brief.",
        "Weather in Paris and Rome?",
        "I look.",
        "Go on.",
        "Rain in Paris.",
    ]
    assert {(call.usage or Usage()).model for call in found if isinstance(call, ModelCall)} == {
        "claude-fake-1"
    }


def test_the_conversation_of_it(samples: Path) -> None:
    """Rounds are what users and the model say."""
    rounds = load(samples / "anthropic_messages.json").rounds
    assert [(item.agent, item.text) for item in rounds][1:] == [
        ("assistant", "I look."),
        ("user", "Go on."),
        ("assistant", "Rain in Paris."),
    ]


def test_answers_in_parts(calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]) -> None:
    """An answer that is logged block by block repeats its usage, which counts once; servers run tools too."""
    found = calls("anthropic_responses.jsonl", form="anthropic-messages")
    counts = totals(found)
    assert (counts["llm"], counts["tool"]) == (2, 2)
    assert (counts["input_tokens"], counts["output_tokens"], counts["cache_read_tokens"]) == (
        20 + 50,
        30 + 9,
        4,
    )
    assert [call.result for call in found if title(call) == "web_search"] == [
        [{"type": "web_search_result", "url": "https://example.com"}]
    ]


ASKED = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {"at": "sea"}}],
}
ANSWER = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "waves"}]}


@pytest.mark.parametrize("wrapped", [False, True], ids=["beside each other", "request and response"])
def test_requests_with_answers(read_data: Callable[..., Any], wrapped: bool) -> None:
    """The context is told once, with the result that it brings."""
    context = [{"role": "user", "content": "Hi"}, ASKED, ANSWER]
    said = {
        "id": "x",
        "type": "message",
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 1},
    }
    lines = []
    for upto, answer in (
        (1, {**ASKED, **said}),
        (3, {"role": "assistant", "content": [{"type": "text", "text": "Waves."}], **said}),
    ):
        request = {"model": "m", "messages": context[:upto]}
        lines.append(
            json.dumps(
                {"request": request, "response": answer} if wrapped else {**request, "response": answer}
            )
        )
    trace, found = read_data("\n".join(lines).encode())
    assert trace.format.name == "anthropic-messages"
    assert [
        (
            type(call),
            getattr(call, "text", None),
            getattr(call, "result", None),
            (call.usage or Usage()).input_tokens,
        )
        for call in found
    ] == [
        (Message, "Hi", None, None),
        (ModelCall, "", None, 3),
        (ToolCall, None, "waves", None),
        (ModelCall, "Waves.", None, 3),
    ]


def test_plain_chats_are_left_to_others(read_data: Callable[..., Any]) -> None:
    """Messages without blocks of Anthropic's are a chat."""
    trace, _ = read_data(json.dumps([{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]).encode())
    assert trace.format.name == "chat"


def test_results_of_a_batch(read_data: Callable[..., Any], totals: Callable[..., dict[str, Any]]) -> None:
    """Each answer stands in the result of its request; one that failed has none."""
    usage = {"input_tokens": 5, "cache_read_input_tokens": 20, "output_tokens": 7}
    said = {"type": "message", "model": "m", "stop_reason": "tool_use", "usage": usage, **ASKED}
    answers = [{**said, "id": f"m{n}"} for n in range(3)]
    lines = [
        {"custom_id": answer["id"], "result": {"type": "succeeded", "message": answer}} for answer in answers
    ]
    lines.append({"custom_id": "x", "result": {"type": "errored", "error": {"type": "error"}}})
    trace, found = read_data("\n".join(map(json.dumps, lines)).encode())
    counted = totals(found)
    assert (trace.format.name, trace.fault_count) == ("anthropic-messages", 0)
    assert (counted["llm"], counted["tool"]) == (len(answers), len(answers))
    assert counted["input_tokens"] == len(answers) * usage["input_tokens"]
    assert counted["cache_read_tokens"] == len(answers) * usage["cache_read_input_tokens"]
    assert counted["output_tokens"] == len(answers) * usage["output_tokens"]


def test_usage_around_a_conversation(
    read_data: Callable[..., Any], totals: Callable[..., dict[str, Any]]
) -> None:
    """A run that tells its usage as a whole does not lose it."""
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 9, "output_tokens": 7}
    wire = {"messages": [{"role": "user", "content": "Hi"}, ASKED, ANSWER], "usage": usage}
    trace, found = read_data(json.dumps(wire).encode())
    counted = totals(found)
    assert (trace.format.name, counted["tool"]) == ("anthropic-messages", 1)
    assert [counted[key] for key in ("input_tokens", "cache_write_tokens", "output_tokens")] == [
        *usage.values()
    ]
