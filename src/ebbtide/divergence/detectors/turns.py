"""Calls in turn: one with one answer again and again, or several, whatever the period."""

from __future__ import annotations

from typing import Any, cast

from ebbtide.divergence.chain_memory import Detector, probe_call
from ebbtide.divergence.loop_registry import CARRIED_ON, Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.repetition import Symbol, settled_symbol
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import UNKNOWN, Key, key_of, settled
from ebbtide.profile.loop_kinds import LoopKind

_NEVER = 1 << 62


class Turns(Detector):
    """Finds the cycle that the stream of calls ends in, if its turns are enough."""

    def see(self, moment: Moment) -> Finding | None:
        """Take a call."""
        repetition = self._memory.repetition
        if moment.period is None:
            repetition.going_on = None
            return None
        return self._cycle(moment.period, moment)

    def _cycle(self, period: int, moment: Moment | None) -> Finding | None:
        """The cycle of a period; None as the latest call is for a chain that was restored."""
        repetition, rules = self._memory.repetition, self._rules
        finding = repetition.going_on
        run = repetition.cycles.run(period)
        copies = run // period
        if finding is not None and finding.period == period:
            if self._registry.carry(finding.key, copies, repetition.calls, repetition.event):
                return CARRIED_ON
            finding.count, finding.calls, finding.begins = copies, run, False
            return finding
        repetition.going_on = None
        policy = None if moment is None else moment.policy
        own = policy.repeats_at_least if policy and period == 1 else None
        least = max(own or rules.copies, self._memory.patience(moment))
        if copies < least:
            return None
        symbols = cast("tuple[Symbol, ...]", repetition.cycles.turn(period))
        is_proof = moment is None or moment.is_certain_look
        if not is_proof:
            least = max(least, rules.copies + 1)
        if moment is not None and moment.is_deed and not moment.has_failed and period == 1:
            least = max(least, rules.repeated_changes or _NEVER)
        if any(answer == UNKNOWN for _, answer in symbols):
            is_proof, least = False, max(least, rules.unknown_answers)
        elif repetition.loose and any(settled(key) in repetition.loose for key, _ in symbols):
            is_proof, least = False, max(least, rules.copies + 1)
        if copies < least:
            return None
        turn = tuple(map(settled_symbol, symbols))
        repetition.going_on = Finding(
            kind=LoopKind.REPEAT if period == 1 else LoopKind.CYCLE,
            key=key_of(*_rotated(turn)),
            count=copies,
            at=least,
            calls=run,
            first_event=repetition.event_of(run),
            begins=True,
            tools=tuple(repetition.names)[-period:],
            period=period,
            members=frozenset(turn),
            is_proof=is_proof,
            step=1 if is_proof else None,
        )
        return repetition.going_on

    def to_state(self) -> list[Any] | None:
        """All that later findings depend on: the length of the cycle that goes on, and how it was found."""
        repetition = self._memory.repetition
        finding = repetition.going_on
        if finding is None:
            return None
        return [finding.period, repetition.cycles.run(finding.period or 0), finding.at, finding.is_proof]

    def restore(self, state: list[Any] | None) -> None:
        """Take up what `to_state` gave."""
        if state is None:
            return
        period, run, at, is_proof = state
        self._memory.repetition.cycles.lengthen(period, run)
        finding = self._cycle(period, None)
        if finding is not None:
            finding.at, finding.is_proof, finding.step = at, is_proof, 1 if is_proof else None


def _rotated(turn: tuple[Key, ...]) -> tuple[Key, ...]:
    """The same for every rotation of a turn."""
    return min(turn[start:] + turn[:start] for start in range(len(turn)))


def known_repeat(number: int) -> ToolCall:
    """An event of a run that repeats one call."""
    return probe_call(number, "a b", path=".")


def known_cycle(number: int) -> ToolCall:
    """An event of a run that goes to and fro between two calls."""
    return probe_call(number, "ab"[number % 2], path="ab"[number % 2])
