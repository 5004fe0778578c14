"""Work for all cores of this machine, in a pool of processes that outlives one that is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ebbtide.errors import EbbtideError

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

Arguments = TypeVar("Arguments", bound=tuple[Any, ...])
Result = TypeVar("Result")

_WAITING: Final = 4  # pieces of work for each process


class LostProcessError(EbbtideError):
    """The process that did a piece of work has ended, perhaps for want of memory."""


def worthwhile(work: int, a_process: int) -> int:
    """Returns the number of processes that are worth their start: at least one, and one a core at most.

    Args:
        work: How much there is to do, in any unit.
        a_process: How much of that takes longer than a process takes to start.
    """
    return max(1, min(os.cpu_count() or 1, work // a_process))


def results(
    function: Callable[..., Result], pieces: Iterable[Arguments], *, jobs: int
) -> Iterator[tuple[Arguments, Result | LostProcessError]]:
    """Yields the result of each piece of work as soon as it is known; few pieces are in memory at a time.

    A process that ends takes only the piece with it that it was at: those that were lost with it are done
    again, each in a process of its own.

    Args:
        function: Does one piece. It and all that it takes and gives can be sent to another process.
        jobs: Processes; 1 works in this one.
    """
    if jobs <= 1:
        for piece in pieces:
            yield piece, function(*piece)
        return
    from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, wait

    pieces = iter(pieces)
    pool = _pool(jobs)
    waiting: dict[Future[Result], Arguments] = {}
    try:
        while True:
            for piece in islice(pieces, _WAITING * jobs - len(waiting)):
                waiting[pool.submit(function, *piece)] = piece
            if not waiting:
                return
            ended, _ = wait(waiting, return_when=FIRST_COMPLETED)
            if any(isinstance(future.exception(), BrokenExecutor) for future in ended):
                # Which of the pieces at hand it was is not known: all of them are gone through again.
                wait(waiting)
                pool.shutdown(cancel_futures=True)
                for future in [future for future in waiting if future.exception() is not None]:
                    piece = waiting.pop(future)
                    yield piece, alone(function, piece)
                pool = _pool(jobs)
            for future in [future for future in waiting if future.done()]:
                yield waiting.pop(future), future.result()
    finally:
        # With nothing under way it ends at once, and leaves the interpreter nothing to wake at its exit.
        pool.shutdown(wait=not waiting, cancel_futures=True)


def alone(function: Callable[..., Result], piece: tuple[Any, ...]) -> Result | LostProcessError:
    """Returns the result of a piece of work in a process of its own, or the error of a process that ended."""
    from concurrent.futures import BrokenExecutor

    try:
        with _pool(1) as pool:
            return pool.submit(function, *piece).result()
    except BrokenExecutor:
        return LostProcessError("the process that checked it has ended, perhaps for want of memory")


def _pool(jobs: int) -> ProcessPoolExecutor:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # A fresh interpreter: one that is forked out of a program with threads may find its locks held.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(max_workers=jobs, mp_context=context, initializer=_end_quietly)


def _end_quietly() -> None:
    """Who interrupts wants the workers to end, not to hear from each of them where it was."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
