"""Calls that fail again after the context was condensed: the summary forgets that they were tried.

Within one context a model sees that a call failed. After a condensation it knows what the summary says, and
where that still names the step as the next one, the step fails in each context anew, between other calls
that may well bring something. Only calls count whose effect is known: what an edit or a read depends on was
not changed in between, while a check may fail again for another reason.
"""

from __future__ import annotations

from ebbtide.divergence.chain_memory import ChainMemory, Detector
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.effect import Effect
from ebbtide.events.event import Event, Notice, NoticeKind, ToolCall
from ebbtide.events.identity import Key, key_of, settled

_CALLS = 32  # whose contexts are counted at once


class Forgotten(Detector):
    """Counts, for each call, the contexts in a row in which it failed with one answer."""

    __slots__ = ("_contexts",)

    _contexts: dict[Key, int]

    def __init__(self, memory: ChainMemory) -> None:
        super().__init__(memory)
        self._contexts = {}

    def reset(self) -> None:
        """Begin afresh: something was changed, or a person said something new."""
        self._contexts.clear()

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
        count = self._contexts.pop(key, 1) + 1
        if len(self._contexts) >= _CALLS:
            del self._contexts[next(iter(self._contexts))]
        self._contexts[key] = count
        if count < least:
            return None
        repetition = self._memory.repetition
        first = repetition.event_of(repetition.calls - memory.first + 1)
        return self._registry.streak(
            LoopKind.FORGOTTEN,
            key_of(LoopKind.FORGOTTEN, key),
            moment,
            count=count,
            at=least,
            first=first,
            is_proof=False,
        )


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
