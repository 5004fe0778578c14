"""Chunks of an archive, checked by all cores of this machine.

A process that ends, killed for its memory for example, takes only the run with it that it was checking: the
runs of its chunk are then checked one by one, each in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from ebbtide.batch.results.archived_run import ArchivedRun, RefusedRun
from ebbtide.processes import LostProcessError, alone, results

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)

_SUFFIX: Final = ".parquet"


class Chunk(Protocol):
    """Some runs that one process checks; it can be sent to it."""

    def runs(self) -> Iterator[ArchivedRun]:
        """Returns the runs, one after the other."""


@dataclass(frozen=True, slots=True)
class RunChunk:
    """Runs that can be sent themselves."""

    members: tuple[ArchivedRun, ...]

    def runs(self) -> Iterator[ArchivedRun]:
        """Returns the runs, one after the other."""
        return iter(self.members)


class ChunkTask(Protocol[Result_co]):
    """Checks a chunk in any process: it can be sent to one."""

    def check(self, chunk: Chunk, path: str) -> Result_co:
        """Check a chunk.

        Args:
            path: Where its part may be written, unlike that of any other.
        """


def check_chunks(
    chunks: Iterable[Chunk], task: ChunkTask[Result], next_path: Callable[[], str], *, jobs: int
) -> Iterator[Result]:
    """Yields the result of each chunk as soon as it is known; few chunks are in memory at a time.

    Args:
        chunks: A chunk whose process ended comes in several results.
        next_path: Where the next part is to be written.
        jobs: Processes; 1 works in this one.
    """
    pieces = ((chunk, next_path()) for chunk in chunks)
    for (chunk, path), result in results(task.check, pieces, jobs=jobs):
        if isinstance(result, LostProcessError):
            yield from _one_by_one(chunk, task, path, result)
        else:
            yield result


def _one_by_one(chunk: Chunk, task: ChunkTask[Result], path: str, lost: LostProcessError) -> Iterator[Result]:
    """The runs of a chunk whose process ended, each in a process of its own."""
    members = list(chunk.runs())
    if len(members) == 1:
        yield task.check(RunChunk((RefusedRun(members[0].source, str(lost), name=members[0].run_id),)), path)
        return
    for number, run in enumerate(members):
        part = f"{path.removesuffix(_SUFFIX)}-{number:04}{_SUFFIX}"
        single = RunChunk((run,))
        result = alone(task.check, (single, part))
        if isinstance(result, LostProcessError):
            yield from _one_by_one(single, task, part, result)
        else:
            yield result
