"""Reads the decisions of a session file while it is written, and writes them into the log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from ebbtide import Decision, DecisionLog
from ebbtide.adapters.hooks.step import MAIN
from ebbtide.events.event import Event
from ebbtide.service.hooks.growing_session import GrowingSession
from ebbtide.service.hooks.handed_back import HandedBack, hand_back
from ebbtide.service.hooks.session_decisions import SessionDecision, SessionDecisions
from ebbtide.traces.records.calls_once import CallsOnce
from ebbtide.traces.records.readers import EventReader

_LOG_WAIT_S: Final = 5.0  # for another writer
_NAME: Final = 100  # characters of a speaker or a session


class DecidingSession(GrowingSession):
    """A session file whose decisions are read while it is written.

    Attributes:
        decisions: Those up to the place that was read.
    """

    def __init__(self, path: str, reader: Callable[[CallsOnce], EventReader]) -> None:
        self.decisions = SessionDecisions()
        super().__init__(path, reader, chain=MAIN, place=0)

    def read_on(self) -> None:
        """Reads up to the end of the file."""
        place = -1
        while self._at != place:
            place = self._at
            self.look()

    def hand_back(self) -> HandedBack:
        """Returns what the model gets back of its decisions."""
        return hand_back(self.decisions.listed(), self.decisions.files_in_sight)

    def _begin(self, at: int) -> None:
        self.decisions = SessionDecisions()  # it is another file
        super()._begin(at)

    def _plain(self, event: object) -> Event | None:
        if isinstance(event, Event):
            self.decisions.take(event)
        return None


def write_decisions(log: str, run_id: str, decisions: Sequence[SessionDecision]) -> int:
    """Writes the decisions of a session into a log, and returns how many are new.

    Each is known by its session and its event, so that writing them again changes nothing.

    Args:
        log: Path or URL of the log.
        run_id: The run: the agent, and the session behind a colon.

    Raises:
        EbbtideError: The log cannot be written, or the place can be none.
        OSError: Its folder cannot be made.
    """
    if not decisions:
        return 0
    if "://" not in log:
        Path(log).parent.mkdir(parents=True, exist_ok=True)
    with DecisionLog.open(log, timeout_s=_LOG_WAIT_S) as opened:
        added = opened.add_batch(_entry(opened, run_id, each) for each in decisions)
        ids = {each.id: entry.id for each, entry in zip(decisions, added, strict=True)}
        new = {entry.id for entry in added if entry.created}
        for each in decisions:
            by = ids.get(each.replaced_by or "")
            if by in new:
                opened.supersede(ids[each.id], by=by)
    return len(new)


def _entry(log: DecisionLog, run_id: str, each: SessionDecision) -> Decision:
    speaker = "".join(sign for sign in each.speaker if sign.isprintable())[:_NAME].strip() or None
    return Decision(
        scope=log.view.scope(speaker, run_id.partition(":")[2][:_NAME]),
        candidate=each.candidate,
        opened_at=each.ts,
        settled_at=each.ts,
        assessment=each.assessment,
        origin=f"{run_id} event {each.event}, sentence {each.id.rpartition('-')[2]}",
    )
