"""The work of sessions, read in their files, by any number of processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.processes import LostProcessError, results
from ebbtide.shipped.session_work import SessionWork
from ebbtide.traces.reading import open_trace


class WorkFile(NamedTuple):
    """One file of a session.

    Args:
        session: The session that it is of, or that started it.
        project: The folder that the agent worked in; None where unknown.
        agent: The coding agent, or the format.
    """

    path: str
    session: str
    project: str | None
    agent: str


def recorded_work(
    files: Iterable[WorkFile], *, jobs: int = 1, progress: Callable[[int], object] = lambda _: None
) -> tuple[list[SessionWork], list[TranscriptError]]:
    """Returns the work of each session, of its own file and those of what it started.

    Args:
        files: Their files; those of a session may stand anywhere.
        jobs: Processes; 1 works in this one.
        progress: Called with 1 for each file that was read.

    Returns:
        The sessions in the order of their first files, and why files could not be read.
    """
    wanted = list(files)
    found: dict[str, SessionWork] = {}
    errors: dict[str, TranscriptError] = {}
    for (file,), result in results(_read, ((file,) for file in wanted), jobs=min(jobs, len(wanted))):
        progress(1)
        if isinstance(result, LostProcessError):
            errors[file.path] = TranscriptError(str(result), source=file.path)
            continue
        found[file.path], error = result
        if error is not None:
            errors[file.path] = error
    works: dict[str, SessionWork] = {}
    for file in wanted:
        work = works.setdefault(file.session, SessionWork(file.session, file.project, file.agent))
        if file.path in found:
            work.add(found[file.path])
    return list(works.values()), [errors[file.path] for file in wanted if file.path in errors]


def _read(file: WorkFile) -> tuple[SessionWork, TranscriptError | None]:
    """Returns the work in a file; what was read before a fault counts."""
    work = SessionWork(file.session, file.project, file.agent)
    reader = work.reader()
    try:
        for item in open_trace(file.path, is_growing=True):
            if isinstance(item, Event):
                reader.see(item)
    except TranscriptError as error:
        return work, error
    return work, None
