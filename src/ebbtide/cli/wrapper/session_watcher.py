"""The process that watches: it finds the sessions of the agent and reports what their verdicts ask for.

It is a process of its own, so that none of its work delays a key, and no fault of it ends the agent.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from ebbtide.checking import check
from ebbtide.cli.wrapper.session_finder import SessionBaseline, SessionFinder, WrittenFile
from ebbtide.cli.wrapper.watcher_process import MessageKind, do_job, send
from ebbtide.errors import TranscriptError
from ebbtide.report import wording
from ebbtide.service.sessions.followed_session import FollowedSession
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.verdict import Verdict
from ebbtide.traces.sessions.agent_homes import CodingAgent

_LOOK_S: Final = 0.1  # between two looks into known files
_SEARCH_S: Final = 0.5  # between two searches for files
_STANDING_S: Final = 1.0  # between two messages about the standing
_SHARE: Final = 20  # searches and standings take one part in so many of the time at most
_MOST: Final = 16  # sessions
_REPORTED: Final = 3  # sessions at the end
_NOTHING: Final = "no coding agent session was written here, so nothing was watched."

SessionKey = tuple[CodingAgent, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchJob:
    """The work of the process, which finds it pickled in its standard input.

    Args:
        start: The machine before the agent.
        options: By what the run is judged.
        alive: Descriptor of a pipe whose other end is open while the agent runs.
    """

    start: SessionBaseline
    options: RunOptions
    alive: int


class WatchedSession:
    """Reads the files of a session as they grow, and asks one supervisor.

    Args:
        options: By what the run is judged.
        has_past: True if the session was there before the agent started: the first look takes in its past.
        may_end: True if a verdict on it may end the agent.
    """

    def __init__(self, options: RunOptions, *, has_past: bool, may_end: bool) -> None:
        self.path = ""  #: of the session itself; empty while only a sub-agent of it is known
        self._options = options
        self._recorder = RunRecorder(options)
        self._files: dict[str, FollowedSession] = {}
        self._past = has_past
        self._may_end = may_end
        self._latest: tuple[object, ...] = ()

    def follow(self, written: WrittenFile) -> None:
        """Follows one more file of the session; does nothing where it is followed.

        Raises:
            TranscriptError: It cannot be read.
        """
        path = written.file.path
        if path in self._files:
            return
        chain = "" if written.origin.is_main else written.origin.id
        self._files[path] = FollowedSession(path, chain=chain)
        if written.origin.is_main:
            self.path = path

    def look(self) -> Iterator[Verdict]:
        """Reads the new events.

        Yields:
            Each verdict that asks to end the run, or for a person, and differs from the one before.

        Raises:
            TranscriptError: A file cannot be read.
        """
        for followed in tuple(self._files.values()):
            for events in followed.look():
                for event in events:
                    verdict = self._recorder.record(event)
                    if not self._past and self._is_new(verdict):
                        yield verdict
        if self.path:
            self._past = False

    def standing(self) -> str:
        """Returns the words of the run so far, and what it took."""
        summary = self._summary(over=False)
        spent = summary.spent
        return f"{summary.words} {wording.amounts(spent.cost_usd, spent.tokens.total)}".rstrip()

    def report(self) -> str:
        """Returns the words of the run, its bill, and the file of its session, as `check` has them."""
        path = self.path or next(iter(self._files))
        try:
            summary = check(path, self._options, is_growing=True)
        except (TranscriptError, OSError):
            summary = self._summary(over=True)
        spent = summary.spent
        amounts = wording.amounts(spent.cost_usd, spent.tokens.total) or "cost unknown"
        return f"{summary.words}: {summary.bill.sentence or f'{amounts}.'} Session: {path}"

    def close(self) -> None:
        """Close the files."""
        for followed in self._files.values():
            followed.close()

    def _is_new(self, verdict: Verdict) -> bool:
        if not self._may_end or verdict.action not in (Action.STOP, Action.ESCALATE) or verdict.shadow:
            return False
        # A loop that goes on is reported anew where it has grown much, with the number of that event.
        event = None if verdict.loop_id is None else verdict.event
        key = (verdict.action, verdict.cause, verdict.kind, verdict.loop_id, event)
        is_new, self._latest = key != self._latest, key
        return is_new

    def _summary(self, *, over: bool) -> RunSummary:
        name = PurePath(self.path).name
        return self._recorder.summary(self.path, name, over=over)


class SessionWatcher:
    """Follows the sessions of the agent until it is over."""

    def __init__(self, job: WatchJob) -> None:
        self._job = job
        self._finder = SessionFinder(job.start, os.environ)
        self._sessions: dict[SessionKey, WatchedSession] = {}  # that written last stands last
        self._unreadable: set[SessionKey] = set()
        self._search_at = self._standing_at = 0.0
        self._standing = ""

    def watch(self) -> None:
        """Watches, and reports at the end."""
        is_over = False
        while not is_over:
            is_over = bool(select.select([self._job.alive], [], [], _LOOK_S)[0])
            if is_over or time.monotonic() >= self._search_at:
                self._search()
            self._look()
            if not is_over:
                self._report_standing()
        self._report()

    def _search(self) -> None:
        begun = time.monotonic()
        sessions: dict[SessionKey, WatchedSession] = {}
        for item in reversed(self._finder.look()):
            key = (item.file.agent, item.session)
            if key in self._unreadable:
                continue
            session = sessions.pop(key, None) or self._sessions.get(key)
            if session is None:
                # A session of before ends nothing unless the command line resumes one: it may be another's.
                may_end = item.is_new or self._job.start.resumes
                session = WatchedSession(self._job.options, has_past=not item.is_new, may_end=may_end)
            sessions[key] = session
            try:
                session.follow(item)
            except TranscriptError as error:
                self._give_up(key, error)
        keys = [key for key in sessions if key not in self._unreadable][-_MOST:]
        for key, session in self._sessions.items():
            if key not in keys:
                session.close()
        self._sessions = {key: sessions[key] for key in keys}
        now = time.monotonic()
        self._search_at = now + max(_SEARCH_S, _SHARE * (now - begun))

    def _look(self) -> None:
        for key, session in tuple(self._sessions.items()):
            try:
                for verdict in session.look():
                    send(MessageKind.VERDICT, verdict.explanation, verdict.action)
            except TranscriptError as error:
                self._give_up(key, error)
                self._sessions.pop(key).close()

    def _give_up(self, key: SessionKey, error: TranscriptError) -> None:
        self._unreadable.add(key)
        send(MessageKind.FAULT, str(error))

    def _report_standing(self) -> None:
        begun = time.monotonic()
        if begun < self._standing_at or not self._sessions:
            return
        standing = [*self._sessions.values()][-1].standing()
        if standing != self._standing:
            self._standing = standing
            send(MessageKind.STANDING, standing)
        now = time.monotonic()
        self._standing_at = now + max(_STANDING_S, _SHARE * (now - begun))

    def _report(self) -> None:
        sessions = [*self._sessions.values()]
        if len(sessions) > _REPORTED:
            send(MessageKind.REPORT, f"{len(sessions) - _REPORTED} earlier sessions: see `ebbtide check`.")
        for session in sessions[-_REPORTED:]:
            send(MessageKind.REPORT, session.report())
        if not sessions and not self._unreadable:
            send(MessageKind.REPORT, _NOTHING)


if __name__ == "__main__":
    do_job(lambda job: SessionWatcher(job).watch())
