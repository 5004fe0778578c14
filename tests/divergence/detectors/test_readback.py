"""Changes that do not show in what is looked up after them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from ebbtide.divergence.monitor import find_loops
from ebbtide.events.effect import Effect
from ebbtide.events.event import ToolCall
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind

RULES = Profile.DEFAULT.divergence
LEAST = RULES.unseen_changes or 0
TOOLS = ToolPolicies({"look": ToolPolicy(effect=Effect.READ), "change": ToolPolicy(effect=Effect.CHANGE)})
OWNERS = [letter * 4 for letter in "abcdefghijkl"]


def run(thing: str, answer_of: Callable[[str], str], *, failed: bool = False) -> list[ToolCall]:
    return [
        call
        for owner in OWNERS
        for call in (
            ToolCall(name="change", args={"id": thing, "owner": owner}, result="done", error=failed),
            ToolCall(name="look", args={"id": "order-17"}, result=answer_of(owner)),
        )
    ]


@pytest.mark.parametrize(
    ("thing", "answer_of", "first"),
    [
        # The first look has nothing before it to be compared with, and the second is the first that is known.
        pytest.param("order-17", lambda _: "it has no owner", LEAST + 2, id="it shows what it showed"),
        pytest.param("order-17", lambda owner: f"owner: {owner}", None, id="it shows the change"),
        pytest.param("order-99", lambda _: "it has no owner", None, id="another thing was changed"),
    ],
)
def test_changes_that_do_not_show(thing: str, answer_of: Callable[[str], str], first: int | None) -> None:
    """Looks at one thing are counted, each after another change of it, as long as they show the same."""
    signals = find_loops(run(thing, answer_of), tools=TOOLS)
    assert {signal.kind for signal in signals} <= {LoopKind.UNSEEN_CHANGES}
    assert not any(signal.is_proof for signal in signals)
    assert (signals[0].last_event // 2 if signals else None) == first


def test_looks_without_a_change_between_are_not_counted() -> None:
    """Only a look after another change of the thing says that this change does not show."""
    calls = run("order-17", lambda _: "it has no owner")
    looks = [calls[0], *[calls[1]] * (3 * LEAST)]
    assert LoopKind.UNSEEN_CHANGES not in {signal.kind for signal in find_loops(looks, tools=TOOLS)}


def test_the_rule_can_be_switched_off() -> None:
    """Without a threshold nothing is counted."""
    off = Profile(name="off", divergence=replace(RULES, unseen_changes=None))
    assert find_loops(run("order-17", lambda _: "it has no owner"), off, tools=TOOLS) == []
