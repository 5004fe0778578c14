"""Answers that hold no new word, whatever is asked."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

import pytest

from ebbtide.divergence.monitor import LoopMonitor, find_loops
from ebbtide.events.effect import Effect
from ebbtide.events.event import ToolCall
from ebbtide.events.tool_policy import ToolPolicies, ToolPolicy
from ebbtide.profile import Profile
from ebbtide.profile.loop_kinds import LoopKind

RULES = Profile.DEFAULT.divergence
LEAST = RULES.nothing_new or 0
TOOLS = ToolPolicies(
    {
        "look": ToolPolicy(effect=Effect.READ),
        "change": ToolPolicy(effect=Effect.CHANGE),
        "plan": ToolPolicy(effect=Effect.ACKNOWLEDGE),
    }
)
WORDS = [letter * 4 for letter in "abcdefghijklmnopqrstuvwxyz"]
PLANS = list(permutations(("look", "mend", "test", "build", "ship")))
HITS = (
    "The billing service keeps its invoices in the archive, see the handbook for more about it.",
    "See the handbook for more about the billing service, it keeps its invoices in the archive.",
    "For more about the invoices of the billing service, see the handbook in the archive, it keeps.",
)


def call(tool: str, answer: str, **args: str) -> ToolCall:
    return ToolCall(name=tool, args=args, result=answer)


def first_event(make: Callable[[int], ToolCall], rules: object = RULES) -> int | None:
    """Number of the event at which stagnation is reported."""
    profile = Profile(name="words", divergence=rules)  # type: ignore[arg-type]
    signals = find_loops(map(make, range(len(WORDS))), profile, tools=TOOLS)
    stagnation = [signal for signal in signals if signal.kind is LoopKind.STAGNATION]
    assert not any(signal.is_proof for signal in stagnation)
    return stagnation[0].last_event if stagnation else None


@pytest.mark.parametrize(
    ("make", "is_stagnant"),
    [
        pytest.param(
            lambda n: call("look", HITS[n % 3], q=f"{WORDS[n]} {WORDS[n - 1]}"),
            True,
            id="the same hits, reworded",
        ),
        pytest.param(
            lambda n: call("look", f"{WORDS[n]} {WORDS[n - 1] * 2}", q=f"question {n}"), False, id="new words"
        ),
        pytest.param(
            lambda n: call("look", f"text {n % 7}", path=f"{n % 7}"), True, id="seven files in turn"
        ),
        pytest.param(
            lambda n: call("look", f"Account {WORDS[n]} is active, says the nightly job.", who=WORDS[n]),
            False,
            id="one after the other is checked",
        ),
        pytest.param(lambda n: call("change", "ok", path=WORDS[n]), False, id="new deeds"),
        pytest.param(lambda n: call("change", "ok", path=WORDS[n % 5]), True, id="old deeds in turn"),
        pytest.param(
            lambda n: call("plan", "noted", to=f"look at {WORDS[n]} and {WORDS[n] * 2}"),
            False,
            id="new plans",
        ),
        pytest.param(lambda n: call("plan", "noted", to=" ".join(PLANS[n])), True, id="old plans"),
    ],
)
def test_calls_that_bring_nothing_new(make: Callable[[int], ToolCall], is_stagnant: bool) -> None:
    """Answers and deeds without a new word are counted; one with new words ends the stretch."""
    first = first_event(make)
    assert (first is not None and first >= LEAST) is is_stagnant
    assert first_event(make, replace(RULES, nothing_new=None)) is None


def test_a_stretch_takes_little_room_whatever_its_tools_are_called() -> None:
    """A new name at every call, and long arguments, are kept as far as they are needed."""
    monitor = LoopMonitor(tools=ToolPolicies({"look *": ToolPolicy(effect=Effect.READ)}))
    sizes = []
    for number in range(400):
        monitor.update(call(f"look {number}", HITS[number % 3], q=f"{number} " * 5_000))
        sizes.append(len(str(monitor.to_state()["chains"]["chains"][0][1]["detectors"]["stagnation"])))
    assert sizes[-1] < 2 * sizes[19]
