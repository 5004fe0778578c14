"""An event as the detectors see it: what they ask of it is worked out once, and only if one asks."""

from __future__ import annotations

import re
from typing import Any, Self

from ebbtide.divergence.agent_tree import AgentStart
from ebbtide.divergence.near_duplicates import argument_text, words_of
from ebbtide.divergence.progress import CallMemory
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, ToolCall
from ebbtide.events.identity import Answer, Key, identify, identify_answer, settled, without_notes
from ebbtide.events.outcome import NOTHING, CallOutcome, Ending
from ebbtide.events.pace import pause_s
from ebbtide.events.tool_policy import ToolPolicy

_TEXT = 1_000  # characters of an answer, and of its arguments, that are read word by word
_STORM_S = 1.0  # a service that is down is hammered when it is asked again sooner
_DOWN = re.compile(r"\b(?:429|500|502|503|504|529)\b")
_DOWN_READ = 200  # characters of an answer in which a status is looked for
#: Commands that look at what lies on the disk.
_LOCAL = frozenset(
    "cat head tail less more bat nl ls tree find fd grep rg ag sed awk wc stat file diff du".split()
)
#: Arguments that name a place on the disk, or what is searched for.
_PLACES = frozenset(
    "file file_path filePath filename path paths dir directory pattern glob query regex".split()
)
_DEEDS = (Effect.CHANGE, Effect.ACKNOWLEDGE)

Command = tuple[ToolPolicy, object]  #: what is declared about a shell, and the arguments of a call of it


def says_outage(status: int | None, answer: object) -> bool:
    """True if an answer says that a service is down or asks to slow down: 429 or 5xx."""
    if status is not None:
        return status == 429 or 500 <= status <= 599
    return (
        isinstance(answer, str) and len(answer) <= 10 * _DOWN_READ and bool(_DOWN.search(answer[:_DOWN_READ]))
    )


def looks_at_rest(moment: Moment) -> bool:
    """Returns True if a call looks at what changes only where somebody changes it: files, or their lines."""
    if moment.is_command:
        return moment.whole_effect is Effect.READ and moment.head.split(" ", 1)[0] in _LOCAL
    args = moment.args
    return moment.effect is Effect.READ and isinstance(args, dict) and not _PLACES.isdisjoint(args)


