"""A call that comes again among others: with the same answer and nothing new between, or failing."""

from __future__ import annotations

from ebbtide.divergence.chain_memory import ChainMemory, Detector, probe_call
from ebbtide.divergence.loop_registry import CARRIED_ON, Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.progress import CallMemory
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import UNKNOWN, Key, key_of, settled
from ebbtide.profile.loop_kinds import LoopKind

_IDLE = key_of(LoopKind.NO_PROGRESS)
_MEMBERS = 64  # calls of an idle stretch that are distinguished
_SAME, _FAILED = 3, 2  # equal answers, and failures, up to which there is nothing to say


class Again(Detector):
    """Judges each call that came before."""

    _idle: int = 0  # highest count in the stretch of idle calls that goes on
    _idle_last: int = 0  # place of its latest call
    _idle_calls: set[Key] = set()

    def see(self, moment: Moment) -> Finding | None:
        """Take a call that came before."""
        known = moment.memory
        if known is None:
            return None
        may_idle = known.same_answers > _SAME and (moment.has_failed or not moment.is_deed)
        if not may_idle and known.failures <= _FAILED:
            return None
        rules, policy = self._rules, moment.policy
        own = policy.repeats_at_least if policy and policy.repeats_at_least else 0
        if rules.interleaved is not None:
            often = max(rules.interleaved, rules.copies + 1, own)  # a plain repeat is reported as one
            often = often if known.answer != UNKNOWN else max(often, 2 * rules.unknown_answers)
            if known.idle >= often:
                return self._idles(known, moment, often)
        least = rules.interleaved_with_news
        if least is not None and known.answer != UNKNOWN and known.looks >= max(least, own):
            return repeated(
                self._memory,
                LoopKind.NO_PROGRESS,
                moment,
                known.looks,
                max(least, own),
                is_proof=moment.is_certain_look,
            )
        least = policy.failures_at_least if policy and policy.failures_at_least else rules.failing
        if least is not None and known.failures >= least:
            return repeated(self._memory, LoopKind.FAILING_CALL, moment, known.failures, least)
        return None

    def _idles(self, known: CallMemory, moment: Moment, at: int) -> Finding | None:
        """Calls that come again with nothing new between them are one loop, however many they are."""
        repetition = self._memory.repetition
        answers = repetition.answers
        begins = self._idle_last < answers.latest_news or self._idle_last < answers.start
        at = at if self._idle_last and not begins else max(at, self._memory.patience(moment))
        if known.idle < at:
            return None
        if begins:
            self._idle = 0
            self._idle_calls.clear()
        self._idle = max(self._idle, known.idle)
        self._idle_last = repetition.calls
        key = settled(moment.key)
        if len(self._idle_calls) < _MEMBERS:
            self._idle_calls.add(key)
        if not begins and self._registry.carry(_IDLE, self._idle, repetition.calls, repetition.event):
            return CARRIED_ON
        return Finding(
            kind=LoopKind.NO_PROGRESS,
            key=_IDLE,
            count=self._idle,
            at=at,
            calls=self._idle,
            first_event=repetition.event_of(repetition.calls - known.first + 1),
            begins=begins,
            tools=(moment.name,),
            members=frozenset(self._idle_calls),
            is_proof=moment.is_certain_look and known.answer != UNKNOWN and key not in repetition.loose,
        )


def repeated(
    memory: ChainMemory, kind: LoopKind, moment: Moment, count: int, at: int, *, is_proof: bool = True
) -> Finding | None:
    """Returns the finding of a call that keeps coming, `at` times or more; None where it is none.

    `CARRIED_ON` stands for a loop that is known and goes on.
    """
    repetition, registry, known = memory.repetition, memory.registry, moment.memory
    call_key = settled(moment.key)
    loop = call_key + kind.value.encode()
    if count > at and registry.carry(loop, count, repetition.calls, repetition.event):
        return CARRIED_ON
    at = max(at, memory.patience(moment))
    if known is None or count < at:
        return None
    return Finding(
        kind=kind,
        key=loop,
        count=count,
        at=at,
        calls=count,
        first_event=repetition.event_of(repetition.calls - known.first + 1),
        begins=count == at,
        tools=(moment.name,),
        members=frozenset({call_key}),
        is_proof=is_proof and call_key not in repetition.loose,
    )


def known_no_progress(number: int) -> ToolCall:
    """An event of a run that makes three calls in ever another order."""
    query = "abcacbbacbcaacb"[number % 15]
    return probe_call(number, f"found {query}", q=query)


def known_failing_call(number: int) -> ToolCall:
    """An event of a run in which one call fails in ever other words."""
    return probe_call(number, f"error, the {number}th", error=True, command="x")
