"""Calls that fail again in each context, and those that are tried again with reason."""

import pytest

from ebbtide.divergence.monitor import find_loops
from ebbtide.events.event import Event, Notice, NoticeKind, ToolCall
from ebbtide.profile.loop_kinds import LoopKind

CONDENSED = Notice(kind=NoticeKind.COMPACTION)
CHECK = ToolCall(name="Bash", args={"command": "make"}, result="error: x", error=True)
REFUSED = "String to replace not found in file."


def edit(old: str = "Sum(x)", *, error: bool = True) -> ToolCall:
    args = {"file_path": "a.cs", "old_string": old, "new_string": f"Round({old})"}
    return ToolCall(name="Edit", args=args, result=REFUSED if error else "The file was updated.", error=error)


def suite(number: int) -> ToolCall:
    result = f"Case{number * 37} passed [{number} ms]"
    return ToolCall(name="Bash", args={"command": "dotnet test"}, result=result)


def contexts(*calls: ToolCall, times: int = 5) -> list[Event]:
    return [event for number in range(times) for event in (*calls, suite(number), CONDENSED)]


def found(events: list[Event]) -> list[int]:
    return [signal.last_event for signal in find_loops(events) if signal.kind is LoopKind.FORGOTTEN]


def test_the_third_context_that_fails_in_the_same_way_is_one() -> None:
    """Other calls between, which bring something, change nothing about that."""
    assert found(contexts(edit()))[0] == 7


def read(name: str, text: str | None = None) -> ToolCall:
    return ToolCall(name="Read", args={"file_path": name}, result=text or f"log of {name}")


READING: list[Event] = [read("mon"), read("tue"), read("wed"), read("thu")]


def reread(events: list[Event]) -> list[int]:
    return [signal.last_event for signal in find_loops(events) if signal.kind is LoopKind.REREAD]


def test_contexts_that_are_full_before_the_reading_is_of_use() -> None:
    """Said when the second of them ends."""
    assert reread([*READING, CONDENSED] * 4)[0] == 15


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([*READING, CONDENSED] * 2, id="once"),
        pytest.param(
            [e for n in range(5) for e in (*READING, edit(f"x{n}", error=False), CONDENSED)],
            id="notes in each",
        ),
        pytest.param(
            [e for n in range(5) for e in (*(read(f"{n} {day}") for day in "abcd"), CONDENSED)],
            id="other files",
        ),
    ],
)
def test_contexts_that_get_on(events: list[Event]) -> None:
    """What was read once, what is written down, and what is new in each."""
    assert reread(events) == []


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(contexts(edit(), times=2), id="two contexts"),
        pytest.param([edit(), suite(1)] * 3, id="one context"),
        pytest.param(
            [event for n in range(6) for event in (edit(), edit(f"Net({n})", error=False), CONDENSED)],
            id="something was changed",
        ),
        pytest.param(
            [event for number in range(6) for event in (edit(f"Sum({number})"), suite(number), CONDENSED)],
            id="another edit each time",
        ),
        pytest.param([CHECK, CONDENSED] * 5, id="a check that fails again"),
    ],
)
def test_what_is_none(events: list[Event]) -> None:
    """A change, another call, or a call whose failure may have another reason."""
    assert found(events) == []