class Moment:
    """One event of a chain, and where it stands among those before it.

    Of any event there are `event`, `number`, `ts` and `gap_s`. The rest is of a call of a tool that has ended
    and can be read: what it was, what came of it, and what the chain knows of it from the calls before.

    Attributes:
        event: The event.
        number: Its number in the chain.
        ts: Time of the chain, in seconds; None where none is known.
        gap_s: Seconds since the event before; None where they are not known.
        policy: What is declared about the tool.
        name: The tool, or the group that it shares.
        args: The arguments that make the call what it is.
        result: The answer, without what is declared to say nothing.
        is_flagged: Whether a flag, or what is declared about the tool, says that it failed.
        has_failed: The same, or its text says so.
        effect: What it does, as far as it is known without reading a command; see `read_effect`.
        command: The command that was not read yet.
        key: Key of the call.
        size: Bytes of text in its arguments.
        has_numbers: Whether there are whole numbers among flat arguments.
        answer: Key of the answer; one that differs in noise alone from the one before has the key of that.
        text: The answer as a text; None where it is not known.
        outcome: What the answer says of how the call ended.
        now: Place among the counted calls.
        before: Place at which the call came before; 0 where it came for the first time.
        same_since: The same, where it gave the same answer; else 0.
        memory: What is known about the call; None where it came for the first time.
        times: Times that it had given this answer, this one included; 0 where it came for the first time.
        period: Calls in one turn of the cycle that the stream of calls ends in; None where it ends in none.
        start: What is known of the agent that it starts; None where it starts none.
        is_look: Whether it looks at something that takes its time.
        has_rested: Whether time passed before the look, by itself or by a call that waits.
        is_progress: Whether its answer says that less is to do, or more is done, than any before.
        has_news: Whether the answer held something that was not known.
        has_found: Whether something was found that had been looked for.
    """

    __slots__ = (
        "_arguments",
        "_is_outage",
        "_words",
        "answer",
        "args",
        "before",
        "command",
        "effect",
        "event",
        "gap_s",
        "has_failed",
        "has_found",
        "has_news",
        "has_numbers",
        "has_rested",
        "is_flagged",
        "is_look",
        "is_progress",
        "key",
        "memory",
        "name",
        "now",
        "number",
        "outcome",
        "period",
        "policy",
        "result",
        "same_since",
        "size",
        "start",
        "text",
        "times",
        "ts",
    )

    name: str
    now: int
    args: object
    result: object
    key: Key
    answer: Answer
    memory: CallMemory | None
    policy: ToolPolicy | None
    effect: Effect | None
    command: Command | None
    outcome: CallOutcome | None
    text: str | None
    period: int | None
    _arguments: str | None
    _words: frozenset[int] | None
    _is_outage: bool | None

    def __init__(
        self, event: Event, number: int, ts: float | None = None, gap_s: float | None = None
    ) -> None:
        self.event = event
        self.number = number
        self.ts = ts
        self.gap_s = gap_s
        self.start: AgentStart | None = None

    def begin(self, call: ToolCall, policy: ToolPolicy | None) -> None:
        """Take a call that has ended as one, before anything of it is read."""
        self.name, self.args, self.policy = call.name, call.args, policy
        self.effect = self.command = self.outcome = self.text = self.memory = self.period = None
        self._arguments = self._words = self._is_outage = None
        self.before = self.same_since = self.times = 0
        self.is_look = self.has_rested = self.is_progress = self.has_news = self.has_found = False
        if policy is None:
            return
        args = self.args
        if policy.is_command(args) and not policy.may_wait(args):
            self.command = (policy, args)
        else:
            self.effect = policy.effect_of(args)

    def identify(self, call: ToolCall, *, settle: bool) -> bool:
        """Find out what the call and its answer are known by; False where one of them cannot be read."""
        policy, result, failed = self.policy, without_notes(call.result), call.error
        if policy is not None:
            failed = failed or policy.failed(result)
            result = policy.answer(result)
        identity = identify(self.name, self.args, settle=settle)
        answer = identify_answer(result, settle=settle)
        if identity is None or answer is None:
            return False
        self.key, self.size, self.has_numbers = identity
        self.answer, self.result = answer, result
        self.is_flagged = self.has_failed = failed
        return True

    @property
    def arguments(self) -> str:
        """The values of the arguments as a text, cut."""
        text = self._arguments
        if text is None:
            text = self._arguments = argument_text(self.args)[:_TEXT]
        return text

    @property
    def pause_s(self) -> float:
        """Seconds for which the call rests by itself, before its look or after it, as it says."""
        event = self.event
        return pause_s(argument_text(event.args)[:_TEXT]) if isinstance(event, ToolCall) else 0.0

    @property
    def words(self) -> frozenset[int]:
        """The words of the arguments, as numbers."""
        words = self._words
        if words is None:
            words = self._words = words_of(self.args)
        return words

    @property
    def head(self) -> str:
        """Name that a person would give the call: its tool, and in a shell the command."""
        return self.name if self.policy is None else self.policy.head(self.name, self.args)

    @property
    def is_command(self) -> bool:
        """True if it gives a command to a shell."""
        return self.policy is not None and self.policy.is_command(self.args)

    @property
    def is_deed(self) -> bool:
        """True if it is known to change something."""
        return self.effect in _DEEDS

    @property
    def is_certain_look(self) -> bool:
        """True if it is certain that it changed nothing: it looks, or it failed."""
        return self.has_failed or self.effect is Effect.READ

    @property
    def is_outage(self) -> bool:
        """True if a service is down, and is asked with a pause: some retries are right."""
        is_outage = self._is_outage
        if is_outage is None:
            is_outage = self._is_outage = self._finds_outage()
        return is_outage

    def _finds_outage(self) -> bool:
        call = self.event
        if not isinstance(call, ToolCall) or (self.gap_s is not None and self.gap_s < _STORM_S):
            return False
        outcome = self.outcome
        return (outcome is not None and outcome.is_down) or says_outage(call.status, call.result)

    def read_effect(self) -> Effect | None:
        """Returns the effect of the call, and reads its command where that is needed."""
        if self.command is not None:
            policy, args = self.command
            self.command = None
            self.effect = policy.effect_of(args)
        return self.effect

    @property
    def whole_effect(self) -> Effect | None:
        """The same as `read_effect`, and nothing is kept of it."""
        if self.command is None:
            return self.effect
        policy, args = self.command
        return policy.effect_of(args)

    @property
    def is_empty(self) -> bool:
        """True if it looked for something and there is nothing."""
        return self.outcome is not None and self.outcome.ending is Ending.EMPTY

    @property
    def beginning(self) -> str:
        """The beginning of the answer; empty where it is not known."""
        text = self.text
        return "" if text is None else text if len(text) <= _TEXT else text[:_TEXT]

    def condense(self) -> None:
        """Let go of the event and of all but the beginning of its answer: detectors keep calls of late."""
        del self.event, self.result
        text = self.text
        if text is not None and len(text) > _TEXT:
            self.text = text[:_TEXT]

    def to_state(self) -> list[Any]:
        """A call that a detector keeps, as plain data."""
        key, effect = settled(self.key).hex(), self.whole_effect
        ending = [self.is_empty, self.has_failed]
        return [
            self.name,
            key,
            self.arguments,
            self.beginning,
            effect,
            *ending,
            self.times,
            self.now,
            self.number,
        ]

    @classmethod
    def restored(cls, state: list[Any]) -> Self:
        """The call that `to_state` described; its arguments are known as a text."""
        name, key, arguments, text, effect, is_empty, has_failed, times, now, number = state
        moment = cls.__new__(cls)
        moment.name, moment.key, moment.args, moment.text = name, bytes.fromhex(key), arguments, text
        moment.effect = None if effect is None else Effect(effect)
        moment.outcome = NOTHING if is_empty else None
        moment.has_failed, moment.times, moment.now, moment.number = has_failed, times, now, number
        moment.policy = moment.command = moment._arguments = None  # noqa: SLF001
        return moment
