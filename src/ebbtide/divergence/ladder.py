"""The loops of one chain, and how far each has come: hint, then block, then stop.

A loop is told once a level. It climbs while it goes on, and when it comes back after it had ended: what was
warned of in vain gets no second first warning. At the top it is told again each time its count has doubled,
so that it is never forgotten and never floods.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.divergence.signals import LEVELS, LoopKind
from ebbtide.events.identity import Key

_KEPT = 24  # loops that are remembered
_TOP = len(LEVELS) - 1
_REFUSALS = 2  # of a blocked call before the run should stop


@dataclass(slots=True)
class Finding:
    """What a rule found at this event.

    Args:
        kind: The rule.
        key: Identity of the loop.
        count: What the rule counts.
        at: Count from which it speaks.
        calls: Calls that belong to it so far.
        first_event: Number of the event that it began with.
        begins: Whether it has just come to that count: it is new, or it had ended and is back.
        tools: Names of the calls of one turn.
        period: Calls of one turn, where there are turns.
        members: Keys of calls, or of calls with their answers, that belong to it.
        tool: The tool, where all its calls belong to it.
        evidence: What was measured, where it is not the latest call.
        step: Further counts from one level to the next; None is half of `at`, but two at least.
    """

    kind: LoopKind
    key: Key
    count: int
    at: int
    calls: int
    first_event: int
    begins: bool
    tools: tuple[str, ...] = ()
    period: int | None = None
    members: frozenset[Key] = frozenset()
    tool: str | None = None
    evidence: str = ""
    step: int | None = None


@dataclass(slots=True, kw_only=True)
class Loop:
    """One loop as it stands.

    Fields as in `Finding`; and the index of its level, the count at which it is told next, the place and
    number of its latest event, calls refused since it was blocked, and what the chain had spent before it
    began.
    """

    key: Key
    kind: LoopKind
    at: int
    next_at: int
    first_event: int
    level: int = 0
    count: int = 0
    calls: int = 0
    last: int = 0
    last_event: int = 0
    relapses: int = 0
    refused: int = 0
    cost_before: float = 0.0
    tokens_before: int = 0
    period: int | None = None
    tool: str | None = None
    tools: tuple[str, ...] = ()
    members: frozenset[Key] = frozenset()


#: What a rule gives for an event that goes on with a loop, and at which nothing is to be told.
CARRIED_ON = Finding(kind=LoopKind.REPEAT, key=b"", count=0, at=1, calls=0, first_event=0, begins=False)


class Ladder:
    """The loops of one chain by their identity; the one that was silent longest is forgotten first."""

    __slots__ = ("loops",)

    def __init__(self) -> None:
        self.loops: dict[Key, Loop] = {}

    def carry(self, key: Key, count: int, now: int, event: int) -> bool:
        """Count on in a loop that is known; False where something is to be told, or the loop is not known.

        It is what most events of a long loop come to, so it stands apart from `note`.
        """
        loop = self.loops.get(key)
        if loop is None or count >= loop.next_at:
            return False
        loop.calls += count - loop.count
        loop.count = count
        loop.last = now
        loop.last_event = event
        return True

    def streak(
        self, kind: LoopKind, key: Key, tool: str, *, count: int, at: int, first: int, now: int, event: int
    ) -> Finding:
        """A finding about calls of one tool in a row, each of which counts; CARRIED_ON if it is no news."""
        if count != at and self.carry(key, count, now, event):
            return CARRIED_ON
        return Finding(
            kind=kind,
            key=key,
            count=count,
            at=at,
            calls=count,
            first_event=first,
            begins=count == at,
            tools=(tool,),
            tool=tool,
        )

    def note(self, found: Finding, now: int, event: int) -> tuple[Loop, bool]:
        """Take a finding; its loop, and whether it is to be told now."""
        loop = self.loops.get(found.key)
        if loop is None:
            loop = self._add(found)
        elif found.begins:
            loop.relapses += 1
            loop.refused = 0
            loop.first_event = found.first_event
            loop.level = min(loop.level + 1, _TOP)
            loop.next_at = found.count
        elif found.count >= loop.next_at:
            loop.level = min(loop.level + 1, _TOP)
        loop.count = found.count
        loop.calls = found.calls
        loop.last = now
        loop.last_event = event
        loop.members = found.members
        if found.count < loop.next_at:
            return loop, False
        step = found.step or max(2, found.at // 2)
        loop.next_at = found.count * 2 if loop.level == _TOP else found.count + step
        return loop, True

    def refuse(self, loop: Loop) -> None:
        """A call of a blocked loop was asked for again: a warning that is ignored ends in a stop."""
        loop.refused += 1
        if loop.refused > _REFUSALS:
            loop.level = _TOP

    def standing(self) -> list[Loop]:
        """Loops that have come to block or stop."""
        return [loop for loop in self.loops.values() if loop.level > 0]

    def _add(self, found: Finding) -> Loop:
        if len(self.loops) >= _KEPT:
            del self.loops[min(self.loops, key=lambda key: self.loops[key].last)]
        loop = self.loops[found.key] = Loop(
            key=found.key,
            kind=found.kind,
            at=found.at,
            next_at=found.count,
            first_event=found.first_event,
            tools=found.tools,
            period=found.period,
            tool=found.tool,
        )
        return loop
