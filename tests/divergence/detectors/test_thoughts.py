"""Thoughts that follow each other, and thoughts about something."""

from collections.abc import Callable

import pytest

from ebbtide.divergence.monitor import find_loops
from ebbtide.events.event import Event, Message, ToolCall
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind

LEAST = Profile.DEFAULT.divergence.thoughts or 0
EDIT = ToolCall(name="Edit", args={"file_path": "a.go", "old_string": "x", "new_string": "y"}, result="Done.")


def thought(number: int, **more: object) -> ToolCall:
    question = f"Would the lock {chr(97 + number % 26) * 3} hurt the latency far away, {number}?"
    args = {**more, "thought": question}
    return ToolCall(name="mcp__thinking__sequentialthinking", args=args, result=f"{{'n': {number}}}")


def look(number: int) -> ToolCall:
    return ToolCall(name="Read", args={"file_path": f"{number}.go"}, result=f"package p{number}")


def with_each_ninth(make: Callable[[int], Event]) -> list[Event]:
    return [e for n in range(40) for e in ((thought(n), make(n)) if n % 9 == 8 else (thought(n),))]


def found(events: list[Event]) -> list[int]:
    return [signal.last_event for signal in find_loops(events) if signal.kind is LoopKind.THOUGHTS]


def test_thoughts_in_a_row() -> None:
    """A look now and then changes nothing, nor does a plan that is long past."""
    assert found([thought(n, totalThoughts=8 + n) for n in range(30)])[0] == LEAST
    assert found([thought(n) for n in range(30)])[0] == LEAST
    assert found([e for n in range(40) for e in ((thought(n), look(n)) if n % 8 == 7 else (thought(n),))])


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([thought(n) for n in range(LEAST - 1)], id="fewer"),
        pytest.param([thought(n, totalThoughts=60) for n in range(60)], id="as many as were planned"),
        pytest.param([e for n in range(40) for e in (thought(n), look(n))], id="each about a look"),
        pytest.param(with_each_ninth(lambda _: EDIT), id="deeds"),
        pytest.param(with_each_ninth(lambda n: Message(text=f"{n}?")), id="a person asks"),
    ],
)
def test_what_is_none(events: list[Event]) -> None:
    """Looks, deeds and words of a person between them."""
    assert found(events) == []
