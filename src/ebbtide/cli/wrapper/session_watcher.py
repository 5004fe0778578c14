"""The process that watches: it finds the sessions of the agent and reports what their verdicts ask for.

It is a process of its own, so that none of its work delays a key, and no fault of it ends the agent.
"""

from __future__ import annotations

import os
import pickle
import select
import sys
import time
from dataclasses import dataclass
from typing import Final

from ebbtide.cli.terminal import plain
from ebbtide.cli.wrapper.messages import MessageKind, WatcherMessage
from ebbtide.cli.wrapper.session_finder import SessionBaseline, SessionFinder
from ebbtide.cli.wrapper.watched_session import WatchedSession
from ebbtide.errors import TranscriptError
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions
from ebbtide.text.redaction import redact
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


class SessionWatcher:
    """Follows the sessions of the agent until it is over.

    Args:
        job: The work.
    """

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
                    _send(MessageKind.VERDICT, verdict.explanation, verdict.action)
            except TranscriptError as error:
                self._give_up(key, error)
                self._sessions.pop(key).close()

    def _give_up(self, key: SessionKey, error: TranscriptError) -> None:
        self._unreadable.add(key)
        _send(MessageKind.FAULT, str(error))

    def _report_standing(self) -> None:
        begun = time.monotonic()
        if begun < self._standing_at or not self._sessions:
            return
        standing = [*self._sessions.values()][-1].standing()
        if standing != self._standing:
            self._standing = standing
            _send(MessageKind.STANDING, standing)
        now = time.monotonic()
        self._standing_at = now + max(_STANDING_S, _SHARE * (now - begun))

    def _report(self) -> None:
        sessions = [*self._sessions.values()]
        if len(sessions) > _REPORTED:
            _send(MessageKind.REPORT, f"{len(sessions) - _REPORTED} earlier sessions: see `ebbtide check`.")
        for session in sessions[-_REPORTED:]:
            _send(MessageKind.REPORT, session.report())
        if not sessions and not self._unreadable:
            _send(MessageKind.REPORT, _NOTHING)


def _send(kind: MessageKind, text: str, action: Action | None = None) -> None:
    line = WatcherMessage(kind=kind, text=plain(redact(text)), action=action).to_line()
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def _main() -> None:
    job: WatchJob = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the process that started this one
    try:
        SessionWatcher(job).watch()
    except BrokenPipeError:  # nobody listens any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except Exception as error:  # noqa: BLE001 - whoever holds the agent says so at its end
        _send(MessageKind.FAULT, f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    _main()
