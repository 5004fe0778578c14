"""What the tests of text share: how the time of a function grows with its input."""

import time
from collections.abc import Callable

import pytest


def _seconds(function: Callable[[str], object], text: str) -> float:
    best = float("inf")
    for _ in range(2):
        started = time.process_time()
        function(text)
        best = min(best, time.process_time() - started)
    return max(best, 1e-3)  # below, the clock says more than the function


@pytest.fixture(scope="session")
def is_linear():
    """Whether eight times the text takes nearer to eight times as long than to sixty-four times."""

    def check(function: Callable[[str], object], text: str, longer: str) -> bool:
        return any(_seconds(function, longer) < 24 * _seconds(function, text) for _ in range(3))

    return check
