"""A plan that is written anew and never begun, and files that are worked on."""

import pytest

from ebbtide.divergence.monitor import find_loops
from ebbtide.events.event import Event, Message, ToolCall
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind

LEAST = Profile.DEFAULT.divergence.rewrites or 0
LOOK = ToolCall(name="Bash", args={"command": "cat PLAN.md"}, result="# Plan")
TEST = ToolCall(name="Bash", args={"command": "pytest -q"}, result="3 passed")


def write(number: int, path: str = "PLAN.md") -> ToolCall:
    args = {"file_path": path, "content": f"# {chr(97 + number) * 4}\nVersion {number} of the steps."}
    return ToolCall(name="Write", args=args, result="The file was written.")


def edit(number: int) -> ToolCall:
    args = {"file_path": "PLAN.md", "old_string": f"step {number}", "new_string": f"step {number}, better"}
    return ToolCall(name="Edit", args=args, result="The file was updated.")


def found(events: list[Event]) -> list[int]:
    return [signal.last_event for signal in find_loops(events) if signal.kind is LoopKind.REWRITTEN]


@pytest.mark.parametrize("between", [[], [LOOK]])
def test_versions_with_nothing_but_looks_between(between: list[Event]) -> None:
    """Found at the fifth version, whatever is looked at."""
    events = [event for number in range(8) for event in (write(number), *between)]
    assert found(events)[0] == 1 + (LEAST - 1) * (1 + len(between))


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([write(n) for n in range(LEAST - 1)], id="a few versions"),
        pytest.param([event for n in range(9) for event in (write(n), TEST)], id="a check of each"),
        pytest.param([event for n in range(9) for event in (write(n), edit(n))], id="other changes"),
        pytest.param(
            [event for n in range(9) for event in (write(n), Message(text=f"And {n}?"))], id="wanted"
        ),
        pytest.param([write(n, f"part{n}.md") for n in range(9)], id="another file each"),
        pytest.param([edit(n) for n in range(9)], id="edits of one file"),
    ],
)
def test_what_is_none(events: list[Event]) -> None:
    """A check, another change, a person, another file, or a part of one."""
    assert found(events) == []
