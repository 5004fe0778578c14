"""The classes of events."""

import pytest

from ebbtide.events.event import (
    Event,
    Message,
    ModelCall,
    ModelPart,
    Notice,
    NoticeKind,
    Role,
    ToolCall,
    title,
)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (ToolCall(name="ls"), "ls"),
        (ModelCall(), "message"),
        (ModelCall(part=ModelPart.THOUGHT), "thought"),
        (Message(), "message"),
        (Message(role=Role.SYSTEM), "instructions"),
        (Notice(kind=NoticeKind.COMPACTION), "condensation"),
    ],
)
def test_titles(event: Event, words: str) -> None:
    """A tool is called by its name, anything else by what it is."""
    assert title(event) == words


def test_events_have_slots() -> None:
    """A field that a class does not have cannot be set by mistake."""
    for kind in (ToolCall, ModelCall, Message, Notice):
        assert not hasattr(kind(name="a") if kind is ToolCall else kind.__new__(kind), "__dict__")


def test_unknown_is_not_empty() -> None:
    """Arguments and answers that are not known differ from those that are empty."""
    assert ToolCall(name="ls") != ToolCall(name="ls", args={})
    assert ToolCall(name="ls") != ToolCall(name="ls", result="")
    assert ModelCall() != ModelCall(text="")
