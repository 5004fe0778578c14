"""Which conversation a context goes on with, and how many are remembered."""

import pytest

from ebbtide.traces.chats.message_shapes import ChatMessage
from ebbtide.traces.telemetry.span_tree import Contexts


def ask(text: str) -> ChatMessage:
    return ChatMessage(role="user", text=text)


ANSWER = ChatMessage(role="assistant", text="Yes.")


def test_the_contexts_that_were_used_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to a bound; what is said again in a context makes it a late one."""
    monkeypatch.setattr("ebbtide.traces.telemetry.span_tree._MOST", 2)
    contexts = Contexts()
    for name in "abac":
        contexts.remember(name, [ask(name)], [ANSWER])
    names = [contexts.goes_on([ask(name), ANSWER, ask("And then?")]) for name in "abc"]
    assert names == ["a", None, "c"]


def test_the_longest_context_counts() -> None:
    """One that begins with two that are known goes on with the longer of them; others with none."""
    contexts = Contexts()
    first, second = [ask("a"), ANSWER], [ask("a"), ANSWER, ask("b"), ANSWER]
    contexts.remember("short", first[:-1], first[-1:])
    contexts.remember("long", second[:-1], second[-1:])
    assert contexts.goes_on([*second, ask("c")]) == "long"
    assert contexts.goes_on([*first, ask("c")]) == "short"
    assert contexts.goes_on([ask("c"), *first]) is None
    assert contexts.goes_on([]) is None


def test_an_answer_without_words_or_requests_is_no_context() -> None:
    """Nothing was said that a later context could go on with."""
    contexts = Contexts()
    contexts.remember("a", [ask("a")], [ChatMessage(role="assistant")])
    assert contexts.goes_on([ask("a"), ChatMessage(role="assistant"), ask("b")]) is None
    contexts.remember("a", [], [ChatMessage(role="tool", text="waves")])
    assert contexts.goes_on([ask("b")]) is None
