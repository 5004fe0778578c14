"""Keeps decisions of sessions: has their files read beside the hooks.

An agent waits 0.3 s for a hook, and a long session takes seconds to read. So a thread of its own reads, from
where it stopped last; a compaction takes the model longer than that. The gate and the log are loaded there:
most services never need them.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from ebbtide.bounded import Bounded
from ebbtide.service.hooks.contradiction import RulingDecision
from ebbtide.traces.records.calls_once import CallsOnce
from ebbtide.traces.records.readers import EventReader

if TYPE_CHECKING:
    from ebbtide.service.hooks.deciding_session import DecidingSession
    from ebbtide.service.hooks.handed_back import HandedBack

_SESSIONS: Final = 16  # whose decisions are at hand
_LAST_S: Final = 10.0  # for what is under way when the service ends


class SessionPause(StrEnum):
    """The agent's state while its session file is read, which says whether its last words are whole."""

    NONE = "none"  #: it may go on with them
    REST = "rest"  #: it waits
    END = "end"  #: the session is over


@dataclass(slots=True, kw_only=True)
class SessionReading:
    """A reading of a session file up to its end, done beside the hooks.

    Args:
        run_id: The run: the agent, and the session behind a colon.
        log: Path or URL of the log that gets what was decided.
        result: What is handed back; None before that, or where it failed.
    """

    run_id: str
    path: str
    reader: Callable[[CallsOnce], EventReader]
    pause: SessionPause
    log: str
    done: threading.Event = field(default_factory=threading.Event)
    result: HandedBack | None = None


@dataclass(slots=True, kw_only=True)
class RulingsReading:
    """A reading of what the decisions of a session's project ruled out."""

    run_id: str
    folder: str
    log: str


class DecisionKeeper:
    """Keeps the decisions of sessions, in a thread that begins with the first of them.

    Args:
        note_fault: Hears of what failed, by its name: a session goes on without it.
        folder_of: Returns the folder of a run; None where it is not known.
    """

    def __init__(
        self, note_fault: Callable[[str, Exception], None], folder_of: Callable[[str], str | None]
    ) -> None:
        self._note_fault = note_fault
        self._folder_of = folder_of
        self._rulings: Bounded[str, tuple[RulingDecision, ...] | None] = Bounded(_SESSIONS)
        self._sessions: Bounded[str, DecidingSession] = Bounded(_SESSIONS)
        self._readings: Bounded[str, SessionReading] = Bounded(_SESSIONS)  # the latest of each run
        self._queue: queue.SimpleQueue[SessionReading | RulingsReading | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def read(self, reading: SessionReading) -> None:
        """Begins a reading of what is new in a session file."""
        with self._lock:
            self._readings.renew(reading.run_id, reading)
        self._put(reading)

    def rulings(self, run_id: str) -> tuple[RulingDecision, ...] | None:
        """Returns what decisions of a run's project ruled out; None where nobody has begun to read that."""
        with self._lock:
            return (self._rulings[run_id] or ()) if run_id in self._rulings else None

    def read_rulings(self, reading: RulingsReading) -> None:
        """Begins to read what the decisions of a run's project ruled out."""
        with self._lock:
            self._rulings.renew(reading.run_id, self._rulings.get(reading.run_id))
        self._put(reading)

    def _put(self, reading: SessionReading | RulingsReading) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="decisions", daemon=True)
                self._thread.start()
        self._queue.put(reading)

    def latest(self, run_id: str) -> SessionReading | None:
        """Returns the latest reading of a run; None where there is none at hand."""
        with self._lock:
            return self._readings.get(run_id)

    def close(self) -> None:
        """Ends when all is read and written, or after a while."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._queue.put(None)
            thread.join(_LAST_S)

    def _run(self) -> None:
        while (reading := self._queue.get()) is not None:
            try:
                self._do(reading)
            except Exception as error:  # noqa: BLE001 - the agent does not notice
                self._note_fault("decisions", error)
            finally:
                if isinstance(reading, SessionReading):
                    reading.done.set()

    def _do(self, reading: SessionReading | RulingsReading) -> None:
        from ebbtide.service.hooks import deciding_session, ruled_out

        if isinstance(reading, RulingsReading):
            found = ruled_out.ruled_out(reading.log, reading.folder, self._folder_of)
            with self._lock:
                self._rulings.renew(reading.run_id, found)
            return
        session = self._sessions.pop(reading.run_id, None)
        if session is None or session.path != reading.path:
            session = deciding_session.DecidingSession(reading.path, reading.reader)
        session.read_on()
        if reading.pause is SessionPause.END:
            session.finish()
        else:
            self._sessions[reading.run_id] = session
            if reading.pause is SessionPause.REST:
                session.settle()
        reading.result = session.hand_back()
        reading.done.set()
        try:
            deciding_session.write_decisions(reading.log, reading.run_id, session.decisions.taken())
        except Exception as error:  # noqa: BLE001 - the agent does not notice
            self._note_fault("decision log", error)
