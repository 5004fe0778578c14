"""Questions that are asked a few at a time."""

import threading
import time

import pytest

from ebbtide.text.llm.concurrent_questions import ask_all


def test_answers_come_in_the_order_of_the_questions() -> None:
    """Whichever is answered first."""

    def question(number: int) -> int:
        time.sleep(0.02 * (5 - number))
        return number

    steps: list[int] = []
    answers = ask_all([lambda at=at: question(at) for at in range(5)], advance=lambda: steps.append(1))  # type: ignore[misc]
    assert answers == [0, 1, 2, 3, 4]
    assert len(steps) == 5
    assert ask_all([]) == []


def test_a_failure_is_raised_at_once_and_the_rest_is_not_asked() -> None:
    """What is under way is not waited for, and what waits is dropped."""
    release = threading.Event()
    asked: list[int] = []

    def question(number: int) -> None:
        asked.append(number)
        if number == 0:
            raise LookupError("no")
        release.wait(10)

    start = time.monotonic()
    with pytest.raises(LookupError, match="no"):
        ask_all([lambda at=at: question(at) for at in range(20)], at_once=2)  # type: ignore[misc]
    assert time.monotonic() - start < 5
    release.set()
    time.sleep(0.1)
    assert len(asked) <= 4
