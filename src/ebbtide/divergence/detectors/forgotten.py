"""Calls that are made again after the context was condensed: the summary forgets what they gave.

Within one context a model sees that a call failed. After a condensation it knows what the summary says, and
where that still names the step as the next one, the step fails in each context anew, between other calls
that may well bring something. Only calls count whose effect is known: what an edit or a read depends on was
not changed in between, while a check may fail again for another reason. A context that is full before the
reading is done makes the model read the same again, in one context after the other.
"""

from __future__ import annotations

from ebbtide.bounded import Bounded
from ebbtide.divergence.chain_memory import Detector
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, Notice, NoticeKind, ToolCall
from ebbtide.events.identity import Key, key_of, settled
from ebbtide.profile.loop_kinds import LoopKind

_CALLS = 32  # whose contexts are counted at once
_LOOKS = 3  # calls of a context that say something about it
_KNOWN = 0.6  # of them, those whose answer was known


class Forgotten(Detector):
    """Counts, for each call, the contexts in a row in which it failed with one answer."""

    _contexts: Bounded[Key, int] = Bounded(_CALLS)

    def see(self, moment: Moment) -> Finding | None:
        """Take a call that came before."""
        least, memory = self._rules.forgotten, moment.memory
        if least is None or memory is None or moment.times < 2 or not moment.has_failed:
            return None
        if moment.before > self._memory.condensed_at or moment.read_effect() not in (
            Effect.CHANGE,
            Effect.READ,
        ):
            return None
        key = settled(moment.key)
        count = self._contexts.get(key, 1) + 1
        self._contexts.renew(key, count)
        repetition = self._memory.repetition
        first = repetition.event_of(repetition.calls - memory.first + 1)
        return self._registry.streak(moment, LoopKind.FORGOTTEN, key, count=count, at=least, first=first)


class RereadContexts(Detector):
    """Counts contexts in a row that are spent on what was known, up to each condensation."""

    _LASTING = ("_calls", "_known", "_changes")
    _count: int = 0
    _first: int = 0
    _calls: int = 0  # of the chain, until the latest condensation
    _known: int = 0
    _changes: int = 0

    def see(self, moment: Moment) -> Finding | None:
        """Take the end of a context."""
        event, memory, least = moment.event, self._memory, self._rules.reread
        if not isinstance(event, Notice) or event.kind is not NoticeKind.COMPACTION:
            return None
        calls, self._calls = memory.repetition.calls - self._calls, memory.repetition.calls
        known, self._known = memory.known_looks - self._known, memory.known_looks
        changed, self._changes = memory.changes > self._changes, memory.changes
        if calls < _LOOKS and not changed:
            return None
        if changed or known < _KNOWN * calls:
            self.reset()
            return None
        self._count += 1
        self._first = self._first or moment.number
        if least is None or self._count < least:
            return None
        return Finding(
            kind=LoopKind.REREAD,
            key=key_of(LoopKind.REREAD),
            count=self._count,
            at=least,
            calls=self._count,
            first_event=self._first,
            begins=self._count == least,
            is_proof=False,
        )


def known_reread(number: int) -> Event:
    """An event of a run that reads four files in each of its contexts."""
    if number % 5 == 4:
        return Notice(kind=NoticeKind.COMPACTION)
    name = f"day{number % 5}.log"
    return ToolCall(name="Read", args={"file_path": name}, result=f"log of {name}: {number % 5} trips")


def known_forgotten(number: int) -> Event:
    """An event of a run that tries one edit in each of its contexts."""
    if number % 3 == 2:
        return Notice(kind=NoticeKind.COMPACTION)
    if number % 3:
        return ToolCall(
            name="Bash", args={"command": f"./check --seed {number}"}, result=f"{number} of 9 ran"
        )
    edit = {"file_path": "a.cs", "old_string": "Sum(x)", "new_string": "Round(Sum(x))"}
    return ToolCall(name="Edit", args=edit, result="String to replace not found in file.", error=True)
