"""Commits of this machine's sessions: looked up again when a session or its repository has changed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ebbtide.bounded import Bounded
from ebbtide.codec import to_wire
from ebbtide.errors import ConfigError
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.service.runs.run_origin import WITH_PERSON
from ebbtide.service.runs.waste import unhurried
from ebbtide.shipped.git import Repository
from ebbtide.shipped.outcome import outcomes
from ebbtide.shipped.session_work import SessionWork, WorkReader
from ebbtide.text.redaction import redacted

_LATEST_S: Final = 7 * 86_400.0  # sessions that were silent for longer keep what is known of them
_MOST: Final = 1_000  # sessions whose work is kept in memory
_WORK_S: Final = 0.002  # after which requests have their turn
_REST_S: Final = 0.02
_MARKS: Final = ", ".join("?" * len(WITH_PERSON))
_NEXT: Final = f"""
SELECT run_id, project, agent, events, cost_usd, shipped FROM runs
WHERE source IN ({_MARKS}) AND project IS NOT NULL AND latest >= ? ORDER BY started, number
"""  # noqa: S608 - marks of our own
_KEEP: Final = "UPDATE runs SET shipped = ? WHERE run_id = ?"


@dataclass(slots=True)
class _Session:
    """The work of one session so far, and the place in the log up to which it was read."""

    work: SessionWork
    reader: WorkReader
    place: int = 0
    events: int = -1


class ShippedSessions:
    """Keeps what the sessions of this machine shipped beside their runs.

    Only sessions whose project is a folder of this machine are looked at. Git is asked as `ebbtide check
    --repo` asks it: nothing that the repository names runs.

    Args:
        redact: Whether keys and passwords are masked in titles of commits.
    """

    def __init__(self, database: RunDatabase, *, redact: bool = True) -> None:
        self._database = database
        self._redact = redact
        self._sessions: Bounded[str, _Session] = Bounded(_MOST)
        self._seen: dict[str, str] = {}  # by repository, what was true when it was asked last

    def look(self, now: float) -> list[str]:
        """Returns the runs of which something else is known now."""
        rows = self._database.read(_NEXT, (*WITH_PERSON, now - _LATEST_S))
        folders: dict[str, list[Sequence[Any]]] = {}
        for row in rows:
            folders.setdefault(row[1], []).append(row)
        repositories: dict[str, tuple[Repository, list[Sequence[Any]]]] = {}
        for folder, members in folders.items():
            repository = _repository(folder)
            if repository is not None:
                roots = repository.roots()
                repositories.setdefault(roots[0] if roots else folder, (repository, []))[1].extend(members)
        changed: list[str] = []
        for root, (repository, members) in repositories.items():
            try:
                changed += self._look_at(root, repository, members)
            except ConfigError:
                continue  # git does not answer for this one; it is asked again
        return changed

    def _look_at(self, root: str, repository: Repository, rows: Sequence[Sequence[Any]]) -> Iterator[str]:
        state = _digest([repository.state(), *(f"{row[0]} {row[3]} {row[4]}" for row in rows)])
        if self._seen.get(root) == state:
            return
        works = [self._work(run_id, project, agent, events) for run_id, project, agent, events, *_ in rows]
        for row, found in zip(rows, outcomes(repository, works), strict=True):
            run_id, *_, cost_usd, before = row
            shipped = replace(found, cost_usd=cost_usd)
            text = json.dumps(to_wire(redacted(shipped) if self._redact else shipped))
            if text != before:
                self._keep(run_id, text)
                yield run_id
        self._seen[root] = state

    def _keep(self, run_id: str, text: str) -> None:
        self._database.write(lambda session: session.run(_KEEP, (text, run_id)))

    def _work(self, run_id: str, project: str, agent: str | None, events: int) -> SessionWork:
        """Returns the work of a run, with the events that came since the last look."""
        session = self._sessions.get(run_id)
        if session is None:
            work = SessionWork(run_id, project, agent or "")
            session = _Session(work, WorkReader(work))
        self._sessions.renew(run_id, session)
        if session.events != events:
            news = self._database.since(run_id, session.place)
            for place, event in unhurried(news, work_s=_WORK_S, rest_s=_REST_S):
                session.reader.see(event)
                session.place = place
            session.events = events
        return session.work


def _repository(folder: str) -> Repository | None:
    """Returns the repository that a folder is in; None where it is in none, or is not on this machine."""
    if not Path(folder).is_absolute() or not Path(folder).is_dir():
        return None
    try:
        return Repository(folder)
    except ConfigError:
        return None


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
