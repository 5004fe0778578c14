"""Chunks of an archive, checked by all cores of this machine.

A process that ends, killed for its memory for example, takes only the run with it that it was checking: the
runs of its chunk are then checked one by one, each in a process of its own.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final, Protocol, TypeVar

from ebbtide.batch.archive.checking_runs import check_partition
from ebbtide.batch.results.archive_counts import ArchiveCounts
from ebbtide.batch.results.archived_run import ArchivedRun, RefusedRun
from ebbtide.batch.results.result_parts import write_part
from ebbtide.supervision.run_options import RunOptions

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

_WAITING: Final = 4  # chunks for each process
_SUFFIX: Final = ".parquet"


class Chunk(Protocol):
    """Some runs that one process checks; it can be sent to it."""

    def runs(self) -> Iterator[ArchivedRun]:
        """They, one after the other."""


@dataclass(frozen=True, slots=True)
class RunChunk:
    """Runs that can be sent themselves.

    Args:
        members: They.
    """

    members: tuple[ArchivedRun, ...]

    def runs(self) -> Iterator[ArchivedRun]:
        """As `Chunk.runs`."""
        return iter(self.members)


class ChunkTask(Protocol[Result_co]):
    """What is made of a chunk, in whichever process; it can be sent to it."""

    def check(self, chunk: Chunk, path: str) -> Result_co:
        """Check a chunk.

        Args:
            chunk: It.
            path: Where its part may be written, unlike that of any other.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class PartWriter:
    """Checks chunks into parts of the results.

    Args:
        options: By what runs are judged.
        settings: The same in words, as for `ResultParts`.
        most_seconds: How long a run may take; None does not bound it.
    """

    options: RunOptions
    settings: str
    most_seconds: float | None = None

    def check(self, chunk: Chunk, path: str) -> ArchiveCounts:
        """As `ChunkTask.check`: what came of it, once its part is written."""
        batches = check_partition(chunk.runs(), self.options, most_seconds=self.most_seconds)
        return ArchiveCounts.of(write_part(path, batches, self.settings))


def check_chunks(
    chunks: Iterable[Chunk], task: ChunkTask[Result], next_path: Callable[[], str], *, jobs: int
) -> Iterator[Result]:
    """What came of each chunk, as soon as it is known; few chunks are in memory at a time.

    Args:
        chunks: They. One whose process ended comes in several results.
        task: Checks them.
        next_path: Where the next part is to be written.
        jobs: Processes; 1 works in this one.
    """
    chunks = iter(chunks)
    if jobs <= 1:
        for chunk in chunks:
            yield task.check(chunk, next_path())
        return
    pool = _pool(jobs)
    waiting: dict[Future[Result], tuple[Chunk, str]] = {}
    try:
        while True:
            for chunk in islice(chunks, _WAITING * jobs - len(waiting)):
                path = next_path()
                waiting[pool.submit(task.check, chunk, path)] = chunk, path
            if not waiting:
                return
            ended, _ = wait(waiting, return_when=FIRST_COMPLETED)
            if any(isinstance(future.exception(), BrokenExecutor) for future in ended):
                # Which of the chunks at hand it was is not known: all of them are gone through again.
                wait(waiting)
                pool.shutdown(cancel_futures=True)
                lost_chunks = [
                    waiting.pop(future) for future in list(waiting) if future.exception() is not None
                ]
                for chunk, path in lost_chunks:
                    yield from _one_by_one(chunk, task, path)
                pool = _pool(jobs)
            for future in [future for future in waiting if future.done()]:
                del waiting[future]
                yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _one_by_one(chunk: Chunk, task: ChunkTask[Result], path: str) -> Iterator[Result]:
    """A chunk in a process of its own, and where that ends too, each of its runs."""
    try:
        with _pool(1) as pool:
            yield pool.submit(task.check, chunk, path).result()
    except BrokenExecutor:
        members = list(chunk.runs())
    else:
        return
    if len(members) == 1:
        what = "the process that checked it has ended, perhaps for want of memory"
        yield task.check(RunChunk((RefusedRun(members[0].source, what, name=members[0].run_id),)), path)
        return
    for number, run in enumerate(members):
        part = f"{path.removesuffix(_SUFFIX)}-{number:04}{_SUFFIX}"
        yield from _one_by_one(RunChunk((run,)), task, part)


def _pool(jobs: int) -> ProcessPoolExecutor:
    # A fresh interpreter: one that is forked out of a program with threads may find its locks held.
    context = multiprocessing.get_context("spawn")
    ends_quietly = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return ProcessPoolExecutor(max_workers=jobs, mp_context=context, initializer=ends_quietly)
