"""Takes hook events of coding agents, keeps their runs, and says what to answer."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

from ebbtide.adapters.final_text import final_text
from ebbtide.adapters.hooks.claude import CLAUDE
from ebbtide.adapters.hooks.codecs import CODECS
from ebbtide.adapters.hooks.step import MAIN, HookCodec, HookReply, HookStep, StepKind, Switch
from ebbtide.bounded import Bounded
from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import dollars, usd
from ebbtide.errors import StoreError, error_text
from ebbtide.events.event import Event, Message, ModelCall, ToolCall
from ebbtide.events.identity import MARK
from ebbtide.events.usage import Usage
from ebbtide.service.hooks.contradiction import contradictions
from ebbtide.service.hooks.decision_keeper import DecisionKeeper, RulingsReading, SessionPause, SessionReading
from ebbtide.service.hooks.growing_session import GrowingSession, SessionCalls, last_report
from ebbtide.service.hooks.hook_session import HookSession
from ebbtide.service.hooks.hook_store import HookStore
from ebbtide.supervision.ladder import Cause
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.runs.runs import Runs
from ebbtide.supervision.runs.watched_run import ReportCheck
from ebbtide.supervision.summary.headline import live_word
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict
from ebbtide.traces.records import fields

_FEW: Final = 8  # calls before the first answer of the model that a session file records
_MOST_FILES: Final = 500  # session files at hand
_DECISIONS: Final = "decisions"  # in the place of an agent in the ticket of a note about them
_READ_S: Final = 0.15  # that a hook waits for them; its client waits for twice that
#: Steps whose answer the model reads.
_READ_BY_MODEL: Final = (StepKind.START, StepKind.PROMPT, StepKind.TOOLS)
_PAUSES: Final = {
    StepKind.START: SessionPause.REST,
    StepKind.PROMPT: SessionPause.REST,
    StepKind.TOOLS: SessionPause.NONE,
    StepKind.COMPACT: SessionPause.NONE,
    StepKind.END: SessionPause.END,
}
_ADVICE: Final = "Stop here. Say what is missing, and ask the person."
_OFF: Final = f"{MARK}This run is not watched any more. Say “ebbtide on” to watch it again."
_ON: Final = f"{MARK}This run is watched again."


class Ticket(NamedTuple):
    """Names one note by its run, its agent, and its number among the notes of that agent.

    >>> Ticket.read(str(Ticket("claude:a b", "main", 2)))
    Ticket(run_id='claude:a b', agent='main', number=2)
    """

    run_id: str
    agent: str
    number: int

    def __str__(self) -> str:
        return f"{quote(self.run_id, safe='')}/{quote(self.agent, safe='')}/{self.number}"

    @classmethod
    def read(cls, text: str) -> Ticket:
        """Returns the ticket that a text is.

        Raises:
            ValueError: It is none.
        """
        run_id, agent, number = text.split("/")
        return cls(unquote(run_id), unquote(agent), int(number))


class HookAnswer(NamedTuple):
    """Answer to one hook event.

    Args:
        content: JSON of the agent; empty where there is nothing to say.
        ticket: Of the note in it, which is given again until `HookService.confirm` says that it arrived.
    """

    content: dict[str, Any]
    ticket: Ticket | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hook:
    """One hook event of a session, and how it may be answered.

    Args:
        shadow: True to record only.
        stops: True if a run that is stuck is ended, where the agent lets a hook do so.
        is_late: True if the agent waits for no answer any more.
        log: Path or URL of the log that decisions are kept in; None leaves decisions alone.
    """

    codec: HookCodec
    step: HookStep
    run_id: str
    session: HookSession
    shadow: bool
    stops: bool
    is_late: bool
    log: str | None

    @property
    def may_speak(self) -> bool:
        """True if the agent, or its person, may hear something of the run."""
        return not (self.shadow or self.is_late or self.session.is_off)


class HookService:
    """Service for hook events, however they come.

    It never raises on what an event holds: what cannot be read is counted, and answered with nothing.

    Args:
        runs: The runs, where others have a part in them; None takes those of the store.
        clock: Seconds since 1970.

    Attributes:
        faults: How often something failed, by the agent.
        last_fault: The latest of them, in words.
        latest: When the last event of each agent came, and of which run.
    """

    def __init__(
        self, store: HookStore, *, runs: Runs | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        prices = Prices()
        self._store = store
        self._clock = clock
        self._has_own_runs = runs is None
        self.runs = (
            runs if runs is not None else Runs(lambda _: Supervisor(prices=prices), store=store, clock=clock)
        )
        self.faults: Counter[str] = Counter()
        self.last_fault: str | None = None
        self.latest: dict[str, tuple[float, str]] = {}
        self._files: Bounded[tuple[str, str], GrowingSession] = Bounded(_MOST_FILES)
        self._calls: Bounded[str, SessionCalls] = Bounded(_MOST_FILES)  # by run
        self._keeper = DecisionKeeper(self.note_fault, store.folder)
        self._lock = threading.Lock()

    def take(
        self,
        agent: str,
        body: bytes,
        *,
        shadow: bool = False,
        stops: bool = False,
        is_late: bool = False,
        log: str | None = None,
    ) -> HookAnswer | None:
        """Returns the answer to one hook event, in the JSON of its agent.

        Args:
            agent: Whose it is: a name in `CODECS`.
            stops: Whether to end a run that is stuck, where the agent lets a hook do so.
            is_late: Whether the agent waits for no answer any more: what is to be said waits for the next.
            log: Path or URL of the log that decisions are kept in, and handed back from their session after a
                compaction; None leaves decisions alone.

        Returns:
            The answer. None where there is no such agent.
        """
        codec = CODECS.get(agent)
        if codec is None:
            return None
        try:
            step = codec.read(_object(body))
            if step is None:
                return HookAnswer({})
            run_id = f"{codec.name}:{step.session}"
            hook = _Hook(
                codec=codec,
                step=step,
                run_id=run_id,
                session=self._store.session(run_id),
                shadow=shadow,
                stops=stops,
                is_late=is_late,
                log=log,
            )
            reply = self._reply(hook)
            ticket = None
            if reply.delivery is not None:
                recipient = _DECISIONS if reply.brings_decisions else step.agent
                ticket = Ticket(run_id, recipient, reply.delivery)
            content = codec.answer(step, reply)
            if ticket is not None and not content:  # the agent reads no words with this event
                self.confirm(ticket, has_arrived=False)
                ticket = None
            return HookAnswer(content, ticket)
        except Exception as error:  # noqa: BLE001 - the agent does not notice
            self.note_fault(agent, error)
            return HookAnswer({})

    def status_line(self, body: bytes) -> str:
        """The line for the status line of Claude Code, given the JSON that it hands over."""
        try:
            event = _object(body)
            run_id = f"{CLAUDE.name}:{event['session_id']}"
            session = self._store.session(run_id)
            with session.lock:
                has_events = session.latest is not None
                supervisor = self.runs.get(run_id) if has_events else None
                verdict = None if supervisor is None else supervisor.verdict()
                counted = None if supervisor is None else usd(supervisor.tally.cost)
                return status_line(event, session, verdict, self._clock(), counted)
        except Exception as error:  # noqa: BLE001 - likewise
            self.note_fault(CLAUDE.name, error)
            return "ebbtide: ?"

    def confirm(self, ticket: Ticket, *, has_arrived: bool) -> None:
        """Notes that a note reached its agent, or that it did not: then it goes with the next answer."""
        session = self._store.session(ticket.run_id)
        with session.lock:
            is_theirs = ticket.agent == _DECISIONS
            delivery = session.decisions if is_theirs else session.delivery(ticket.agent)
            if has_arrived:
                delivery.arrived(ticket.number)
            else:
                delivery.failed()
            session.revision += 1

    def note_fault(self, agent: str, error: Exception) -> None:
        """Count what failed."""
        with self._lock:
            self.faults[agent] += 1
            self.last_fault = error_text(error)

    def status(self) -> dict[str, Any]:
        """Returns the status of the hooks: the last events, the runs at hand, and what failed."""
        return {
            "latest": self.latest,
            "runs": len(self.runs),
            "faults": {**self.faults, **self.runs.faults},
            "last_fault": self.last_fault or self.runs.last_fault,
        }

    def save_sessions(self) -> None:
        """Write what is remembered of the sessions; a fault is counted."""
        try:
            self._store.save_sessions()
        except StoreError as error:
            self.note_fault("sessions", error)

    def close(self) -> None:
        """Write what has changed, unless somebody else does so."""
        self._keeper.close()
        if self._has_own_runs:
            self.runs.close()
        self.save_sessions()

    def warm_up(self) -> None:
        """Load what the first event would wait for."""
        supervisor = Supervisor(prices=Prices())
        usage = Usage(model="claude-sonnet-4-5", input_tokens=1, output_tokens=1)
        for event in (
            Message(text="Look for it.", ts=0.0),
            ModelCall(usage=usage, ts=1.0),
            *(ToolCall(name="Bash", args={"command": "ls"}, result="a", ts=2.0 + n) for n in range(4)),
        ):
            supervisor.check_before_model()
            supervisor.record(event)
        Supervisor().load(supervisor.to_bytes())
        ReportCheck(is_late=False).note("All tests pass.")

    def _reply(self, hook: _Hook) -> HookReply:
        step, session, now = hook.step, hook.session, self._clock()
        with session.lock:
            session.latest = now
            session.revision += 1
            session.folder = session.folder or step.folder
            self.latest[hook.codec.name] = (now, hook.run_id)
            reply = self._watch(hook)
            if step.kind is StepKind.START:
                session.start(step.key, now, goes_on=step.goes_on)
            elif step.kind is StepKind.COMPACT:
                session.text_given = None
            if hook.log is None or session.is_off or step.agent != MAIN:
                return reply
            log = _log_of(session, hook.log)
            reading = self._read_decisions(hook, log)
            if not hook.shadow:
                self._hold_against_decisions(hook, log)
            is_silent = not hook.may_speak or reply != HookReply() or step.kind not in _READ_BY_MODEL
            return reply if is_silent else self._decisions(step, session, reading)

    def _read_decisions(self, hook: _Hook, log: str) -> SessionReading | None:
        """Returns the latest reading of decisions in the session file; begins one where something is new."""
        step, reader = hook.step, hook.codec.reader
        pause = _PAUSES.get(step.kind)
        reading = self._keeper.latest(hook.run_id)
        is_due = step.kind in (StepKind.COMPACT, StepKind.END) or hook.session.owes_decisions
        if pause is None or reader is None or step.transcript is None or not is_due:
            return reading
        if reading is None or step.kind in (StepKind.COMPACT, StepKind.START, StepKind.END):
            reading = SessionReading(
                run_id=hook.run_id, path=step.transcript, reader=reader, pause=pause, log=log
            )
            self._keeper.read(reading)
        return reading

    def _hold_against_decisions(self, hook: _Hook, log: str) -> None:
        """Names, for the model, a decision that an edit of this step contradicts: each once a session."""
        step, session = hook.step, hook.session
        rulings = self._keeper.rulings(hook.run_id)
        is_due = step.kind is StepKind.START or rulings is None
        if is_due and session.folder is not None:
            self._keeper.read_rulings(RulingsReading(run_id=hook.run_id, folder=session.folder, log=log))
        is_busy = session.owes_decisions or session.decisions.is_pending
        if step.kind is not StepKind.TOOLS or not rulings or is_busy:
            return
        for found in contradictions((item.call for item in step.calls), rulings):
            key = f"contradicts {found.decision.id}"
            if session.is_news(key):
                session.decisions.add_word(key, found.note, found.message)
                return

    def _decisions(self, step: HookStep, session: HookSession, reading: SessionReading | None) -> HookReply:
        """Returns what was decided, for a model whose context is new, as soon as it is read."""
        now = self._clock()
        wait_s = 0.0 if step.kind is StepKind.TOOLS else _READ_S
        if session.owes_decisions and reading is not None and reading.done.wait(wait_s):
            session.owes_decisions = False
            back = reading.result
            if back is not None and back.given and back.text != session.text_given:
                session.text_given = back.text
                session.decisions.add_word(f"{_DECISIONS} {now}", back.text, back.message)
        return replace(session.decisions.send(now), brings_decisions=True)

    def _watch(self, hook: _Hook) -> HookReply:
        step, session, run_id = hook.step, hook.session, hook.run_id
        batch = self._read_file(hook)
        if step.kind is StepKind.PROMPT:
            return self._prompt(hook)
        if step.kind is StepKind.FAILURE:
            for item in step.calls:
                session.add_failure(item.key)
        elif step.kind is StepKind.MODEL and not session.is_repeated(step.key):
            session.events += 1
            self.runs.record(run_id, ModelCall(usage=step.usage, chain_id=step.agent))
        elif step.kind is StepKind.TOOLS:
            session.batch_of(step.agent, ends=True)
            if self._record_calls(hook, batch) and not hook.is_late:
                turn = self.runs.before_model(run_id, agent=step.agent)
                if hook.may_speak:
                    return self._advice(hook, turn)
        elif step.kind is StepKind.SPAWN:
            self._record_starts(hook)
            if hook.may_speak:
                return self._word_for_person(hook)
        elif step.kind is StepKind.REPORT:
            if hook.may_speak:
                reply = self._word_for_person(hook)
                return reply if reply != HookReply() or step.is_again else self._correction(hook)
        elif step.kind is StepKind.END:
            self.runs.end(run_id)
        return HookReply()

    def _prompt(self, hook: _Hook) -> HookReply:
        """Take what a person says."""
        step, session = hook.step, hook.session
        if step.prompt is None or session.is_repeated(step.key):
            return HookReply()
        session.events += 1
        if step.switch is not None:
            session.is_off = step.switch is Switch.OFF
        if not step.is_switch_alone:
            session.begin_anew()
            self.runs.record(hook.run_id, Message(text=step.prompt, chain_id=MAIN))
        elif step.switch is Switch.ON:
            self.runs.acknowledge(hook.run_id)
        if step.switch is None or hook.shadow:
            return HookReply()
        message = _OFF if session.is_off else _ON
        return HookReply(message=message, drops_prompt=step.is_switch_alone)

    def _record_calls(self, hook: _Hook, batch: str | None) -> bool:
        """Records the calls of a step that were not there before; True if there are any."""
        step, session = hook.step, hook.session
        calls = [item for item in step.calls if not session.is_repeated(item.key)]
        for item in calls:
            session.events += 1
            call = item.call
            failed = call.error or session.take_failure(item.key)
            chain = call.chain_id or step.agent
            place = call.batch if step.is_batch else batch
            self.runs.record(hook.run_id, replace(call, error=failed, chain_id=chain, batch=place))
        return bool(calls)

    def _record_starts(self, hook: _Hook) -> None:
        """Take agents that are about to be started."""
        step, session = hook.step, hook.session
        for item in step.calls:
            if not session.is_repeated(item.key):
                session.events += 1
                batch = session.batch_of(step.agent)
                self.runs.record(hook.run_id, replace(item.call, chain_id=step.agent, batch=batch))

    def _word_for_person(self, hook: _Hook) -> HookReply:
        """Returns what the person hears of a loop that the model cannot mend: no call of a tool shows it."""
        verdict = self.runs.get(hook.run_id).verdict(hook.step.agent)
        return self._advice(hook, Advice(verdict)) if verdict.for_person else HookReply()

    def _advice(self, hook: _Hook, turn: Advice) -> HookReply:
        """Returns what is said before the next call of the model, or the end of the run."""
        delivery = hook.session.delivery(hook.step.agent)
        if turn.refusal is None:
            is_new = delivery.add(turn.note)
        else:
            by_person = turn.verdict.cause is Cause.PERSON
            if hook.codec.can_end and (by_person or (hook.stops and delivery.may_end)):
                standing = next((run for run in self.runs.standing() if run.run_id == hook.run_id), None)
                return HookReply(end=final_text(turn.verdict, standing))
            reason = f"{MARK}{turn.refusal}"
            word = f"{turn.verdict.kind} {turn.verdict.loop_id}"
            note = None if turn.verdict.for_person else f"{reason} {_ADVICE}"
            is_new = delivery.add_word(word, note, reason)
        if is_new:
            self._keep(hook.run_id)
        return delivery.send(self._clock())

    def _correction(self, hook: _Hook) -> HookReply:
        """Returns what the agent hears, once, of its last words before it ends its turn."""
        step, reader = hook.step, hook.codec.reader
        report = step.report
        if report is None and reader is not None and step.transcript is not None:
            report = last_report(step.transcript, reader)
        return HookReply(correction=self.runs.before_end(hook.run_id, report) if report else None)

    def _keep(self, run_id: str) -> None:
        """Writes a run and its pending note before it is sent: after a kill the next answer has it."""
        try:
            self.runs.save(run_id)
            self._store.save_session(run_id)
        except StoreError as error:
            self.note_fault("sessions", error)

    def _read_file(self, hook: _Hook) -> str | None:
        """Record what the session file states of tokens; the name of the latest answer of the model.

        None where the file records no answer, so that calls of one answer cannot be known from others.
        """
        step, session = hook.step, hook.session
        if step.agent != MAIN and step.kind is not StepKind.SIDE_END:
            return None  # the file is that of the main agent, which has its own events
        if hook.codec.reader is None or step.transcript is None:
            return None
        key = (hook.run_id, step.transcript)
        file = self._files.get(key)
        if file is None:
            from_start = step.is_new or step.kind is StepKind.SIDE_END
            place, calls, settled = session.files.get(step.transcript, (0 if from_start else None, 0, 0))
            with self._lock:
                counted = self._calls.get(hook.run_id)
                if counted is None:
                    counted = self._calls[hook.run_id] = SessionCalls()
            file = GrowingSession(
                step.transcript,
                hook.codec.reader,
                chain=step.agent,
                place=place,
                calls=calls,
                settled=settled,
                session=counted,
            )
            with self._lock:
                self._files[key] = file
        events: list[Event] = file.look()
        if step.kind in (StepKind.END, StepKind.SIDE_END):
            events += file.finish()
        elif step.kind is StepKind.REPORT:
            events += file.settle()
        session.files[step.transcript] = (file.place, file.calls, file.settled)
        for event in events:
            self.runs.record(hook.run_id, event)
        # A file may record an answer when the next one comes; one that never does says nothing.
        return f"answer {file.calls}" if file.calls or session.events < _FEW else None


def _object(body: bytes) -> dict[str, Any]:
    event = json.loads(body)
    if not isinstance(event, dict):
        raise TypeError(f"a hook event that is not an object: {body[:40]!r}")
    return event


def _log_of(session: HookSession, log: str) -> str:
    """Returns the place of a log; a relative path is one in the folder of the agent."""
    return log if "://" in log or session.folder is None else str(Path(session.folder) / log)


_EQUAL: Final = 1e-3  # of what is stated


def status_line(
    event: Mapping[str, Any],
    session: HookSession,
    verdict: Verdict | None,
    now: float,
    counted: float | None = None,
) -> str:
    """Money so far, dollars an hour, and the verdict.

    Args:
        event: What Claude Code hands over, with its own cost of the session.
        counted: Dollars of the calls in the session file, as the budgets and all other views have them; where
            they are not within 0.1 % of what Claude Code states, both are shown.
    """
    cost = fields.dollars(fields.mapping(event.get("cost")).get("total_cost_usd"))
    rate = session.burn_rate(now, cost)
    parts = ["ebbtide"]
    if cost is not None:
        parts.append(dollars(cost))
        if counted is not None and abs(counted - cost) > _EQUAL * cost and dollars(counted) != dollars(cost):
            parts.append(f"by Claude Code, {dollars(counted)} by its calls")
    elif counted is not None:
        parts.append(dollars(counted))
    if rate is not None:
        parts.append(f"{dollars(rate)}/h")
    return " ".join([*parts, _word(session, verdict)])


def _word(session: HookSession, verdict: Verdict | None) -> str:
    if session.is_off:
        return "off"
    if verdict is None:
        return "no event yet"
    return live_word(verdict.action, verdict.kind).value
