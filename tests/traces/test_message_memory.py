"""Messages that were read before: reading on gives the same as reading anew."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.traces.chats.message_shapes import messages_in
from ebbtide.traces.telemetry import message_memory
from ebbtide.traces.telemetry.message_memory import MessageMemory

LONG = "word " * 120
ITEMS = st.one_of(
    st.builds(
        lambda role, words: {"role": role, "content": words + LONG},
        st.sampled_from(["user", "assistant", "system", "tool", "odd"]),
        st.text(max_size=5),
    ),
    st.just({"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}),
    st.just({"nothing": 1}),
    st.sampled_from(["user", "Hi", 7, None, ["user", "Hi"]]),
)


@given(st.lists(st.lists(ITEMS, max_size=4), min_size=1, max_size=5), st.sampled_from([None, 1]))
def test_growing_contexts(more: list[list[Any]], indent: int | None) -> None:
    """However a context grows, its messages are those that reading all of it finds."""
    memory = MessageMemory()
    context: list[Any] = []
    for items in more:
        context += items
        told = json.dumps(context, indent=indent)
        assert memory.messages_in(told, "user") == messages_in(told, "user")
        assert memory.messages_in(told, "assistant") == messages_in(told, "assistant")


def test_texts_that_only_begin_alike() -> None:
    """A longer number, broken JSON and an item of another kind are no continuation."""
    memory = MessageMemory()
    first = json.dumps([{"role": "user", "content": LONG}])
    memory.messages_in(first, "user")
    for told in (
        first[:-1] + "x]",
        first[:-1] + ", {]",
        first[:-1] + ', "Hi"]',
        first[:-1] + "\n, {}]",
        first + "]",
    ):
        assert memory.messages_in(told, "user") == messages_in(told, "user")


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contexts that have nothing in common leave few of them behind, long ones fewer."""
    monkeypatch.setattr(message_memory, "_MOST_CHARACTERS", 3_000)
    memory = MessageMemory()
    for number in range(100):
        words = f"{number} {LONG}"
        (said,) = memory.messages_in(json.dumps([{"role": "user", "content": words}]), "user")
        (listed,) = memory.messages_listed([(("role", "user"), ("content", words))], "user")
        assert said.text == listed.text == words
    assert 0 < sum(len(text) for text, *_ in memory._texts) <= 3_000
    assert 0 < len(memory._messages) <= 3_000 / len(LONG)


def test_lists_in_fields() -> None:
    """Dotted names are objects and lists; a value that is a list itself is read as well."""
    call = (("role", "assistant"), ("tool_calls.0.name", "look"), ("tool_calls.0.arguments", '{"at": "sea"}'))
    parts = (("role", "user"), ("content", [{"type": "text", "text": "Hi"}]))
    memory = MessageMemory()
    for _ in range(2):
        asking, hearing = memory.messages_listed([call, parts], "user")
        assert (asking.requests[0].name, asking.requests[0].args) == ("look", {"at": "sea"})
        assert (hearing.role, hearing.text) == ("user", "Hi")
