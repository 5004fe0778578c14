"""A log in each kind of store."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ebbtide.decision_log.log.decision_log import DecisionLog


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a log can be: a file, or a database of a server."""
    if request.param == "sqlite":
        return str(tmp_path / "decisions.db")
    return request.getfixturevalue("postgres_url")


class Ticking:
    """A clock that a test sets; each look takes a millisecond."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@pytest.fixture
def clock() -> Ticking:
    """A clock that a test sets."""
    return Ticking()


@pytest.fixture
def open_log(place: str, clock: Ticking) -> Iterator[Callable[..., DecisionLog]]:
    """Opens the log of the test, as often as it wants; all are closed at its end."""
    with contextlib.ExitStack() as opened:

        def open_one(**options) -> DecisionLog:
            return opened.enter_context(DecisionLog.open(place, **{"clock": clock, **options}))

        yield open_one


@pytest.fixture
def log(open_log: Callable[..., DecisionLog]) -> DecisionLog:
    """A log of the agent ``coder``."""
    return open_log(agent="coder")
