"""Work of sessions that a repository may hold: commits that git printed, and edits with their times."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from ebbtide.claims.changes import Act, PrintedCommit
from ebbtide.claims.record_facts import RecordFacts
from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.processes import LostProcessError, results
from ebbtide.traces.reading import open_trace

_MOST: Final = 20_000  # edits, and commits, of a session that are kept


class MadeCommit(NamedTuple):
    """One commit that a call of the session made.

    Args:
        printed: The commit as git printed it.
        ts: Seconds since 1970; None where the record has no time.
    """

    printed: PrintedCommit
    ts: float | None


class TimedEdit(NamedTuple):
    """One edit of a file.

    Args:
        path: The file, as the call names it, with ``/`` between folders.
        ts: Seconds since 1970.
    """

    path: str
    ts: float


class SessionWork:
    """Changes that a session and its sub-agents made, as far as their records show it.

    Args:
        project: The folder that the agent worked in; None where unknown.

    Attributes:
        commits: Commits that its calls made, in their order.
        edits: Edits of files that have a time.
        has_edits: True if a call changed a file, or made a commit, at any time.
        first_ts: Earliest time of an event; None where none has one.
    """

    def __init__(self, session: str, project: str | None = None, agent: str = "") -> None:
        self.session = session
        self.project = project
        self.agent = agent
        self.commits: deque[MadeCommit] = deque(maxlen=_MOST)
        self.edits: deque[TimedEdit] = deque(maxlen=_MOST)
        self.has_edits = False
        self.first_ts: float | None = None

    def add(self, other: SessionWork) -> None:
        """Add the work in another file of the session."""
        self.commits.extend(other.commits)
        self.edits.extend(other.edits)
        self.has_edits = self.has_edits or other.has_edits
        times = [ts for ts in (self.first_ts, other.first_ts) if ts is not None]
        self.first_ts = min(times, default=None)


class WorkReader:
    """Reads the events of one file into the work of its session."""

    def __init__(self, work: SessionWork) -> None:
        self._work = work
        self._facts = RecordFacts()

    def see(self, event: Event) -> None:
        """Takes one more event."""
        work, facts = self._work, self._facts
        if event.ts is not None and (work.first_ts is None or event.ts < work.first_ts):
            work.first_ts = event.ts
        facts.see(event)
        for act in facts.acts:
            if act.act is Act.COMMIT and act.ok is not False:
                work.has_edits = work.has_edits or act.ok is True
                if act.is_amended and act.commits and work.commits:
                    work.commits.pop()
                work.commits.extend(MadeCommit(printed, event.ts) for printed in act.commits)
        for edit in facts.edits:
            work.has_edits = True
            if event.ts is not None:
                work.edits.append(TimedEdit(edit.path.replace("\\", "/"), event.ts))
        facts.acts.clear()
        facts.edits.clear()


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
    reader = WorkReader(work)
    try:
        for item in open_trace(file.path, is_growing=True):
            if isinstance(item, Event):
                reader.see(item)
    except TranscriptError as error:
        return work, error
    return work, None
