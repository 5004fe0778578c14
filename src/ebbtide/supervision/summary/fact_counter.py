"""Counts, call by call, what a summary says of a run beside its loops."""

from __future__ import annotations

import re
from collections import Counter
from operator import itemgetter
from typing import Final, TypeVar

from ebbtide.budget.bill.bill_recorder import CallReview
from ebbtide.divergence.loop_state import LoopState
from ebbtide.divergence.near_duplicates import argument_display
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, ModelCall, ModelPart, Notice, ToolCall
from ebbtide.events.identity import Key, identify
from ebbtide.events.outcome import CallOutcome, Ending
from ebbtide.supervision.summary.run_facts import (
    Coverage,
    FailedCalls,
    Lookups,
    NamedCount,
    NamedTime,
    RunFacts,
    Waiting,
)
from ebbtide.text.excerpt import one_line

_NAMES: Final = 512  # tools, messages and calls that are counted one by one
_AGENTS: Final = 4_096  # that are known to be in the record, or out of it
_LISTED: Final = 8
_SHOWN: Final = 80  # characters of a message or a call
_PAUSE_S: Final = 300.0
_WAITS: Final = (Effect.WAIT, Effect.POLL)
_LOOKS: Final = (Effect.READ, Effect.CLOCK, *_WAITS)
_CODE: Final = re.compile(
    r"\W*(?:exit(?:ed with)? code|<argument>)\W*-?\d+\W*", re.IGNORECASE
)  # which says no reason
_OPAQUE: Final = re.compile(r"<[\w.<>]+ (?:object|instance) at 0x[0-9a-fA-F]+>")
_Name = TypeVar("_Name", str, Key)


