"""An archive of runs, checked on this machine: all cores, bounded memory, and where it was after a kill."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Final

from ebbtide.batch.archive.archive_files import ArchiveFile
from ebbtide.batch.archive.archive_pool import Chunk, RunChunk, check_chunks
from ebbtide.batch.archive.archive_shipped import JOINED, archive_shipped
from ebbtide.batch.archive.checking_runs import check_partition
from ebbtide.batch.results.archive_counts import ArchiveCounts
from ebbtide.batch.results.archived_run import FileRun
from ebbtide.batch.results.result_parts import ResultParts, write_part
from ebbtide.batch.tables.table_rows import RunTable
from ebbtide.processes import worthwhile
from ebbtide.supervision.run_options import RunOptions
from ebbtide.traces.money.shared_calls import SharedCalls

_FILES: Final = 64  # of a chunk
_BYTES: Final = 4 << 20  # of a chunk; a larger file is one alone
WORTH_A_PROCESS: Final = 4 << 20  # bytes that take longer to check than a process takes to start
RUNS_WORTH_A_PROCESS: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveTask:
    """The settings for checking an archive.

    Args:
        options: By what runs are judged.
        settings: The same in words: what was begun with other settings is not gone on with.
        most_seconds: How long a run may take; None does not bound it.
        jobs: Processes; None takes one a core where they are worth it.
        repository: A folder of the repository of git that is asked what the sessions shipped; None asks none.
    """

    output: Path
    options: RunOptions
    settings: str = ""
    most_seconds: float | None = None
    jobs: int | None = None
    repository: Path | None = None

    def check(self, chunk: Chunk, path: str) -> ArchiveCounts:
        """Checks the runs of a chunk into a part of the results, as any `ChunkTask`."""
        batches = check_partition(chunk.runs(), self.options, most_seconds=self.most_seconds)
        return ArchiveCounts.of(write_part(path, batches, self.settings))


def check_files(
    files: Sequence[ArchiveFile],
    task: ArchiveTask,
    progress: Callable[[int], object] = lambda _: None,
) -> tuple[ArchiveCounts, int]:
    """Check runs in files, and write one file of results, ordered by run.

    Args:
        task: What is to be made of them.
        progress: Called with the number of runs that have come to a row, those of earlier attempts first.

    Returns:
        What came of all runs; and how many of them had been checked before.

    Raises:
        ConfigError: The results cannot be written, or were begun with other settings.
    """
    parts = ResultParts(task.output, task.settings)
    due = [file for file in files if file.run.run_id not in parts.run_ids]
    size = sum(file.size for file in due)
    jobs = task.jobs or worthwhile(size, WORTH_A_PROCESS)
    resumed = len(files) - len(due)
    progress(resumed)
    return _check_into(parts, file_chunks(_shared(files, due)), task, jobs=jobs, progress=progress), resumed


def _shared(files: Sequence[ArchiveFile], due: Sequence[ArchiveFile]) -> Iterator[ArchiveFile]:
    """Files that are due, each with what it inherits from any of the archive: each call counts once."""
    local = [Path(file.run.source) for file in files if isinstance(file.run, FileRun) and file.run.is_local]
    inherited = SharedCalls.of(local).inherited if due else {}
    for file in due:
        run = file.run
        if isinstance(run, FileRun) and run.is_local:
            share = inherited.get(str(Path(run.source)))
            file = replace(file, run=replace(run, inherited=share, is_alone=False))  # noqa: PLW2901
        yield file


def check_rows(
    table: RunTable,
    task: ArchiveTask,
    progress: Callable[[int], object] = lambda _: None,
) -> tuple[ArchiveCounts, int]:
    """As `check_files`, of the runs in the rows of a table."""
    parts = ResultParts(task.output, task.settings)
    resumed = parts.earlier.total
    progress(resumed)
    chunks = table.chunks(frozenset(parts.run_ids))
    size = table.size()
    if size.refusals and None not in parts.run_ids:
        chunks = chain([RunChunk(size.refusals)], chunks)
    jobs = task.jobs or worthwhile(size.runs, RUNS_WORTH_A_PROCESS)
    return _check_into(parts, chunks, task, jobs=jobs, progress=progress), resumed


def _check_into(
    parts: ResultParts,
    chunks: Iterable[Chunk],
    task: ArchiveTask,
    *,
    jobs: int,
    progress: Callable[[int], object],
) -> ArchiveCounts:
    """Checks chunks into the parts of a file of results, and joins them.

    Returns:
        What came of all runs, also of those of earlier parts.
    """
    counts = parts.earlier
    for more in check_chunks(chunks, task, parts.next_path, jobs=jobs):
        counts.add(more)
        progress(more.total)
    shipped = None
    if task.repository is not None:
        rows = parts.rows(JOINED)
        shipped = archive_shipped(rows, task.repository, redact=task.options.redact, jobs=jobs)
    parts.join(shipped)
    return counts


def file_chunks(files: Iterable[ArchiveFile]) -> Iterator[RunChunk]:
    """Files in chunks that one process checks, in their order."""
    members: list[ArchiveFile] = []
    size = 0
    for file in files:
        if members and (len(members) >= _FILES or size + file.size > _BYTES):
            yield RunChunk(tuple(item.run for item in members))
            members, size = [], 0
        members.append(file)
        size += file.size
    if members:
        yield RunChunk(tuple(item.run for item in members))
