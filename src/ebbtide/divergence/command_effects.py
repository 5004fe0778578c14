"""What the commands of a chain did, found out when it matters.

Reading a command line takes longer than everything else that is done with a call, and most commands are
new: what they did matters only where something is looked at again, or fails.
"""

from __future__ import annotations

from typing import Any

from ebbtide.divergence.moment import Command, Moment
from ebbtide.divergence.repetition import Repetition
from ebbtide.events.effect import Effect
from ebbtide.events.tool_policy import ToolPolicy

_MOST = 64  # commands that wait


class CommandEffects:
    """The commands of a chain whose effect is not known yet.

    Args:
        repetition: The calls of the chain with their answers.
    """

    __slots__ = ("_repetition", "_waiting")

    def __init__(self, repetition: Repetition) -> None:
        self._repetition = repetition
        self._waiting: list[tuple[int, Command]] = []  # with their places

    @property
    def is_full(self) -> bool:
        """Whether too many commands wait."""
        return len(self._waiting) >= _MOST

    def wait(self, moment: Moment) -> bool:
        """Let a call wait where it is a command that was not read yet: whether it is one."""
        if moment.command is None:
            return False
        self._waiting.append((moment.now, moment.command))
        return True

    def to_state(self) -> list[list[Any]]:
        """All that later findings depend on: the commands that wait, each with what it did."""
        return [[now, policy.effect_of(args)] for now, (policy, args) in self._waiting]

    def restore(self, state: list[list[Any]]) -> None:
        """Take up what `to_state` gave."""
        self._waiting = [(now, (ToolPolicy(effect=effect), None)) for now, effect in state]

    def settle(self) -> bool:
        """Find out what those that wait did; whether one of them changed something.

        From a change on, what is looked up is a new look.
        """
        if not self._waiting:
            return False
        has_changed = False
        repetition = self._repetition
        answers, cycles, latest = repetition.answers, repetition.cycles, repetition.calls
        for now, (policy, args) in self._waiting:
            effect = policy.effect_of(args)
            if effect is Effect.CHANGE:
                symbols = cycles.recent[max(len(cycles) - (latest - now), 0) :]
                answers.start = answers.latest_change = now
                repetition.forget_stream()
                has_changed = True
                for symbol in symbols:
                    cycles.push(symbol)
            elif effect is None:
                answers.latest_change = max(answers.latest_change, now)
        self._waiting.clear()
        return has_changed
