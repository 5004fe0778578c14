"""Work in several processes: every piece is done, and one that kills its process is lost alone."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from ebbtide.processes import LostProcessError, results, worthwhile


def square(number: int) -> int:
    if number < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_piece_is_done(jobs: int) -> None:
    numbers = range(30)
    assert {piece: result for (piece,), result in results(square, ((n,) for n in numbers), jobs=jobs)} == {
        number: number * number for number in numbers
    }


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is killed so there")
def test_only_the_piece_whose_process_is_killed_is_lost() -> None:
    came = {piece: result for (piece,), result in results(square, [(1,), (-1,), (2,), (3,)], jobs=2)}
    assert isinstance(came.pop(-1), LostProcessError)
    assert came == {1: 1, 2: 4, 3: 9}


def test_little_work_is_worth_one_process() -> None:
    assert worthwhile(0, 10) == worthwhile(19, 10) == 1
    assert worthwhile(10**9, 10) == os.cpu_count()
