"""Thoughts in a row: calls of a tool that only notes what the model says, with hardly a look between.

Each thought is new, so that no call repeats, and no answer brings anything. Of 1,000 recorded runs none has
more than eleven such calls in a row. Where the first thought says how many there will be, so many are work
that was planned: account by account, or step by step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ebbtide.divergence.chain_memory import Detector
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.events.effect import Effect
from ebbtide.events.event import ToolCall
from ebbtide.profile.loop_kinds import LoopKind

_SHORT: Final = 40  # characters of arguments that are no thought
_LOOKS: Final = 4  # thoughts for each look: with more looks the thoughts are about something


class Thoughts(Detector):
    """Counts calls in a row whose answer only acknowledges."""

    _count: int = 0
    _planned: int = 0  # as the first of them says
    _looks: int = 0
    _first: int = 0

    def see(self, moment: Moment) -> Finding | None:
        """Take a call."""
        if moment.effect is not Effect.ACKNOWLEDGE or len(moment.arguments) < _SHORT:
            if self._count:
                self._looks += 1
                if moment.read_effect() is not Effect.READ or self._looks * _LOOKS > self._count + _LOOKS:
                    self.reset()
            return None
        self._count += 1
        if self._count == 1:
            self._first, self._planned = moment.number, _planned(moment.args)
        if self._count <= self._planned:
            return None
        return self._registry.streak(
            moment, LoopKind.THOUGHTS, count=self._count, at=self._rules.thoughts, first=self._first
        )


def _planned(args: object) -> int:
    """Returns the number of thoughts that the arguments of a thought announce; 0 where they announce none."""
    planned = args.get("totalThoughts") if isinstance(args, Mapping) else None
    return planned if type(planned) is int else 0


def known_thought(number: int) -> ToolCall:
    """An event of a run that thinks, and does nothing."""
    thought = f"Thought {number}: the lock {chr(97 + number % 26) * 4} may be the cause of it."
    return ToolCall(name="sequentialthinking", args={"thought": thought}, result="noted")
