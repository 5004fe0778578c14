"""Windows without variety: hardly anything but known calls with known answers."""

from __future__ import annotations

import math

from ebbtide.divergence.chain_memory import ChainMemory, Detector, probe_call
from ebbtide.divergence.loop_registry import CARRIED_ON, Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.progress import entropy_bits
from ebbtide.divergence.signals import Measurement, Unit
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import key_of
from ebbtide.profile.loop_kinds import LoopKind

_KEY = key_of(LoopKind.MONOTONY)
_NEVER = 1 << 62


class Monotony(Detector):
    """Measures one window after the other, and the stretch since the last news."""

    _is_uniform: bool = False  # whether the last window that was measured hardly varied

    def __init__(self, memory: ChainMemory) -> None:
        super().__init__(memory)
        self._stale = memory.rules.stale or _NEVER
        self._window = memory.rules.entropy_window
        self._is_uniform = False

    def see(self, moment: Moment) -> Finding | None:
        """Take a call that nothing else explains."""
        now, answers = moment.now, self._memory.repetition.answers
        if now % self._window and now - answers.latest_news < self._stale:
            return None
        rules, repetition = self._rules, self._memory.repetition
        stale = now - max(answers.latest_news, answers.start)
        if rules.stale is not None and stale >= rules.stale:
            count, at, begins = stale, rules.stale, stale == rules.stale
            if not begins and self._registry.carry(_KEY, count, now, moment.number):
                return CARRIED_ON
            measure = Measurement(Unit.CALLS, stale, at)
        elif rules.entropy_below is not None and len(repetition.cycles) >= rules.entropy_window:
            window = repetition.cycles.turn(rules.entropy_window)
            # Where every other call is new, there is no need to measure.
            bits = entropy_bits(window) if len(set(window)) <= len(window) // 2 else math.inf
            went_on, self._is_uniform = self._is_uniform, bits < rules.entropy_below
            if not self._is_uniform:
                return None
            count = at = rules.entropy_window
            begins = not went_on
            measure = Measurement(Unit.BITS, bits, rules.entropy_below)
        else:
            return None
        return Finding(
            kind=LoopKind.MONOTONY,
            key=_KEY,
            count=count,
            at=at,
            calls=count,
            first_event=repetition.event_of(count),
            begins=begins,
            measure=measure,
            is_proof=False,
        )


def known_monotony(number: int) -> ToolCall:
    """An event of a run that reads each of forty files again, in another order: no call comes often."""
    file = number if number < 40 else number * 7 % 40
    return probe_call(number, f"text of file {file}", path=f"file {file}")
