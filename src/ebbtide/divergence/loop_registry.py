"""The loops of one chain, and how often each was reported.

A loop is reported when it is found, again while it goes on, and when it comes back after it had ended. From
the third report on its count has to double in between, so that it is never forgotten and never floods. What
follows from a report is not decided here: that is the ladder of `ebbtide.supervision.ladder`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.codec import State
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.signals import Measurement
from ebbtide.events.identity import Key, key_of
from ebbtide.profile.loop_kinds import LoopKind

_KEPT = 24  # loops that are remembered
_OFTEN = 3  # reports from which on the count has to double in between


@dataclass(slots=True)
class Finding:
    """Finding of a detector at an event.

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
        measure: What was measured, where that is more than the count.
        step: Further counts from one report to the next; None is half of `at`, but two at least.
        is_proof: Whether nothing but a loop explains it.
        is_stated: Whether its calls were stated, and not recorded.
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
    measure: Measurement | None = None
    step: int | None = None
    is_proof: bool = True
    is_stated: bool = False


@dataclass(slots=True, kw_only=True)
class Loop:
    """One loop as it is now.

    Fields as in `Finding`; and how often it was reported, the count at which it is reported next, the place
    and number of its latest event, and what the chain had spent before it began, in units of `Tally`; where
    it had ended and came back, the count and the last event of the stretch before.
    """

    key: Key
    kind: LoopKind
    at: int
    next_at: int
    first_event: int
    reports: int = 0
    count: int = 0
    calls: int = 0
    last: int = 0
    last_event: int = 0
    relapses: int = 0
    earlier_count: int = 0
    earlier_last: int = 0
    cost_before: int = 0
    tokens_before: int = 0
    period: int | None = None
    tool: str | None = None
    tools: tuple[str, ...] = ()
    members: frozenset[Key] = frozenset()
    is_proof: bool = True
    is_stated: bool = False


#: What a detector gives for an event that it explains, and at which nothing is to be reported.
CARRIED_ON = Finding(kind=LoopKind.REPEAT, key=b"", count=0, at=1, calls=0, first_event=0, begins=False)


class LoopRegistry(State):
    """The loops of one chain by their identity; the one that was silent longest is forgotten first."""

    loops: dict[Key, Loop] = {}

    def carry(self, key: Key, count: int, now: int, event: int) -> bool:
        """Count on in a loop that is known; False where something is to be reported, or the loop is new.

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
        self,
        moment: Moment,
        kind: LoopKind,
        *parts: object,
        count: int,
        at: int | None,
        first: int,
        is_proof: bool = False,
        step: int | None = None,
    ) -> Finding | None:
        """Returns a finding about calls in a row; CARRIED_ON if it is no news, None if it is no loop.

        Args:
            moment: Its latest call.
            kind: What was found.
            parts: What sets the loop apart from others of its kind.
            count: Calls that belong to it.
            at: Count from which the rule speaks; None switches it off.
            first: Number of its first event.
            is_proof: Whether nothing but a loop explains it.
            step: Further counts from one report to the next, as in `Finding`.
        """
        if at is None or count < at:
            return None
        key = key_of(kind, *parts)
        if count != at and self.carry(key, count, moment.now, moment.number):
            return CARRIED_ON
        return Finding(
            kind=kind,
            key=key,
            count=count,
            at=at,
            calls=count,
            first_event=first,
            begins=count == at,
            tools=(moment.name,),
            tool=moment.name,
            is_proof=is_proof,
            step=step,
        )

    def note(self, finding: Finding, now: int, event: int) -> tuple[Loop, bool]:
        """Take a finding; its loop, and whether it is to be reported now."""
        loop = self.loops.get(finding.key)
        if loop is None:
            loop = self._add(finding)
        elif finding.begins:
            loop.relapses += 1
            loop.earlier_count, loop.earlier_last = loop.count, loop.last_event
            loop.first_event = finding.first_event
            loop.next_at = finding.count
        loop.count = finding.count
        loop.calls = finding.calls
        loop.last = now
        loop.last_event = event
        loop.members = finding.members
        loop.is_proof, loop.is_stated = finding.is_proof, finding.is_stated
        if finding.count < loop.next_at:
            return loop, False
        loop.reports += 1
        step = finding.step or max(2, finding.at // 2)
        loop.next_at = finding.count * 2 if loop.reports >= _OFTEN else finding.count + step
        return loop, True

    def report_next(self, key: Key) -> None:
        """Let the next call of a loop be reported, however often it was."""
        loop = self.loops[key]
        loop.next_at = loop.count + 1

    def persistent(self) -> list[Loop]:
        """Loops that went on, or came back, after they had been reported."""
        return [loop for loop in self.loops.values() if loop.reports > 1]

    def _add(self, finding: Finding) -> Loop:
        if len(self.loops) >= _KEPT:
            del self.loops[min(self.loops, key=lambda key: self.loops[key].last)]
        loop = self.loops[finding.key] = Loop(
            key=finding.key,
            kind=finding.kind,
            at=finding.at,
            next_at=finding.count,
            first_event=finding.first_event,
            tools=finding.tools,
            period=finding.period,
            tool=finding.tool,
        )
        return loop
