"""What the commands of a chain did, found out when it matters.

Reading a command line takes longer than everything else that is done with a call, and most commands are
new: what they did matters only where something is looked at again, or fails.
"""

from __future__ import annotations

from typing import Any

from ebbtide.divergence.detectors.failing import FailingTools
from ebbtide.divergence.detectors.repetition import Repetition
from ebbtide.events.effect import Effect
from ebbtide.events.tool_policy import ToolPolicy

_MOST = 64  # commands that wait

Command = tuple[ToolPolicy, object]  #: what is declared about a shell, and the arguments of a call of it


class CommandEffects:
    """The effect of the latest call, and the commands before it whose effect is not known yet.

    Args:
        repetition: The calls of the chain with their answers.
        failing: The failing tools of the chain.
    """

    __slots__ = ("_effect", "_failing", "_repetition", "_waiting", "command")

    def __init__(self, repetition: Repetition, failing: FailingTools) -> None:
        self._repetition = repetition
        self._failing = failing
        self._effect: Effect | None = None
        self.command: Command | None = None  # the latest call, where it is a command that was not read yet
        self._waiting: list[tuple[int, Command]] = []  # with their places

    def begin(self, policy: ToolPolicy | None, args: object) -> Effect | None:
        """Take the next call; its effect, as far as it is known without reading a command."""
        self._effect = self.command = None
        if policy is not None:
            if policy.is_command(args) and not policy.may_wait(args):
                self.command = (policy, args)
            else:
                self._effect = policy.effect_of(args)
        return self._effect

    @property
    def latest(self) -> Effect | None:
        """What the latest call does."""
        if self.command is not None:
            policy, args = self.command
            self.command = None
            self._effect = policy.effect_of(args)
        return self._effect

    @property
    def is_full(self) -> bool:
        """Whether too many commands wait."""
        return len(self._waiting) >= _MOST

    def wait(self, now: int) -> bool:
        """Let the latest call wait where it is a command: whether it is one."""
        if self.command is None:
            return False
        self._waiting.append((now, self.command))
        return True

    def to_state(self) -> list[list[Any]]:
        """All that later findings depend on: the commands that wait, each with what it did."""
        return [[now, policy.effect_of(args)] for now, (policy, args) in self._waiting]

    def restore(self, state: list[list[Any]]) -> None:
        """Take up what `to_state` gave."""
        self._waiting = [(now, (ToolPolicy(effect=effect), None)) for now, effect in state]

    def settle(self) -> None:
        """Find out what those that wait did: from a change on, what is looked up is a new look."""
        if not self._waiting:
            return
        repetition = self._repetition
        answers, cycles, latest = repetition.answers, repetition.cycles, repetition.calls
        for now, (policy, args) in self._waiting:
            effect = policy.effect_of(args)
            if effect is Effect.CHANGE:
                symbols = cycles.recent[max(len(cycles) - (latest - now), 0) :]
                answers.start = answers.latest_change = now
                repetition.forget_stream()
                self._failing.tools.clear()
                for symbol in symbols:
                    cycles.push(symbol)
            elif effect is None:
                answers.latest_change = max(answers.latest_change, now)
        self._waiting.clear()
