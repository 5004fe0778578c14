"""Watches this machine's sessions of coding agents without any set-up: what their files tell becomes runs."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import groupby
from typing import Final

from ebbtide.bounded import Bounded
from ebbtide.database.group_writer import QueueFullError
from ebbtide.database.session import Session
from ebbtide.errors import EbbtideError, TranscriptError
from ebbtide.events.event import Event
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.service.runs.run_event import RunEvent, keepable_events
from ebbtide.service.runs.run_origin import RunOrigin, RunSource
from ebbtide.service.runs.waste import unhurried
from ebbtide.service.sessions.followed_session import FollowedSession
from ebbtide.service.sessions.session_books import SessionBooks
from ebbtide.traces.agents.opencode_storage import message_folder
from ebbtide.traces.agents.session_database import is_in_database
from ebbtide.traces.input.source import is_session_file
from ebbtide.traces.sessions.agent_homes import CodingAgent
from ebbtide.traces.sessions.session_files import SessionFile, SessionSearch
from ebbtide.traces.sessions.session_origin import SessionOrigin, origin_of, root_session

_log = logging.getLogger(__name__)
_PAST_S: Final = 7 * 86_400.0  # how far back a session may have been written last
_NEWS_S: Final = 300.0  # an event older than that is the past, of which nobody hears
_SEARCH_S: Final = 5.0  # between two searches for files
_TIDY_S: Final = 3600.0  # between two looks for files that are gone
_EVERY_S: Final = 1.0  # between two looks that found nothing
_PASS_S: Final = 0.5  # of reading, after which the latest come first again
_WORK_S: Final = 0.002  # of watching, after which requests have their turn
_REST_S: Final = 0.002
_TOGETHER: Final = 500  # events that are written at once
_MOST_OPEN: Final = 64  # files
_SECOND_S: Final = 1.0
_SMALL: Final = 64 << 10  # bytes of a file that may not say yet where its agent works


class SessionWatch:
    """Gives the events in session files to the runs, each of them once.

    A session that hooks report is left to them.

    Args:
        environment: Variables and their values, as in `os.environ`: they tell where agents keep sessions.
        clock: Seconds since 1970.
    """

    def __init__(
        self, runs: LiveRuns, environment: Mapping[str, str], *, clock: Callable[[], float] = time.time
    ) -> None:
        self._runs = runs
        self._environment = environment
        self._clock = clock
        self._files: tuple[SessionFile, ...] = ()
        self._origins: dict[str, SessionOrigin] = {}
        self._by_id: dict[CodingAgent, dict[str, SessionOrigin]] = {}
        self._states = file_states(runs.database)
        self._open: Bounded[str, FollowedSession] = Bounded(_MOST_OPEN)
        self._books = SessionBooks(runs.database, runs.prices)
        runs.inherited_by = self._books.inherited
        self._searched_at: float | None = None
        self._tidied_at: float | None = None

    def look(self) -> bool:
        """Read what is new, the latest sessions first; whether there is more.

        Raises:
            StoreError: The database does not take it; the next look tries again.
        """
        now = self._clock()
        if self._searched_at is None or abs(now - self._searched_at) >= _SEARCH_S:
            self._search(now)
        start = time.monotonic()
        for file in self._files:
            state = _state(file)
            is_old = self._states.get(file.path) == state
            if is_old and self._books.has(file.path):
                continue
            is_read = is_old or self._read(file)
            self._take_calls(file)
            if is_read and not is_old:
                self._states[file.path] = state
                keep_file_state(self._runs.database, file.path, state)
            if time.monotonic() - start > _PASS_S:
                self._books.write()
                return True
        return self._books.write()

    def close(self) -> None:
        """Close all files."""
        while self._open:
            self._open.popitem()[1].close()

    def _search(self, now: float) -> None:
        self._searched_at = now
        search = SessionSearch.of(self._environment, since=now - _PAST_S)
        self._files = tuple(file for file in search.files if not file.obstacle)
        for file in self._files:
            if file.path not in self._origins or _size(file) < _SMALL:
                self._origins[file.path] = origin = origin_of(file)
                self._by_id.setdefault(file.agent, {})[origin.id] = origin
        if self._tidied_at is None or abs(now - self._tidied_at) >= _TIDY_S:
            self._tidied_at = now
            drop_lost_files(self._runs.database, [file.path for file in self._files])

    def _take_calls(self, file: SessionFile) -> None:
        origins = self._by_id[file.agent]
        session = root_session(self._origins[file.path], origins)
        self._books.take(file, f"{file.agent.value}:{session}", session, origins)

    def _read(self, file: SessionFile) -> bool:
        """Reads what is new; returns True if there is no more as long as its state stays."""
        own = self._origins[file.path]
        session = root_session(own, self._by_id[file.agent])
        run_id = f"{file.agent.value}:{session}"
        project = self._by_id[file.agent].get(session, own).project
        stored = self._runs.database.origin(run_id)
        if stored is not None and stored.source is RunSource.HOOKS:
            return True
        origin = RunOrigin(project=project, agent=file.agent.value, source=RunSource.SESSION_FILE)
        try:
            followed = self._open.pop(file.path, None)
            if followed is None:
                database = self._runs.database
                followed = FollowedSession(
                    file.path,
                    chain="" if own.is_main else own.id,
                    rests=file_rests(database, file.path),
                    keep_rest=partial(keep_file_rest, database, file.path),
                )
            silent_longest = self._open.put(file.path, followed)
            if silent_longest is not None:
                silent_longest[1].close()
            for events in followed.look():
                self._give(run_id, origin, events, file.modified)
        except TranscriptError as error:
            _log.warning("a session cannot be read: %s", error)
            return True
        except BaseException:
            # What was read and is not kept has to be read again.
            self._open.pop(file.path).close()
            raise
        # Databases state times in whole seconds, in which more may come.
        is_fresh = is_in_database(file.path) and abs(self._clock() - file.modified) <= _SECOND_S
        return not (is_fresh or followed.is_waiting)

    def _give(self, run_id: str, origin: RunOrigin, events: list[Event], modified: float) -> None:
        for start in range(0, len(events), _TOGETHER):
            together = events[start : start + _TOGETHER]
            items = keepable_events(run_id, together, self._runs.prices, modified)
            edge = self._clock() - _NEWS_S
            for is_past, part in groupby(items, key=lambda item: item.at < edge):
                self._keep(run_id, origin, list(part), is_past=is_past)

    def _keep(self, run_id: str, origin: RunOrigin, items: list[RunEvent], *, is_past: bool) -> None:
        now = self._clock()
        heard_at = min(now, max(item.at for item in items))
        while True:
            try:
                places = self._runs.append(run_id, items, origin, now=heard_at, is_past=is_past).result()
                break
            except QueueFullError:
                time.sleep(_PASS_S)
        news = zip(items, places, strict=True)
        for item, place in unhurried(news, work_s=_WORK_S, rest_s=_REST_S):
            if place:
                self._runs.take(run_id, item.event, place, is_past=is_past)
        if any(places):
            self._runs.note(run_id, now=heard_at)


def keep_watching(watch: SessionWatch, pause: Callable[[float], bool]) -> None:
    """Look again and again; what fails is tried again.

    Args:
        pause: Waits so many seconds; whether to end.
    """
    rest_s = 0.0
    while not pause(rest_s):
        try:
            rest_s = 0.0 if watch.look() else _EVERY_S
        except (EbbtideError, OSError) as error:
            _log.error("sessions cannot be read now: %s", error)
            rest_s = 10 * _EVERY_S
    watch.close()


def _state(file: SessionFile) -> str:
    """Returns a text that changes when a file does."""
    try:
        status = os.stat(file.path)  # noqa: PTH116 - a Path of each of many files takes long
        state = f"{status.st_size} {status.st_mtime_ns}"
        if is_session_file(file.path):  # its messages have files of their own
            folder = message_folder(file.path)
            latest = max(os.listdir(folder))  # noqa: PTH208 - likewise
            state += f" {latest} {(folder / latest).stat().st_mtime_ns}"
    except (OSError, ValueError):  # in a database, without a message, or gone
        return str(file.modified)
    return state


def _size(file: SessionFile) -> int:
    try:
        return os.stat(file.path).st_size  # noqa: PTH116 - likewise
    except OSError:
        return _SMALL


def file_states(database: RunDatabase) -> dict[str, str]:
    """The files that were read, each with its state then."""
    return dict(database.read("SELECT path, state FROM session_files"))


def keep_file_state(database: RunDatabase, path: str, state: str) -> None:
    """Keep that a file was read to its end."""
    query = (
        "INSERT INTO session_files (path, state) VALUES (?, ?)"
        " ON CONFLICT (path) DO UPDATE SET state = excluded.state"
    )
    database.write(lambda session: session.run(query, (path, state)))


def file_rests(database: RunDatabase, path: str) -> list[int]:
    """The places at which a file was at rest, in bytes."""
    return [place for (place,) in database.read("SELECT place FROM session_rests WHERE path = ?", (path,))]


def drop_lost_files(database: RunDatabase, paths: Collection[str]) -> None:
    """Forget the states and the rests of files that are gone.

    A file that is there may be written again, and has to be read with the same rests then.
    """
    known = {path for (path,) in database.read("SELECT path FROM session_files")}
    known |= {path for (path,) in database.read("SELECT DISTINCT path FROM session_rests")}
    gone = [(path,) for path in known.difference(paths) if not _is_there(path)]

    def write(session: Session) -> None:
        session.run_many("DELETE FROM session_files WHERE path = ?", gone)
        session.run_many("DELETE FROM session_rests WHERE path = ?", gone)

    if gone:
        database.write(write)


def _is_there(path: str) -> bool:
    """Returns True if a file is there, or the database that a session is in."""
    return os.path.exists(path) or is_in_database(path)  # noqa: PTH110


def keep_file_rest(database: RunDatabase, path: str, place: int) -> None:
    """Keep that a file was at rest at a place."""
    query = "INSERT INTO session_rests (path, place) VALUES (?, ?) ON CONFLICT DO NOTHING"
    database.write(lambda session: session.run(query, (path, place)))
