"""A session that is judged while its agent writes it, with the sub-agents that it started."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from ebbtide.checking import check
from ebbtide.cli.wrapper.session_finder import WrittenFile
from ebbtide.errors import TranscriptError
from ebbtide.report import wording
from ebbtide.service.sessions.followed_session import FollowedSession
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.verdict import Verdict
from ebbtide.text.redaction import redacted


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
                        yield redacted(verdict) if self._options.redact else verdict
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
        summary = self._recorder.summary(self.path, name, over=over)
        return redacted(summary) if self._options.redact else summary
