"""Following a file that grows."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from ebbtide.errors import TranscriptError
from ebbtide.traces.live import Growth, follow
from ebbtide.traces.reading import load


def line(number: int, claim: str = "The cache is cold.") -> str:
    return json.dumps({"type": "round", "round": number, "outputs": {"claims": [claim]}}) + "\n"


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


class StopLookingError(Exception):
    """No more steps."""


def watch(path: Path, *steps: Callable[[], object]) -> list[Growth]:
    """What is seen when each step happens while the follower sleeps."""
    waiting = list(steps)
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if not waiting:
            raise StopLookingError
        waiting.pop(0)()

    seen: list[Growth] = []
    growths = follow(path, poll_s=0.25, sleep=sleep)
    with suppress(StopLookingError):
        while True:
            seen.append(next(growths))
    assert not waiting
    assert set(slept) == {0.25}
    return seen


def numbers(growths: list[Growth]) -> list[tuple[bool, list[int]]]:
    return [(growth.restarted, [item.number for item in growth.rounds]) for growth in growths]


def test_what_is_there_comes_first_then_what_is_added(tmp_path: Path) -> None:
    """Rounds come as their lines are complete; a look without news gives nothing."""
    path = tmp_path / "log"
    path.write_text(line(1) + line(2)[:20])
    seen = watch(
        path,
        lambda: None,
        lambda: append(path, line(2)[20:] + line(3)),
        lambda: append(path, "\n"),
        lambda: append(path, line(4)),
    )
    assert numbers(seen) == [(False, [1]), (False, [2, 3]), (False, [4])]
    assert not any(growth.errors for growth in seen)


def test_a_broken_line_is_reported_among_its_neighbours(tmp_path: Path) -> None:
    """A line that is no round is an error with its place, and following goes on."""
    path = tmp_path / "log"
    path.write_text(line(1) + "{oops\n" + "{again\n" + line(2))
    seen = watch(path, lambda: append(path, line(2) + line(3)))
    assert numbers(seen) == [(False, [1, 2]), (False, [3])]
    assert [str(error).split(": ")[0] for growth in seen for error in growth.errors] == [
        f"{path}:2",
        f"{path}:3",
        f"{path}:5",
    ]


def test_an_emptied_file_starts_anew(tmp_path: Path) -> None:
    """A file that was cut is read from its start, and says so once, even before it has rounds again."""
    path = tmp_path / "log"
    path.write_text(line(1) + line(2))
    seen = watch(
        path, lambda: path.write_text(""), lambda: append(path, line(1)), lambda: append(path, line(2))
    )
    assert numbers(seen) == [(False, [1, 2]), (True, []), (False, [1]), (False, [2])]


def test_a_rewritten_file_starts_anew(tmp_path: Path) -> None:
    """A new conversation of the same length or longer in the same file is no continuation."""
    path = tmp_path / "log"
    path.write_text(line(1, "Old.") + line(2, "Old."))
    seen = watch(path, lambda: path.write_text(line(1, "New.") + line(2, "New.") + line(3, "New.")))
    assert numbers(seen) == [(False, [1, 2]), (True, []), (False, [1, 2, 3])]
    assert {item.claims for item in seen[-1].rounds} == {("New.",)}


def test_a_replaced_file_is_read_to_its_end_first(tmp_path: Path) -> None:
    """When another file takes the name, the old one gives its last rounds, then the new one its first."""
    path, other = tmp_path / "log", tmp_path / "other"
    path.write_text(line(1))
    other.write_text(line(1, "New."))

    def rotate() -> None:
        append(path, line(2))
        path.rename(tmp_path / "log.1")
        other.rename(path)

    seen = watch(path, rotate, lambda: append(path, line(2, "New.")))
    assert numbers(seen) == [(False, [1]), (False, [2]), (True, []), (False, [1]), (False, [2])]


def test_a_file_may_be_away_for_a_while(tmp_path: Path) -> None:
    """Between two files there may be none; the old one is read as long as it grows."""
    path, moved = tmp_path / "log", tmp_path / "log.1"
    path.write_text(line(1))
    seen = watch(
        path,
        lambda: path.rename(moved),
        lambda: append(moved, line(2)),
        lambda: path.write_text(line(1, "New.")),
    )
    assert numbers(seen) == [(False, [1]), (False, [2]), (True, []), (False, [1])]


def test_following_gives_what_reading_gives(tmp_path: Path) -> None:
    """What came since the last restart is what the file holds in the end."""
    path = tmp_path / "log"
    path.write_text(line(1, "Old."))
    seen = watch(
        path, lambda: path.write_text(line(2)), lambda: append(path, line(1)), lambda: append(path, line(3))
    )
    latest = [growth.restarted for growth in seen].index(True)
    assert tuple(item for growth in seen[latest:] for item in growth.rounds) == load(path).rounds


def test_a_missing_file_is_refused_at_once(tmp_path: Path) -> None:
    """A wrong name is an error at the first look, not a long wait."""
    with pytest.raises(TranscriptError, match="no such file"):
        next(follow(tmp_path / "none"))
    with pytest.raises(TranscriptError, match="a folder, not a file"):
        next(follow(tmp_path))
