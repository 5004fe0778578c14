"""Attempts that end alike, whatever is tried: each attempt after another change."""

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
TOOLS = ToolPolicies({"change": ToolPolicy(effect=Effect.CHANGE)})
WORDS = [letter * 4 for letter in "abcdefghijklmnopqrstuvwxyz"]
AGAIN, VARIED, EMPTY = RULES.outcome_again or 0, RULES.outcome_varied or 0, RULES.empty_again or 0


def attempts(
    answer_of: Callable[[int], str], count: int = len(WORDS), *, is_apart: bool = False
) -> list[ToolCall]:
    return [
        call
        for n, word in enumerate(WORDS[:count])
        for call in (
            ToolCall(name="change", args={"path": f"{word} {n}.py"}, result="done"),
            ToolCall(
                name="attempt", args={"of": f"{word} {word * 2}" if is_apart else "all"}, result=answer_of(n)
            ),
        )
    ]


def first_attempt(run: list[ToolCall], **off: None) -> int | None:
    """Number of the attempt at which a recurrence is reported."""
    profile = Profile(name="attempts", divergence=replace(RULES, **off))
    signals = find_loops(run, profile, tools=TOOLS)
    assert {signal.kind for signal in signals} <= {LoopKind.RECURRENCE}
    assert not any(signal.is_proof for signal in signals)
    return signals[0].last_event // 2 if signals else None


@pytest.mark.parametrize(
    ("answer_of", "first"),
    [
        pytest.param(lambda _: "error: cannot open shared library libssl.so", AGAIN, id="one failure"),
        pytest.param(
            lambda n: f"error: pid {n + 400} cannot open socket x{n}k{n}q after {n}.5s", AGAIN, id="noise"
        ),
        pytest.param(lambda _: "30 failed, 3 passed", AGAIN, id="a number that stays"),
        pytest.param(lambda n: f"{30 - n} failed, 3 passed", None, id="a number that falls"),
        pytest.param(
            lambda n: f"error: module '{WORDS[n]}' has no attribute start",
            VARIED,
            id="another name each time",
        ),
        pytest.param(
            lambda n: f"error: {WORDS[n]} {WORDS[n - 1] * 2} {WORDS[n - 2] * 3}", None, id="another failure"
        ),
        pytest.param(
            lambda n: "built" if n % 4 == 3 else "error: cannot open shared library",
            None,
            id="a success between",
        ),
        pytest.param(lambda _: "no results", EMPTY, id="nothing found"),
        pytest.param(lambda n: "no results" if n % 2 else f"a hit in {WORDS[n]}", None, id="something found"),
        pytest.param(lambda _: "12 passed in 3.1s", None, id="all is well"),
    ],
)
def test_attempts_that_end_alike(answer_of: Callable[[int], str], first: int | None) -> None:
    """Failures with the same lines are counted until one ends well or a number gets better."""
    assert first_attempt(attempts(answer_of)) == first


def test_each_threshold_is_a_rule_of_its_own() -> None:
    """A rule that is switched off is silent."""
    same = attempts(lambda _: "error: cannot open shared library", VARIED - 1)
    assert first_attempt(same, outcome_again=None) is None
    varied = attempts(lambda n: f"error: module '{WORDS[n]}' has no attribute start")
    assert first_attempt(varied, outcome_varied=None) is None
    assert first_attempt(attempts(lambda _: "no results"), empty_again=None) is None


@pytest.mark.parametrize(
    ("answer", "is_apart"),
    [
        pytest.param("error: locked by another user", True, id="other things"),
        pytest.param("503 service unavailable", False, id="a service that is down"),
    ],
)
def test_attempts_at_other_things_count_a_third(answer: str, is_apart: bool) -> None:
    """Of attempts at other things, or at a service that is down, only every third counts."""
    first = first_attempt(attempts(lambda _: answer, is_apart=is_apart))
    assert first is not None
    assert first > 2 * AGAIN
