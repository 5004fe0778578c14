"""Whether asking again brought anything: each known call with its last answer, and what came in between.

Three things may have happened since the last time. Nothing new: then asking again is idle. Something new that
was looked up elsewhere: then it may be forgetful. Something that may have changed the world: then the same
answer is news, such as a test that is still red after an edit. A change that is declared and landed, or a
long pause, starts everything afresh.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ebbtide.events.identity import Answer, Key, is_failed

# A call that came once is most of what is ever known: its answer and its place. It becomes a `Known` when it
# comes again.
_Once = tuple[Answer, int]


@dataclass(slots=True)
class Known:
    """What is known about one call. Places count the calls of the chain.

    Args:
        answer: Key of the last answer.
        last: Place of the last time.
        first: Place since which the answer is the same.
        idle: Times in a row with nothing new in between.
        looked: Times with nothing in between that may have changed something.
        changed: Times in all, until a new start.
        failures: Failures in a row with nothing new in between, whatever their text.
    """

    answer: Answer
    last: int
    first: int
    idle: int = 1
    looked: int = 1
    changed: int = 1
    failures: int = 0


class Answers:
    """The answers of the calls that came last, in bounded memory.

    Marks that the caller moves: `news`, the last place with an answer that was not known; `moved`, the last
    place that may have changed something; `start`, the last place at which everything began afresh.

    Args:
        at_least: Calls that are known at least; there may be twice as many.
    """

    __slots__ = ("_at_least", "_older", "_younger", "moved", "news", "start")

    def __init__(self, at_least: int) -> None:
        self._at_least = at_least
        self._younger: dict[Key, Known | _Once] = {}
        self._older: dict[Key, Known | _Once] = {}
        self.news = 0
        self.moved = 0
        self.start = 0

    def see(self, call: Key, answer: Answer, failed: bool, now: int) -> Known | None:  # noqa: FBT001
        """Take one more answer; what is known about the call, or None where it is the first time.

        Args:
            call: Key of the call.
            answer: Key of the answer.
            failed: Whether it failed.
            now: Its place.
        """
        younger = self._younger
        found = younger.get(call)
        if found is None:
            found = self._older.pop(call, None)
            if len(younger) >= self._at_least:
                self._older = younger
                self._younger = younger = {}
            if found is None:
                younger[call] = (answer, now)
                return None
            younger[call] = found
        if isinstance(found, tuple):
            found = younger[call] = _known(found)
        known = found
        last, known.last = known.last, now
        idle = self.news <= last
        if failed:
            known.failures = known.failures + 1 if idle and last >= self.start else 1
        else:
            known.failures = 0
        if known.answer != answer or last < self.start:
            known.answer, known.first = answer, now
            known.idle = known.looked = known.changed = 1
            return known
        known.idle = known.idle + 1 if idle else 1
        known.looked = known.looked + 1 if idle or self.moved <= last else 1
        known.changed += 1
        return known

    def expected(self, call: Key) -> Answer | None:
        """The answer that a call gave the last time, or None."""
        found = self._younger.get(call) or self._older.get(call)
        if found is None:
            return None
        return found[0] if isinstance(found, tuple) else found.answer

    def entries(self) -> Iterator[tuple[Key, Known, bool]]:
        """Each known call with what is known, and whether it stands in the younger generation; in order."""
        for generation in (self._older, self._younger):
            for call, found in generation.items():
                known = _known(found) if isinstance(found, tuple) else found
                yield call, known, generation is self._younger

    def restore(self, entries: Iterable[tuple[Key, Known, bool]]) -> None:
        """Take up what `entries` told."""
        for call, known, young in entries:
            (self._younger if young else self._older)[call] = known


def _known(once: _Once) -> Known:
    answer, place = once
    return Known(answer, place, place, failures=1 if is_failed(answer) else 0)
