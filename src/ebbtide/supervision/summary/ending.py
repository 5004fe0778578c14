"""Ending of a run, by its last words and its last act: the first half of its headline.

It is what the run says of itself. A run that says that it is finished may be wrong.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, TypeGuard

from ebbtide.events.event import (
    Event,
    Message,
    ModelCall,
    ModelPart,
    Notice,
    NoticeKind,
    Role,
    Stop,
    ToolCall,
)
from ebbtide.events.identity import MARK
from ebbtide.events.run_outcome import SETBACKS, RunOutcome
from ebbtide.events.stated_actions import stated_action
from ebbtide.events.tool_policy import ToolPolicies
from ebbtide.events.transcript import Round
from ebbtide.text.excerpt import one_line
from ebbtide.text.sentence_ends import spans

_TAIL: Final = 12  # events of a chain that may say how it ended
_CHAINS: Final = 512
_SPOKEN: Final = (ModelPart.WHOLE, ModelPart.EMBEDDING)
#: How an item of a list begins, a row of a table, or an offer.
_NO_RESULT: Final = re.compile(r"[-*+\u2022] |\||\d{1,3}[.)] |(?:If|Let me know|Feel free|Happy to)\b")
_SPEAKERS: Final = 2  # from which a chain is a talk of several, whose last words may be anybody's
_SHOWN: Final = 160
NO_ANSWER: Final = "the last call got no answer"  #: what the end of a run says of its last call
_SUMMARY: Final = ("<analysis>", "<summary>")  # how the answer to a prompt for a compaction begins
_HOOK: Final = re.compile(r"\w{2,30} hook: ")  # how the words of a hook against a call begin
#: Messages that ask an agent nothing: commands to the harness, and notes of our own.
_COMMANDS: Final = ("<command-name>", "<local-command", "/exit", "/quit", "/clear", MARK)


class EndKind(StrEnum):
    """Kind of ending of a run, as its last words and its last act say."""

    FINISHED = "finished"  #: somebody says that the work is done, or an answer was given
    HANDED_BACK = "handed back"  #: a person is asked, or takes over
    CUT_OFF = "cut off"  #: it stops in the middle of work, or a person stopped it
    BLOCKED = "blocked"  #: it waits for something that nobody in the run can do
    FAILED = "failed"  #: it was not done, and somebody says so
    LIMIT = "limit"  #: a limit ended it
    UNKNOWN = "unknown"  #: what was said last was not recorded


_BY_OUTCOME: Final = {
    RunOutcome.FINISHED: EndKind.FINISHED,
    RunOutcome.FAILED: EndKind.FAILED,
    RunOutcome.BLOCKED: EndKind.BLOCKED,
    RunOutcome.HANDED_BACK: EndKind.HANDED_BACK,
    RunOutcome.LIMIT: EndKind.LIMIT,
    RunOutcome.GOING_ON: EndKind.CUT_OFF,
    RunOutcome.INTERRUPTED: EndKind.CUT_OFF,
}


def ending_of(outcome: RunOutcome) -> EndKind:
    """Returns the ending of a run whose work came out like that."""
    return _BY_OUTCOME[outcome]


_SETBACKS: Final = tuple(map(ending_of, SETBACKS))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnding:
    """Ending of a run, and what says so.

    Args:
        rule: What says so: a rule of `ebbtide.convergence.outcome_rules`, or ``answer``, ``tool``, ``call``,
            ``stated`` (an action in prose), ``unanswered``, ``notice``, ``error`` (a model call failed),
            ``length`` (its output was cut), ``stopped`` (a turn ended without recorded words),
            ``summary`` (of a compaction), ``empty``.
        text: The words, cut; empty where there are none.
        event: Number of the event in the run; None where nothing says anything.
        by_person: Whether a person says so.
        attempts: Number of calls of the model in a row that failed at its end; 0 where the last one did not.
        attempts_s: Seconds from the first of them to the last; None where they have no time.
    """

    ending: EndKind = EndKind.UNKNOWN
    rule: str = ""
    text: str = ""
    event: int | None = None
    by_person: bool = False
    attempts: int = 0
    attempts_s: float | None = None


@dataclass(slots=True)
class _Failures:
    """Calls of a model that failed, one after the other."""

    first_ts: float | None
    latest_ts: float | None
    number: int = 1


class EndingReader:
    """Keeps the last events of each chain of a run, and reads at its end what they say.

    Args:
        tools: What is declared about tools: some of them end a run.
    """

    def __init__(self, tools: ToolPolicies) -> None:
        self._tools = tools
        self._tails: dict[str, deque[tuple[int, Event]]] = {}
        self._speakers: dict[str, set[str]] = {}
        self._latest_ts: dict[str, float] = {}
        self._unanswered: dict[str, ToolCall] = {}  # by chain, the latest call that got no answer
        self._failures: dict[str, _Failures] = {}  # by chain, in a row up to now
        self._latest_chain = ""
        self._has_words = False
        self._has_rounds = False

    def see(self, event: Event, number: int) -> None:
        """Take the event of that number."""
        if not _may_end(event):
            return
        if not isinstance(event, ToolCall) and event.text:
            self._has_words = True
        name = event.chain_id
        tail = self._tails.get(name)
        if tail is None:
            if len(self._tails) >= _CHAINS:
                return
            tail = self._tails[name] = deque(maxlen=_TAIL)
            self._speakers[name] = set()
        ts, latest_ts = event.ts, self._latest_ts.get(name)
        if latest_ts is not None and (ts is None or ts < latest_ts) and _is_unanswered(event):
            self._unanswered[name] = event  # readers give it out at the end, wherever it was made
            return
        if ts is not None:
            self._latest_ts[name] = ts
        self._latest_chain = name
        if isinstance(event, ModelCall) and event.agent and len(self._speakers[name]) < _SPEAKERS:
            self._speakers[name].add(event.agent)
        self._count_failure(event)
        tail.append((number, event))

    def _count_failure(self, event: ToolCall | ModelCall | Message | Notice) -> None:
        if not isinstance(event, ModelCall | Notice) or not event.error:
            self._failures.pop(event.chain_id, None)
        elif (failures := self._failures.get(event.chain_id)) is None:
            self._failures[event.chain_id] = _Failures(event.ts, event.ts)
        else:
            failures.number += 1
            failures.latest_ts = event.ts

    def hear(self, item: Round, number: int) -> None:
        """Take a round that stands for no event, after the event of that number."""
        text = item.summary if item.text is None else item.text
        if text:
            turn = Message if item.is_by_person else ModelCall
            self._has_rounds = True
            self.see(turn(text=text, agent=item.agent), number)

    def read(self) -> RunEnding:
        """Returns the ending of the run, up to the latest event."""
        ending = self._read()
        failures = self._failures.get("" if "" in self._tails else self._latest_chain)
        if failures is None or ending.ending not in (EndKind.FAILED, EndKind.LIMIT):
            return ending
        first, latest = failures.first_ts, failures.latest_ts
        taken = None if first is None or latest is None else latest - first
        return replace(ending, attempts=failures.number, attempts_s=taken)

    def _read(self) -> RunEnding:
        chain = "" if "" in self._tails else self._latest_chain
        tail = self._tails.get(chain)
        if not tail:
            return RunEnding()
        number, latest = tail[-1]
        if not self._has_words:
            # Where calls are all that was recorded, the last of them is not the last thing that happened.
            ending = self._act(latest, number) if isinstance(latest, ToolCall) else RunEnding()
            return RunEnding() if ending.rule == "call" else ending
        waiting = self._unanswered.get(chain)
        if waiting is not None and _waits(waiting, tail):
            return self._act(waiting, number)
        # A transcript may be of anything: its last words answer somebody only where a person takes part.
        is_asked = any(isinstance(event, Message) for _, event in tail)
        several = len(self._speakers[chain]) >= _SPEAKERS or (self._has_rounds and not is_asked)
        from ebbtide.convergence.outcome_rules import SIGNALS

        signal: RunEnding | None = None
        for reading in self._readings(tail, several=several):
            if reading.rule not in SIGNALS:
                # "TERMINATE" says that it ended; the words before it say how.
                return reading if signal is None or reading.ending in _SETBACKS else signal
            signal = signal or reading
        return signal or RunEnding()

    def _readings(self, tail: deque[tuple[int, Event]], *, several: bool) -> Iterator[RunEnding]:
        """Yields the ending that each of the last events reports, the latest first."""
        thanks: RunEnding | None = None
        for number, event in reversed(tail):
            if isinstance(event, ToolCall):
                if _is_unanswered(event) and _ends_before(number, tail):
                    continue  # it was made in an earlier turn
                yield thanks or self._act(event, number)
            elif isinstance(event, ModelCall):
                if (
                    event.text == ""
                    and event.stop is not Stop.END
                    and not event.error
                    and number != tail[-1][0]
                ):
                    continue  # it called a tool, or thought
                reading = _words(event, number, several=several)
                # Whoever thanks for a failure, or leaves before a question is answered, got nothing.
                leaves = thanks is not None and thanks.rule == "finished.person-ends"
                open_ends = (EndKind.FAILED, EndKind.HANDED_BACK) if leaves else (EndKind.FAILED,)
                if thanks is not None and reading.ending not in open_ends:
                    reading = thanks
                yield reading
            elif isinstance(event, Message):
                reading = _person(event, number)
                if reading.ending is not EndKind.FINISHED:
                    yield thanks or reading
                thanks = thanks or reading
            elif isinstance(event, Notice) and (report := _notice(event, number)) is not None:
                yield thanks or report
        if thanks is not None:
            yield thanks

    def _act(self, call: ToolCall, number: int) -> RunEnding:
        policy = self._tools.get(call.name)
        outcome = None if policy is None else policy.outcome_of(call.args)
        if outcome is None or call.error:
            text = NO_ANSWER if call.result is None and not call.error else ""
            return RunEnding(ending=EndKind.CUT_OFF, rule="call", text=text or call.name, event=number)
        return RunEnding(ending=ending_of(outcome), rule="tool", text=call.name, event=number)


def _may_end(event: Event) -> TypeGuard[ToolCall | ModelCall | Message | Notice]:
    """True if an event may be the last word: somebody speaks or acts, or the harness reports an end."""
    if isinstance(event, ToolCall):
        return True
    if isinstance(event, ModelCall):
        return event.part in _SPOKEN
    if isinstance(event, Message):
        text = event.text
        return event.role is Role.USER and bool(text) and not (text or "").lstrip().startswith(_COMMANDS)
    return isinstance(event, Notice) and (event.error or event.kind in (NoticeKind.ERROR, NoticeKind.OTHER))


def _waits(call: ToolCall, tail: deque[tuple[int, Event]]) -> bool:
    """Returns True if a run ends at a call without an answer, which its last model call asked for."""
    for _, event in reversed(tail):
        if isinstance(event, ToolCall):
            if event.batch is None or event.batch != call.batch:
                return False
        elif isinstance(event, ModelCall):
            return event.stop is Stop.CALLS or (event.text == "" and event.stop is None and not event.error)
        elif not isinstance(event, Notice):
            return False
    return False


def _ends_before(number: int, tail: deque[tuple[int, Event]]) -> bool:
    """Returns True if the turn is over that is the latest before the event of that number."""
    before = (event for place, event in reversed(tail) if place < number and isinstance(event, ModelCall))
    return (latest := next(before, None)) is not None and latest.stop is Stop.END


def _is_unanswered(event: Event) -> TypeGuard[ToolCall]:
    return isinstance(event, ToolCall) and event.result is None and not event.error


def _words(call: ModelCall, number: int, *, several: bool) -> RunEnding:
    text = call.text
    if call.error:
        said = _report("harness", text or "", number)
        if said is not None and said.ending is EndKind.LIMIT:
            return said
        return RunEnding(ending=EndKind.FAILED, rule="error", text=one_line(text or "", _SHOWN), event=number)
    if call.stop is Stop.LENGTH:
        return RunEnding(ending=EndKind.LIMIT, rule="length", text=_last_line(text or ""), event=number)
    is_over = call.stop is Stop.END
    if not text and is_over:
        return RunEnding(ending=EndKind.FINISHED, rule="stopped", event=number)
    if text is None:
        return RunEnding(event=number)
    if not text.strip():
        return RunEnding(ending=EndKind.CUT_OFF, rule="empty", event=number)
    if text.lstrip().startswith(_SUMMARY) and text.rstrip().endswith("</summary>"):
        # An agent that condenses the work of another one is done with that; what it quotes is not its end.
        return RunEnding(ending=EndKind.FINISHED, rule="summary", event=number)
    reading = _report("model", text, number)
    if reading is not None and not (is_over and reading.ending is EndKind.CUT_OFF):
        if several and reading.ending is EndKind.HANDED_BACK and reading.rule != "handed_back.human":
            return replace(reading, ending=EndKind.CUT_OFF)  # one agent asks another, who did not answer
        return reading
    if stated_action(text) is not None and not is_over:
        return RunEnding(ending=EndKind.CUT_OFF, rule="stated", text=one_line(text, _SHOWN), event=number)
    # Among several, the last words may be anybody's, and answer nobody.
    ending = EndKind.UNKNOWN if several else EndKind.FINISHED
    return RunEnding(ending=ending, rule="answer", text=_last_line(text), event=number)


def _person(message: Message, number: int) -> RunEnding:
    text = message.text or ""
    reading = _report("person", text, number) or RunEnding(
        ending=EndKind.CUT_OFF, rule="unanswered", text=one_line(text, _SHOWN), event=number
    )
    return replace(reading, by_person=True)


def _notice(notice: Notice, number: int) -> RunEnding | None:
    text = notice.text or ""
    if notice.kind is NoticeKind.NOTE and _HOOK.match(text):
        return None  # it answers a call, and ends nothing
    reading = _report("harness", text, number)
    if not notice.error or (reading is not None and reading.ending is not EndKind.FAILED):
        return reading
    return RunEnding(ending=EndKind.FAILED, rule="notice", text=one_line(text, _SHOWN), event=number)


def _report(speaker: str, text: str, number: int) -> RunEnding | None:
    """Returns the ending that a text reports; None where it reports none.

    `speaker` is the value of a `Speaker`.
    """
    from ebbtide.convergence.outcomes import read_outcome  # the engines of text take long to load
    from ebbtide.text.extraction.turn import Speaker

    reading = read_outcome(text, Speaker(speaker))
    if reading is None:
        return None
    return RunEnding(ending=ending_of(reading.outcome), rule=reading.rule, text=reading.text, event=number)


def _last_line(text: str) -> str:
    """The end of an answer, which mostly holds its result; its beginning where a list or an offer ends it."""
    lines = [line for line in map(str.strip, text[-4 * _SHOWN :].splitlines()) if line]
    if not lines:
        return ""
    first = next((line for line in map(str.strip, text.splitlines()) if line and line[0] not in "#|"), "")
    if _NO_RESULT.match(lines[-1]) and not _NO_RESULT.match(first):
        return one_line(first, _SHOWN)
    line = lines[-1]
    if len(line) <= _SHOWN or len(lines) == 1:
        return one_line(line, _SHOWN)
    ends = [line[start:].strip() for start, _ in spans(line, 0, len(line))]
    end = next((end for end in ends if len(end) <= _SHOWN), "")
    return one_line(end if end and not _NO_RESULT.match(end) else first, _SHOWN)
