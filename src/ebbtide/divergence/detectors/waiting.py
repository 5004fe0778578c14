"""Looks at something that takes its time: with time between two of them, looking again is waiting."""

from __future__ import annotations

from ebbtide.divergence.chain_memory import Detector, probe_call
from ebbtide.divergence.detectors.again import repeated
from ebbtide.divergence.loop_registry import CARRIED_ON, Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.event import ToolCall


class Waits(Detector):
    """Counts looks that show what they showed before: only the same answer again and again counts."""

    __slots__ = ()

    def see(self, moment: Moment) -> Finding | None:
        """Take a call; whatever looks at something that takes its time is explained by that."""
        if not moment.is_look:
            return None
        known, rules = moment.memory, self._rules
        repetition = self._memory.repetition
        least = rules.waits if repetition.latest_wait > moment.before else rules.polls
        if least is not None and moment.has_failed:
            least = min(least, 2 * rules.outage)
        if known is None or least is None or known.same_answers < least:
            return CARRIED_ON
        finding = repeated(self._memory, LoopKind.WAITING, moment, known.same_answers, least, is_proof=False)
        return finding or CARRIED_ON


def known_wait(number: int) -> ToolCall:
    """An event of a run that asks for the state of a job."""
    return probe_call(number, '{"status": "running"}', job=7)
