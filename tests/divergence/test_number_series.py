"""Numbers in answers to one call, as a whole supervisor takes them."""

import pytest

from ebbtide import Action, Supervisor, ToolCall


def _highest(calls: list[tuple[str, str, bool]]) -> list[Action]:
    supervisor = Supervisor()
    return [
        supervisor.record(
            ToolCall(
                name="Bash", args={"command": command}, result=answer, error=failed, ts=float(number * 5)
            )
        ).action
        for number, (command, answer, failed) in enumerate(calls)
    ]


@pytest.mark.parametrize(
    ("mend", "answer", "failed"),
    [
        pytest.param("npx eslint --fix .", "", False, id="a fixer"),
        pytest.param("git rebase --continue", "CONFLICT (content)", True, id="a rebase"),
    ],
)
def test_checks_that_fail_less_and_less_are_progress(mend: str, answer: str, failed: bool) -> None:
    """One command between checks of falling numbers is no loop that is stopped; with one number it is."""
    falling = [
        call
        for left in range(13, 1, -1)
        for call in ((mend, answer, failed), ("make test", f"{left} failed", True))
    ]
    assert not {Action.STOP, Action.ESCALATE} & set(_highest(falling))
    still = [(command, "13 failed" if "failed" in text else text, flag) for command, text, flag in falling]
    assert Action.STOP in _highest(still)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("/bin/bash: line {0}: frob: command not found", id="the line of a shell"),
        pytest.param("attempt {0} was refused", id="an attempt"),
    ],
)
def test_a_number_that_counts_the_repeats_does_not_hide_them(answer: str) -> None:
    """The same call is a repeat, however the count of it moves."""
    calls = [("frob -x", answer.format(10 + 3 * number), True) for number in range(12)]
    assert any(action is not Action.ALLOW for action in _highest(calls))


def test_numbers_that_jump_are_news() -> None:
    """What is measured anew each time is no repeat."""
    calls = [("frob -x", f"value {number * number * 7 % 101}", False) for number in range(12)]
    assert set(_highest(calls)) == {Action.ALLOW}
