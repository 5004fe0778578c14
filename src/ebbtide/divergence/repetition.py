"""The calls of one chain with their answers, as the detectors share them: a stream, and a bounded memory."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from itertools import islice
from typing import Any, cast

from ebbtide.codec import State
from ebbtide.divergence.cycles import CycleDetector
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.progress import Answers, CallMemory
from ebbtide.engine_state import pack_keys, pack_numbers, unpack_keys, unpack_numbers
from ebbtide.events.identity import Answer, Key, settled, settled_answer
from ebbtide.profile.divergence import LoopRules

Symbol = tuple[Key, Answer]  #: a call with its answer, as the stream holds it

_LOOSE = 32  # calls whose answers differ in names alone that are known
_KNOWN = 128  # calls whose answers are remembered at least
_NAME = 32  # characters of a name that are kept in a state


class Repetition(State):
    """The calls of one chain with their answers, as a stream and as a bounded memory.

    Args:
        rules: The thresholds.

    Attributes:
        answers: What is known about each call that came of late.
        cycles: The stream.
        calls: Places so far.
        event: Number of the latest call's event.
        going_on: The cycle that the stream ends in, where it was found.
        loose: Calls whose answers were the same but for generated names.
        latest_wait: Place of the latest call before which time passed.
        latest_rest: Place of the latest call before which a tool waited.
    """

    __slots__ = (
        "_rules",
        "answers",
        "calls",
        "cycles",
        "event",
        "going_on",
        "latest_rest",
        "latest_wait",
        "loose",
        "names",
        "steps",
    )

    def __init__(self, rules: LoopRules) -> None:
        self._rules = rules
        self.cycles = CycleDetector(rules.max_period, rules.copies)
        # Whatever the stream of calls holds is known, so that a call that is not known is new to the stream.
        self.answers = Answers(max(_KNOWN, rules.max_period))
        self.calls = 0
        self.event = 0
        # From the event of the call before to that of each call: mostly 1, so that they take hardly any room.
        self.steps: deque[int] = deque(maxlen=rules.copies * rules.max_period)
        self.names: deque[str] = deque(maxlen=rules.max_period)
        self.going_on: Finding | None = None
        self.loose: set[Key] = set()
        self.latest_wait = 0
        self.latest_rest = 0

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

    def to_state(self) -> dict[str, Any]:
        """All that later findings depend on, as plain data."""
        names = list(dict.fromkeys(name[:_NAME] for name in self.names))
        entries = list(self.answers.entries())
        rows = [(*_counts(memory, self.calls), young) for _, memory, young in entries]
        return {
            "calls": self.calls,
            "marks": [self.answers.latest_news, self.answers.latest_change, self.answers.start],
            "loose": pack_keys(sorted(self.loose)),
            "wait": self.latest_wait,
            "rest": self.latest_rest,
            "stream": pack_keys(self._stream()),
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
        self.loose.update(unpack_keys(state["loose"]))
        self.latest_wait = state["wait"]
        self.latest_rest = state["rest"]
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

    def _stream(self) -> list[Key]:
        """The stream; nothing stands for what came once and is too far back to come again in any period."""
        recent = cast("tuple[Symbol, ...]", self.cycles.recent)
        times = Counter(recent)
        far = len(recent) - self.cycles.max_period
        return [
            b"" if place < far and times[symbol] == 1 else settled_symbol(symbol)
            for place, symbol in enumerate(recent)
        ]


def settled_symbol(symbol: Symbol) -> Key:
    """Returns the identity of a call with its answer, as every process has it."""
    call, answer = symbol
    return settled(call) + settled_answer(answer)


def _counts(memory: CallMemory, now: int) -> tuple[int, ...]:
    return (
        now - memory.last,
        now - memory.first,
        memory.idle,
        memory.looks,
        memory.same_answers,
        memory.failures,
    )
