"""Changes that undo each other."""

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
LEAST = RULES.undone_changes or 0
TOOLS = ToolPolicies({"change": ToolPolicy(effect=Effect.CHANGE), "look": ToolPolicy(effect=Effect.READ)})

TEXTS = ("timeout = 30  # seconds", "timeout = 60  # seconds")


def changes(
    args_of: Callable[[int], dict[str, str]], *, tool: str = "change", count: int = 8
) -> list[ToolCall]:
    return [ToolCall(name=tool, args=args_of(n), result="done") for n in range(count)]


@pytest.mark.parametrize(
    ("args_of", "is_undone"),
    [
        pytest.param(
            lambda n: {"setting": "cache.fast_path", "to": ("on", "off")[n % 2]},
            True,
            id="a setting to and fro",
        ),
        pytest.param(
            lambda n: {"path": "a.py", "old": TEXTS[n % 2], "new": TEXTS[1 - n % 2]},
            True,
            id="an edit turned round",
        ),
        pytest.param(lambda n: {"key": "Tab", "to": ("on", "off")[n % 2]}, False, id="keys and clicks"),
        pytest.param(lambda n: {"flag": "fast", "to": f"level {n}"}, False, id="ever new values"),
        pytest.param(lambda n: {"flag": f"flag {n}", "to": ("on", "off")[n % 2]}, False, id="other things"),
        pytest.param(lambda _: {"flag": "fast", "to": "on"}, False, id="one change again"),
        pytest.param(lambda n: {"to": ("on", "off")[n % 2]}, False, id="nothing that names the thing"),
    ],
)
def test_changes_to_and_fro(args_of: Callable[[int], dict[str, str]], is_undone: bool) -> None:
    """A change that was made before is counted where the same thing was changed otherwise in between."""
    signals = [s for s in find_loops(changes(args_of), tools=TOOLS) if s.kind is LoopKind.UNDONE_CHANGES]
    # The two states have to be there before the first of them is made again.
    assert (signals[0].last_event if signals else None) == (LEAST + 2 if is_undone else None)
    assert not any(signal.is_proof for signal in signals)


@pytest.mark.parametrize("tool", ["look", "unknown"])
def test_only_what_is_declared_to_change_something_can_be_undone(tool: str) -> None:
    """Two looks in turn, or two calls of which nobody knows what they do, undo nothing."""
    run = changes(lambda n: {"flag": "fast", "to": ("on", "off")[n % 2]}, tool=tool)
    assert LoopKind.UNDONE_CHANGES not in {signal.kind for signal in find_loops(run, tools=TOOLS)}


def test_the_rule_can_be_switched_off() -> None:
    """Without a threshold nothing is counted."""
    off = Profile(name="off", divergence=replace(RULES, undone_changes=None))
    run = changes(lambda n: {"flag": "fast", "to": ("on", "off")[n % 2]})
    assert LoopKind.UNDONE_CHANGES not in {signal.kind for signal in find_loops(run, off, tools=TOOLS)}