class FactCounter:
    """The facts of one run so far, in bounded memory."""

    def __init__(self) -> None:
        self._without_arguments = self._without_answer = self._opaque_answers = self._without_text = 0
        self._failed = self._refused = self._cancelled = self._missed = 0
        self._missed_seconds: float | None = None
        self._failures: Counter[str] = Counter()  # by tool
        self._messages: Counter[str] = Counter()  # by template
        self._examples: dict[str, str] = {}
        self._stated: dict[str, int] = {}  # calls of agents that were started, by chain
        self._acting: set[str] = set()  # chains of agents with calls
        self._lookups = self._deeds = 0
        self._looks: Counter[Key] = Counter()
        self._titles: dict[Key, str] = {}
        self._waits: dict[str, float] = {}
        self._pauses = 0
        self._pause_seconds = 0.0
        self._latest_ts: float | None = None

    def see(self, event: Event, loops: LoopState, review: CallReview | None) -> None:
        """Take the latest event.

        Args:
            loops: Its chain, which has taken it.
            review: What is known of it, where it is a call.
        """
        if isinstance(event, ToolCall):
            self._call(event, loops, review)
        elif isinstance(event, Notice | ModelCall) and event.error:
            self._miss(event)
        elif isinstance(event, ModelCall) and event.text is None and event.part is ModelPart.WHOLE:
            self._without_text += 1
        ts = event.ts
        if ts is not None and loops.ts == ts:  # a time that can be
            latest = self._latest_ts
            if latest is None or ts > latest:
                self._latest_ts = ts
                if latest is not None:
                    self._wait(ts - latest, event, loops)

    def _miss(self, event: Notice | ModelCall) -> None:
        """Count a call of the model that did not get through, and the time before it."""
        self._missed += 1
        since = self._latest_ts
        if event.ts is not None and since is not None:
            self._missed_seconds = (self._missed_seconds or 0.0) + max(0.0, event.ts - since)

    def _call(self, call: ToolCall, loops: LoopState, review: CallReview | None) -> None:
        result, outcome = call.result, loops.outcome
        if call.args is None:
            self._without_arguments += 1
        if call.starts is not None and call.started_calls and len(self._stated) < _AGENTS:
            self._stated[call.starts] = call.started_calls
        if call.chain_id and len(self._acting) < _AGENTS:
            self._acting.add(call.chain_id)
        if result is None:
            if not call.error:
                self._without_answer += 1
        elif (type(result) is not str or result[:1] == "<") and _is_opaque(result):
            self._opaque_answers += 1
        if review is not None and review.was_cancelled:
            self._cancelled += 1
        elif review is not None and review.has_failed:
            self._refused += review.was_refused
            self._fail(call, outcome)
        elif loops.same_since > loops.repetition.answers.latest_change and loops.effect is Effect.READ:
            self._look(call)
        elif loops.effect not in _LOOKS and not call.error:
            self._deeds += 1

    def _fail(self, call: ToolCall, outcome: CallOutcome | None) -> None:
        self._failed += 1
        _count(self._failures, call.name)
        if outcome is None or outcome.ending is not Ending.FAILED or not outcome.lines:
            return
        template, line = outcome.lines[0]
        if not _CODE.fullmatch(line):
            _count(self._messages, template)
            if template in self._messages and template not in self._examples:
                self._examples[template] = one_line(line, _SHOWN)

    def _look(self, call: ToolCall) -> None:
        self._lookups += 1
        identity = identify(call.name, call.args)
        if identity is None:
            return
        key = identity[0]
        _count(self._looks, key)
        if key in self._looks and key not in self._titles:
            self._titles[key] = one_line(f"{call.name} {argument_display(call.args)}", _SHOWN)

    def _wait(self, seconds: float, event: Event, loops: LoopState) -> None:
        is_call = isinstance(event, ToolCall)
        if seconds > _PAUSE_S and not (is_call and loops.effect in _WAITS):
            self._pauses += 1
            self._pause_seconds += seconds
        elif isinstance(event, ToolCall) and (event.name in self._waits or len(self._waits) < _NAMES):
            self._waits[event.name] = self._waits.get(event.name, 0.0) + seconds

    def facts(self, *, tool_calls: int, model_calls: int, advice: str) -> RunFacts:
        """The facts so far.

        Args:
            tool_calls: Calls of tools in the run.
            advice: What to switch on, so that more is recorded.
        """
        message, message_count = next(iter(self._messages.most_common(1)), (None, 0))
        waits = sorted(self._waits.items(), key=itemgetter(1), reverse=True)
        return RunFacts(
            coverage=Coverage(
                tool_calls=tool_calls,
                without_arguments=self._without_arguments,
                without_answer=self._without_answer,
                opaque_answers=self._opaque_answers,
                model_calls=model_calls,
                without_text=self._without_text,
                unrecorded=tuple(
                    NamedCount(chain, calls)
                    for chain, calls in self._stated.items()
                    if chain not in self._acting
                ),
                advice=advice,
            ),
            failures=FailedCalls(
                calls=self._failed,
                by_tool=tuple(NamedCount(*item) for item in self._failures.most_common()),
                message=None if message is None else self._examples[message],
                message_count=message_count,
                refused=self._refused,
                cancelled=self._cancelled,
                model_errors=self._missed,
                model_error_seconds=self._missed_seconds,
            ),
            lookups=Lookups(
                calls=self._lookups,
                by_call=tuple(
                    NamedCount(self._titles[key], n) for key, n in self._looks.most_common(_LISTED)
                ),
            ),
            waiting=Waiting(
                seconds=sum(seconds for _, seconds in waits),
                by_tool=tuple(NamedTime(*item) for item in waits[:_LISTED]),
                pauses=self._pauses,
                pause_seconds=self._pause_seconds,
            ),
            deeds=self._deeds,
        )


def _count(counts: Counter[_Name], name: _Name) -> None:
    """Count one more of a name, unless there are too many names."""
    if name in counts or len(counts) < _NAMES:
        counts[name] += 1


def _is_opaque(result: object) -> bool:
    """True if an answer is an object of which only the address is known."""
    if isinstance(result, str):
        return _OPAQUE.fullmatch(result.strip()) is not None
    return type(result).__repr__ is object.__repr__
