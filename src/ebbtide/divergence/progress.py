"""Progress of repeated calls: each known call with its last answer, and what came in between.

Three things may have happened since the last time. Nothing new: then asking again is idle. Something new that
was looked up elsewhere: then it may be forgetful. Something that may have changed the world: then the same
answer is news, such as a test that is still red after an edit. A change that is declared and landed, or a
long pause, starts everything afresh.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ebbtide.events.identity import Answer, Key, is_failed

# A call that came once is most of what is ever known: its answer and its place. It becomes a `Known` when it
# comes again.
_Once = tuple[Answer, int]


@dataclass(slots=True)
class CallMemory:
    """Memory of one call. Places count the calls of the chain.

    Args:
        answer: Key of the last answer.
        last: Place of the last time.
        first: Place since which the answer is the same.
        idle: Times in a row with nothing new in between.
        looks: Times with nothing in between that may have changed something.
        same_answers: Times in all, until a new start.
        failures: Failures in a row with nothing new in between, whatever their text.
    """

    answer: Answer
    last: int
    first: int
    idle: int = 1
    looks: int = 1
    same_answers: int = 1
    failures: int = 0


class Answers:
    """The answers of the calls that came last, in bounded memory.

    Three places that the caller sets: `latest_news`, the last with an answer that was not known;
    `latest_change`, the last that may have changed something; `start`, the last at which everything began
    afresh.

    Args:
        at_least: Calls that are known at least; there may be twice as many.
    """

    __slots__ = ("_at_least", "_older", "_younger", "latest_change", "latest_news", "start")

    def __init__(self, at_least: int) -> None:
        self._at_least = at_least
        self._younger: dict[Key, CallMemory | _Once] = {}
        self._older: dict[Key, CallMemory | _Once] = {}
        self.latest_news = 0
        self.latest_change = 0
        self.start = 0

    def see(self, call: Key, answer: Answer, failed: bool, now: int) -> CallMemory | None:  # noqa: FBT001
        """Take one more answer; what is known about the call, or None where it is the first time.

        Args:
            call: Key of the call.
            answer: Key of the answer.
            failed: Whether it failed.
            now: Its place.
        """
        younger = self._younger
        entry = younger.get(call)
        if entry is None:
            entry = self._older.pop(call, None)
            if len(younger) >= self._at_least:
                self._older = younger
                self._younger = younger = {}
            if entry is None:
                younger[call] = (answer, now)
                return None
            younger[call] = entry
        if isinstance(entry, tuple):
            entry = younger[call] = _first_memory(entry)
        memory = entry
        last, memory.last = memory.last, now
        idle = self.latest_news <= last
        if failed:
            memory.failures = memory.failures + 1 if idle and last >= self.start else 1
        else:
            memory.failures = 0
        if memory.answer != answer or last < self.start:
            memory.answer, memory.first = answer, now
            memory.idle = memory.looks = memory.same_answers = 1
            return memory
        memory.idle = memory.idle + 1 if idle else 1
        memory.looks = memory.looks + 1 if idle or self.latest_change <= last else 1
        memory.same_answers += 1
        return memory

    def expected(self, call: Key) -> Answer | None:
        """The answer that a call gave the last time, or None."""
        entry = self._younger.get(call) or self._older.get(call)
        if entry is None:
            return None
        return entry[0] if isinstance(entry, tuple) else entry.answer

    def place(self, call: Key) -> int:
        """The place at which a call came last; 0 where it is not known."""
        entry = self._younger.get(call) or self._older.get(call)
        if entry is None:
            return 0
        return entry[1] if isinstance(entry, tuple) else entry.last

    def entries(self) -> Iterator[tuple[Key, CallMemory, bool]]:
        """Each known call with what is known, and whether it stands in the younger generation; in order."""
        for generation in (self._older, self._younger):
            for call, entry in generation.items():
                memory = _first_memory(entry) if isinstance(entry, tuple) else entry
                yield call, memory, generation is self._younger

    def restore(self, entries: Iterable[tuple[Key, CallMemory, bool]]) -> None:
        """Take up what `entries` gave."""
        for call, memory, young in entries:
            (self._younger if young else self._older)[call] = memory


def _first_memory(once: _Once) -> CallMemory:
    answer, place = once
    return CallMemory(answer, place, place, failures=1 if is_failed(answer) else 0)


def entropy_bits(symbols: Sequence[Hashable]) -> float:
    """Shannon entropy of the symbols' frequencies; 0 for one symbol alone.

    >>> entropy_bits("abab")
    1.0
    """
    total = len(symbols)
    return -sum(count / total * math.log2(count / total) for count in Counter(symbols).values()) + 0.0
