"""One tool in a row with one answer: from which share of words its calls are nearly the same."""

import pytest

from ebbtide.divergence.monitor import find_loops
from ebbtide.events.effect import Effect
from ebbtide.events.event import ToolCall
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.profile import Profile
from ebbtide.profile.divergence import LoopRules
from ebbtide.profile.loop_kinds import LoopKind


@pytest.mark.clause("D11")
@pytest.mark.parametrize(("shared_words", "is_near"), [(0.49, True), (0.5, True), (0.51, False)])
def test_half_of_the_words_is_enough_where_half_is_asked_for(shared_words: float, is_near: bool) -> None:
    """Two words stay and one changes, so that consecutive calls share two of four: the bound is included."""
    run = [
        ToolCall(name="sh", args={"command": f"poll queue {sign * 3}"}, result="ok")
        for sign in "abcdefghijkl"
    ]
    profile = Profile(name="near", divergence=LoopRules(shared_words=shared_words))
    expected = [(LoopKind.NEAR_DUPLICATE, len(run))] if is_near else []
    assert [(signal.kind, signal.last_event) for signal in find_loops(run, profile)] == expected


def test_calls_that_grow_are_counted_from_the_first_of_them() -> None:
    """Eight calls, each the one before with something appended; earlier ones that grew too do not count."""
    grown_before = ["ls" + " && grep x y" * number for number in range(5)]
    growing = ["cat a" + " | sort" * number for number in range(8)]
    run = [
        ToolCall(name="sh", args={"command": command}, result=f"{number} hits")
        for number, command in enumerate(grown_before + growing)
    ]
    (signal,) = find_loops(run)
    assert (signal.kind, signal.last_event, signal.copies) == (LoopKind.GROWING_CALL, len(run), 8)


@pytest.mark.parametrize(("effect", "kinds"), [(None, [LoopKind.GROWING_CALL]), (Effect.CHANGE, [])])
def test_changes_that_grow_are_no_run(effect: Effect | None, kinds: list[LoopKind]) -> None:
    """What a tool was declared to change is done: the next call has nothing before it to grow from."""
    run = [
        ToolCall(name="add", args={"text": "begin" + " and go on" * number}, result=f"{number} lines")
        for number in range(12)
    ]
    tools = ToolPolicies({"add": ToolPolicy(effect=effect)})
    assert [signal.kind for signal in find_loops(run, tools=tools)][:1] == kinds
