"""Looks at something that takes its time: with time between two of them, looking again is waiting."""

from __future__ import annotations

from ebbtide.divergence.detectors.repetition import Repetition
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import Answer, Key
from ebbtide.events.outcome import CallOutcome, is_under_way, may_still_come
from ebbtide.profile.divergence import LoopRules


class Waits:
    """Follows where time passed in one chain, and the looks that it passed between.

    Args:
        rules: The thresholds.
        repetition: The calls of the chain with their answers.
    """

    __slots__ = ("_repetition", "_rules", "has_time_passed", "latest")

    def __init__(self, rules: LoopRules, repetition: Repetition) -> None:
        self._rules = rules
        self._repetition = repetition
        self.has_time_passed = False  # since the last call
        self.latest = 0  # place of the latest call before which time passed

    def is_wait(self, key: Key, answer: str, outcome: CallOutcome | None) -> bool:
        """Whether a look that shows what it showed before waits for something.

        Args:
            key: Key of the call.
            answer: Its answer.
            outcome: What the answer says of how it ended.
        """
        return (self.latest > self._repetition.answers.place(key) or is_under_way(answer)) and may_still_come(
            answer, outcome
        )

    def look(self, name: str, key: Key, answer: Answer, call: ToolCall) -> Finding | None:
        """Take a look, and say whether it is one too many.

        Args:
            name: The tool.
            key: Key of the call.
            answer: Key of the answer.
            call: The call itself.
        """
        repetition = self._repetition
        before = repetition.answers.place(key)
        memory = repetition.answers.see(key, answer, False, repetition.calls)  # noqa: FBT003
        least = self._rules.waits if self.latest > before else self._rules.polls
        if memory is None or least is None or memory.same_answers < least:
            return None
        return repetition.repeated(LoopKind.WAITING, memory, key, name, memory.same_answers, least, call)
