"""Repetition within one chain: cycles, calls that come again among others, and windows without variety."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, cast

from ebbtide.divergence.detectors.cycles import CycleDetector
from ebbtide.divergence.detectors.progress import Answers, CallMemory, entropy_bits
from ebbtide.divergence.loop_registry import CARRIED_ON, Finding, LoopRegistry
from ebbtide.divergence.signals import LoopKind, Measurement, Unit
from ebbtide.engine_state import pack_keys, pack_numbers, unpack_keys, unpack_numbers
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import UNKNOWN, Answer, Key, key_of, settled, settled_answer
from ebbtide.events.tool_policy import ToolPolicy
from ebbtide.profile.divergence import LoopRules

_Symbol = tuple[Key, Answer]
Patience = Callable[[ToolCall | None], int]

_IDLE = key_of(LoopKind.NO_PROGRESS)
_MONOTONY = key_of(LoopKind.MONOTONY)
_NEVER = 1 << 62
_LOOSE = 32  # calls whose answers differ in names alone that are known
_KNOWN = 128  # calls whose answers are remembered at least
_MEMBERS = 64  # calls of an idle stretch that are distinguished
_NAME = 32  # characters of a name that are kept in a state


class Repetition:
    """The calls of one chain with their answers, as a stream and as a bounded memory.

    Args:
        rules: The thresholds.
        registry: The loops of the chain.
        patience: Tells how many times it takes at least, by the latest call; asked only where it matters.
    """

    __slots__ = (
        "_idle",
        "_idle_calls",
        "_idle_last",
        "_patience",
        "_registry",
        "_rules",
        "answers",
        "calls",
        "cycles",
        "event",
        "going_on",
        "loose",
        "names",
        "steps",
        "uniform",
    )

    def __init__(self, rules: LoopRules, registry: LoopRegistry, patience: Patience) -> None:
        self._rules = rules
        self._registry = registry
        self._patience = patience
        self.cycles = CycleDetector(rules.max_period, rules.copies)
        # Whatever the stream of calls holds is known, so that a call that is not known is new to the stream.
        self.answers = Answers(max(_KNOWN, rules.max_period))
        self.calls = 0  # places so far
        self.event = 0  # number of the latest call's event
        # From the event of the call before to that of each call: mostly 1, so that they take hardly any room.
        self.steps: deque[int] = deque(maxlen=rules.copies * rules.max_period)
        self.names: deque[str] = deque(maxlen=rules.max_period)
        self.going_on: Finding | None = None  # the cycle that the stream ends in
        self.loose: set[Key] = set()  # calls whose answers were the same but for generated names
        self.uniform = False  # whether the last window that was measured hardly varied
        self._idle = 0  # highest count in the stretch of idle calls that goes on
        self._idle_last = 0  # place of its latest call
        self._idle_calls: set[Key] = set()

    def loosen(self, key: Key) -> None:
        """Note that the answers of a call are taken for the same although names in them differ."""
        if len(self.loose) >= _LOOSE:
            self.loose.clear()
        self.loose.add(settled(key))

    def count(self, name: str, event: int) -> int:
        """Give a call its place."""
        self.calls += 1
        self.names.append(name)
        self.steps.append(event - self.event)
        self.event = event
        return self.calls

    def event_of(self, back: int) -> int:
        """Number of the event of the `back`th call from the end, or of the oldest that is known."""
        return self.event - sum(islice(reversed(self.steps), min(back, len(self.steps)) - 1))

    def forget_stream(self) -> None:
        """Begin a new stream; the memory of answers stays."""
        self.cycles.reset()
        self.going_on = None

    def pause(self) -> None:
        """Begin afresh: what comes now is a new look at things."""
        self.answers.start = self.calls + 1
        self.forget_stream()

    def cycle(
        self,
        period: int | None,
        policy: ToolPolicy | None,
        call: ToolCall | None,
        *,
        is_change: bool = False,
        is_look: bool = True,
    ) -> Finding | None:
        """The cycle that the stream ends in, if its turns are enough.

        Args:
            period: What the detector says.
            policy: What is declared about the tool of the latest call.
            call: The latest call.
            is_change: Whether the latest call changed something, as it is declared and says.
            is_look: Whether it is certain that it changed nothing: it looks, or it failed.
        """
        finding = self.going_on
        if period is None:
            self.going_on = None
            return None
        run = self.cycles.run(period)
        copies = run // period
        if finding is not None and finding.period == period:
            if self._registry.carry(finding.key, copies, self.calls, self.event):
                return CARRIED_ON
            finding.count, finding.calls, finding.begins = copies, run, False
            return finding
        self.going_on = None
        own = policy.repeats_at_least if policy and period == 1 else None
        least = max(own or self._rules.copies, self._patience(call))
        if copies < least:
            return None
        symbols = cast("tuple[_Symbol, ...]", self.cycles.turn(period))
        is_proof = is_look
        if not is_look:
            least = max(least, self._rules.copies + 1)
        if is_change and period == 1:
            least = max(least, self._rules.repeated_changes or _NEVER)
        if any(answer == UNKNOWN for _, answer in symbols):
            is_proof, least = False, max(least, self._rules.unknown_answers)
        elif self.loose and any(settled(key) in self.loose for key, _ in symbols):
            is_proof, least = False, max(least, self._rules.copies + 1)
        if copies < least:
            return None
        turn = tuple(map(_settled, symbols))
        self.going_on = Finding(
            kind=LoopKind.REPEAT if period == 1 else LoopKind.CYCLE,
            key=key_of(*_rotated(turn)),
            count=copies,
            at=least,
            calls=run,
            first_event=self.event_of(run),
            begins=True,
            tools=tuple(self.names)[-period:],
            period=period,
            members=frozenset(turn),
            is_proof=is_proof,
            step=1 if is_proof else None,
        )
        return self.going_on

    def again(
        self,
        memory: CallMemory,
        key: Key,
        name: str,
        policy: ToolPolicy | None,
        call: ToolCall,
        *,
        is_look: bool,
    ) -> Finding | None:
        """What it means that a call came again with other calls between, or failed again.

        Args:
            memory: What is known about it.
            key: Its key.
            name: The tool.
            policy: What is declared about the tool.
            call: The call itself.
            is_look: Whether it is certain that it changed nothing.
        """
        rules = self._rules
        own = policy.repeats_at_least if policy and policy.repeats_at_least else 0
        if rules.interleaved is not None:
            often = max(rules.interleaved, rules.copies + 1, own)  # a plain repeat is reported as one
            often = often if memory.answer != UNKNOWN else max(often, 2 * rules.unknown_answers)
            if memory.idle >= often:
                return self._idles(memory, key, name, often, call, is_look=is_look)
        least = rules.interleaved_with_news
        if least is not None and memory.answer != UNKNOWN and memory.looks >= max(least, own):
            return self.repeated(
                LoopKind.NO_PROGRESS, memory, key, name, memory.looks, max(least, own), call, is_proof=is_look
            )
        least = policy.failures_at_least if policy and policy.failures_at_least else rules.failing
        if least is not None and memory.failures >= least:
            return self.repeated(LoopKind.FAILING_CALL, memory, key, name, memory.failures, least, call)
        return None

    def repeated(  # noqa: PLR0917
        self,
        kind: LoopKind,
        memory: CallMemory,
        key: Key,
        name: str,
        count: int,
        at: int,
        call: ToolCall,
        *,
        is_proof: bool = True,
    ) -> Finding | None:
        """What it means that one call keeps coming, `at` times or more."""
        call_key = settled(key)
        loop = call_key + kind.value.encode()
        if count > at and self._registry.carry(loop, count, self.calls, self.event):
            return CARRIED_ON
        at = max(at, self._patience(call))
        if count < at:
            return None
        return Finding(
            kind=kind,
            key=loop,
            count=count,
            at=at,
            calls=count,
            first_event=self.event_of(self.calls - memory.first + 1),
            begins=count == at,
            tools=(name,),
            members=frozenset({call_key}),
            is_proof=is_proof and kind is not LoopKind.WAITING and call_key not in self.loose,
        )

    def _idles(
        self, memory: CallMemory, key: Key, name: str, at: int, call: ToolCall, *, is_look: bool
    ) -> Finding | None:
        """Calls that come again with nothing new between them are one loop, however many they are."""
        begins = self._idle_last < self.answers.latest_news or self._idle_last < self.answers.start
        at = at if self._idle_last and not begins else max(at, self._patience(call))
        if memory.idle < at:
            return None
        if begins:
            self._idle = 0
            self._idle_calls.clear()
        self._idle = max(self._idle, memory.idle)
        self._idle_last = self.calls
        if len(self._idle_calls) < _MEMBERS:
            self._idle_calls.add(settled(key))
        if not begins and self._registry.carry(_IDLE, self._idle, self.calls, self.event):
            return CARRIED_ON
        return Finding(
            kind=LoopKind.NO_PROGRESS,
            key=_IDLE,
            count=self._idle,
            at=at,
            calls=self._idle,
            first_event=self.event_of(self.calls - memory.first + 1),
            begins=begins,
            tools=(name,),
            members=frozenset(self._idle_calls),
            is_proof=is_look and memory.answer != UNKNOWN and settled(key) not in self.loose,
        )

    def monotony(self) -> Finding | None:
        """Whether hardly anything new came for a whole window."""
        rules, now = self._rules, self.calls
        stale = now - max(self.answers.latest_news, self.answers.start)
        if rules.stale is not None and stale >= rules.stale:
            count, at, begins = stale, rules.stale, stale == rules.stale
            if not begins and self._registry.carry(_MONOTONY, count, now, self.event):
                return CARRIED_ON
            measure = Measurement(Unit.CALLS, stale, at)
        elif rules.entropy_below is not None and len(self.cycles) >= rules.entropy_window:
            window = self.cycles.turn(rules.entropy_window)
            # Where every other call is new, there is no need to measure.
            bits = entropy_bits(window) if len(set(window)) <= len(window) // 2 else math.inf
            went_on, self.uniform = self.uniform, bits < rules.entropy_below
            if not self.uniform:
                return None
            count = at = rules.entropy_window
            begins = not went_on
            measure = Measurement(Unit.BITS, bits, rules.entropy_below)
        else:
            return None
        return Finding(
            kind=LoopKind.MONOTONY,
            key=_MONOTONY,
            count=count,
            at=at,
            calls=count,
            first_event=self.event_of(count),
            begins=begins,
            measure=measure,
            is_proof=False,
        )

    def to_state(self) -> dict[str, Any]:
        """All that later findings depend on, as plain data."""
        names = list(dict.fromkeys(name[:_NAME] for name in self.names))
        entries = list(self.answers.entries())
        rows = [(*_counts(memory, self.calls), young) for _, memory, young in entries]
        finding = self.going_on
        return {
            "calls": self.calls,
            "marks": [self.answers.latest_news, self.answers.latest_change, self.answers.start],
            "uniform": self.uniform,
            "loose": pack_keys(sorted(self.loose)),
            "idle": [self._idle, self._idle_last, pack_keys(sorted(self._idle_calls))],
            "stream": pack_keys(self._stream()),
            "run": [finding.period, self.cycles.run(finding.period or 0), finding.at, finding.is_proof]
            if finding
            else None,
            "event": self.event,
            "steps": pack_numbers(self.steps),
            "names": names,
            "order": pack_numbers(names.index(name[:_NAME]) for name in self.names),
            "known": pack_keys(
                [key for call, memory, _ in entries for key in (settled(call), settled_answer(memory.answer))]
            ),
            "counts": [pack_numbers(column) for column in zip(*rows, strict=True)],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `to_state` gave."""
        self.calls = state["calls"]
        self.answers.latest_news, self.answers.latest_change, self.answers.start = state["marks"]
        self.uniform = state["uniform"]
        self.loose.update(unpack_keys(state["loose"]))
        self._idle, self._idle_last, idle_calls = state["idle"]
        self._idle_calls.update(unpack_keys(idle_calls))
        stream = enumerate(unpack_keys(state["stream"]))
        self.cycles.restore((key[:8], key[8:]) if key else (b"", place.to_bytes(8)) for place, key in stream)
        self.event = state["event"]
        self.steps.extend(unpack_numbers(state["steps"]))
        self.names.extend(state["names"][number] for number in unpack_numbers(state["order"]))
        keys = unpack_keys(state["known"])
        rows = zip(*map(unpack_numbers, state["counts"]), strict=True)
        self.answers.restore(
            (call, CallMemory(answer, self.calls - last, self.calls - first, *rest), bool(young))
            for call, answer, (last, first, *rest, young) in zip(keys[::2], keys[1::2], rows, strict=True)
        )
        if state["run"]:
            period, run, at, is_proof = state["run"]
            self.cycles.lengthen(period, run)
            finding = self.cycle(period, None, None)
            if finding is not None:
                finding.at, finding.is_proof, finding.step = at, is_proof, 1 if is_proof else None

    def _stream(self) -> list[Key]:
        """The stream; nothing stands for what came once and is too far back to come again in any period."""
        recent = cast("tuple[_Symbol, ...]", self.cycles.recent)
        times = Counter(recent)
        far = len(recent) - self.cycles.max_period
        return [
            b"" if place < far and times[symbol] == 1 else _settled(symbol)
            for place, symbol in enumerate(recent)
        ]


def _settled(symbol: _Symbol) -> Key:
    call, answer = symbol
    return settled(call) + settled_answer(answer)


def _rotated(turn: tuple[Key, ...]) -> tuple[Key, ...]:
    """The same for every rotation of a turn."""
    return min(turn[start:] + turn[:start] for start in range(len(turn)))


def _counts(memory: CallMemory, now: int) -> tuple[int, ...]:
    return (
        now - memory.last,
        now - memory.first,
        memory.idle,
        memory.looks,
        memory.same_answers,
        memory.failures,
    )
