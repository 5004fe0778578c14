"""The process that judges the sessions of an agent that speaks the Agent Client Protocol.

It is a process of its own, so that none of its work delays a line, and no fault of it ends the agent.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, BinaryIO, Final

from ebbtide.adapters.acp_session import KINDS, AcpSession
from ebbtide.adapters.final_text import final_text
from ebbtide.bounded import Bounded
from ebbtide.cli.terminal import plain
from ebbtide.cli.wrapper.acp_lines import RequestId, messages_of, prompts_of, request_id
from ebbtide.cli.wrapper.acp_relay import AGENT, EDITOR, HEAD, LONGEST, AcpWatchJob
from ebbtide.cli.wrapper.watcher_process import MessageKind, do_job, send
from ebbtide.errors import error_text
from ebbtide.events.event import Event
from ebbtide.events.identity import MARK
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.report import wording
from ebbtide.report.plurals import count
from ebbtide.supervision.facts import LoopFacts
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.runs.watched_run import standing_of
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.verdict import Verdict
from ebbtide.supervision.wording import nudge
from ebbtide.traces.input.lines import LineSplitter
from ebbtide.traces.records import fields

_MOST: Final = 1000  # sessions, and requests without an answer
_BEGINS: Final = frozenset({"session/new", "session/load", "session/resume", "session/fork"})
_SHOWN: Final = 60  # characters of a session's id


class _WatchedAcpSession:
    """One session, perhaps older than the agent: its events, and the recorder that judges it."""

    def __init__(self, recorder: RunRecorder, *, has_past: bool = False) -> None:
        self.events = AcpSession(has_past=has_past)
        self.recorder = recorder
        self.is_replayed = False  #: its past comes now, which is not judged
        self.prompt = 0  #: number of the latest, 0 before the first
        self.is_open = False  #: the turn of that goes on
        self.told = Action.ALLOW  #: the strictest action that was asked for in that turn
        self.ended = ""  #: the first reason why a turn was ended, or would have been
        self.is_lost = False

    def record(self, events: Iterable[Event]) -> Verdict | None:
        """Takes events; returns the verdict by which a turn is to end, or a person to look, once a turn."""
        ending = None
        for event in events:
            verdict = self.recorder.record(replace(event, ts=time.time()))
            is_asked = verdict.rank >= Action.ESCALATE.rank and not verdict.shadow
            if self.is_open and is_asked and verdict.rank > self.told.rank:
                ending, self.told = verdict, verdict.action
        return ending

    def note(self) -> str:
        """Returns what to tell the model of what holds; empty where that is nothing."""
        verdict = self.recorder.supervisor.verdict()
        text = verdict.nudge
        if text is None and isinstance(verdict.facts, LoopFacts) and not verdict.for_person:
            text = f"{verdict.reason} {nudge(verdict.facts)}"
        return "" if text is None or verdict.shadow else MARK + text


class AcpWatcher:
    """Judges every session of a connection, each by itself."""

    def __init__(self, job: AcpWatchJob) -> None:
        declared = {} if job.options.tools is None else job.options.tools.table
        self._options = replace(job.options, tools=ToolPolicies({**KINDS, **declared}))
        self._stops = job.stops
        self._sessions: Bounded[str, _WatchedAcpSession] = Bounded(_MOST)
        # Method, session and number of the prompt.
        self._requests: Bounded[RequestId | None, tuple[str, str, int]] = Bounded(_MOST)
        self._permissions: Bounded[RequestId, str] = Bounded(_MOST)  # sessions, by the open request
        self._prompts = 0
        self._unread = 0  # lines

    def watch(self, file: BinaryIO) -> None:
        """Reads the lines of both sides, and reports at their end."""
        splitters = {side: LineSplitter(longest=LONGEST) for side in (EDITOR, AGENT)}
        while len(head := file.read(HEAD.size)) == HEAD.size:
            side, size = HEAD.unpack(head)
            for line in splitters[side].feed(file.read(size)):
                self._take(side, line)
        self._report()

    def _take(self, side: bytes, line: bytes) -> None:
        prompts = prompts_of(line) if side == EDITOR else {}
        messages = messages_of(line)
        self._unread += None in messages
        for place, message in enumerate(messages):
            if message is not None:
                self._take_message(side, message, prompts.get(place))

    def _take_message(self, side: bytes, message: Mapping[str, Any], prompted: str | None) -> None:
        note = ""
        try:
            if prompted is not None:
                note = self._prompt(prompted, message)
            elif side == EDITOR:
                self._of_editor(message)
            else:
                self._of_agent(message)
        except Exception as error:  # noqa: BLE001 - the other sessions are watched on
            self._give_up(message, error)
        if prompted is not None:
            # Whoever holds the prompt waits for this.
            send(MessageKind.NOTE, note, session=prompted, prompt=self._prompts)

    def _prompt(self, name: str, message: Mapping[str, Any]) -> str:
        """Takes what a person says; returns the note that goes with it."""
        self._prompts += 1
        session = self._session(name)
        note = "" if session.is_lost else session.note()
        self._requests[request_id(message)] = ("session/prompt", name, self._prompts)
        self._record(name, session.events.prompt(fields.mapping(message.get("params"))))
        session.prompt, session.is_open, session.told = self._prompts, True, Action.ALLOW
        return note

    def _of_editor(self, message: Mapping[str, Any]) -> None:
        method, params = message.get("method"), fields.mapping(message.get("params"))
        name = fields.text(params.get("sessionId")) or ""
        request = request_id(message)
        if method is None and request is not None:
            self._permissions.pop(request, None)
        if method in _BEGINS:
            self._requests[request] = (method, name, 0)
            if method == "session/load":
                self._session(name, has_past=True).is_replayed = True

    def _of_agent(self, message: Mapping[str, Any]) -> None:
        params = fields.mapping(message.get("params"))
        name = fields.text(params.get("sessionId"))
        if message.get("method") == "session/update" and name is not None:
            session = self._session(name)
            events = session.events.update(fields.mapping(params.get("update")))
            if not session.is_replayed:
                self._record(name, events)
        elif message.get("method") == "session/request_permission" and name is not None:
            call, asked = fields.mapping(params.get("toolCall")), request_id(message)
            if asked is not None:
                self._permissions[asked] = name
            self._record(name, self._session(name).events.update({**call, "status": None}))
            self._refuse_permissions(name)
        elif "method" not in message:
            request = self._requests.pop(request_id(message), None)
            if request is not None:
                self._answer(*request, message)

    def _answer(self, method: str, name: str, prompt: int, message: Mapping[str, Any]) -> None:
        result, error = fields.mapping(message.get("result")), message.get("error")
        if method in _BEGINS:
            begun = self._session(
                fields.text(result.get("sessionId")) or name, has_past=method != "session/new"
            )
            if begun.is_replayed:
                begun.events.cut()
                begun.is_replayed = False
            return
        session = self._session(name)
        session.is_open = session.is_open and session.prompt != prompt
        events = session.events
        self._record(name, events.answer(result) if error is None else events.failure(fields.mapping(error)))

    def _record(self, name: str, events: list[Event]) -> None:
        session = self._session(name)
        ending = None if session.is_lost else session.record(events)
        if ending is None:
            return
        if ending.action is Action.STOP:
            session.ended = session.ended or ending.explanation
        if self._stops:
            tally = session.recorder.supervisor.tally
            standing = standing_of(name, tally, ending, latest=time.time())
            text = final_text(ending, standing)
            send(MessageKind.VERDICT, text, ending.action, session=name, prompt=session.prompt)
            self._refuse_permissions(name)

    def _refuse_permissions(self, name: str) -> None:
        """Has requests for permission answered that are open in a turn that was ended."""
        session = self._session(name)
        if self._stops and session.is_open and session.told is Action.STOP:
            for request in [key for key, asking in self._permissions.items() if asking == name]:
                del self._permissions[request]
                send(MessageKind.PERMISSION, json.dumps(request), session=name, prompt=session.prompt)

    def _session(self, name: str, *, has_past: bool = False) -> _WatchedAcpSession:
        """Returns a session, made anew where it is not known."""
        if name not in self._sessions:
            self._sessions[name] = _WatchedAcpSession(RunRecorder(self._options), has_past=has_past)
        return self._sessions[name]

    def _give_up(self, message: Mapping[str, Any], error: Exception) -> None:
        name = fields.text(fields.mapping(message.get("params")).get("sessionId")) or ""
        session = self._sessions.get(name)
        if session is None:
            self._unread += 1
        elif not session.is_lost:
            session.is_lost = True
            text = f"session {name} is no longer watched: {error_text(error)}; its agent is not affected"
            send(MessageKind.FAULT, text)

    def _report(self) -> None:
        prompted = {name: session for name, session in self._sessions.items() if session.prompt}
        for name, session in prompted.items():
            if not session.is_lost:
                for line in self._lines(name, session):
                    send(MessageKind.REPORT, line)
        if not prompted:
            send(MessageKind.REPORT, "no session received a prompt, so nothing was watched.")
        if self._unread:
            send(MessageKind.REPORT, f"{count(self._unread, 'line')} could not be read.")

    def _lines(self, name: str, session: _WatchedAcpSession) -> Iterator[str]:
        if session.is_open:
            session.record(session.events.cut())
        shown = plain(name, _SHOWN)
        if session.ended:
            verb = "was ended" if self._stops else "would have been ended by --stop"
            yield f"a turn of {shown} {verb}: {session.ended}"
        summary = session.recorder.summary(name, "acp")
        spent = summary.spent
        amounts = wording.amounts(spent.cost_usd, spent.tokens.total) or "cost unknown"
        yield f"{summary.words}: {amounts}. Session: {shown}"


if __name__ == "__main__":
    do_job(lambda job: AcpWatcher(job).watch(sys.stdin.buffer))
