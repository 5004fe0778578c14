"""Runs of one tool: one answer whatever it is asked, arguments that barely move, calls that only grow.

A long answer says something, and saying it six times is stagnation. A short one may be an acknowledgement, or
a check that is green: it says nothing about progress, so only arguments that barely differ speak then, and it
takes more of them. All of it is a suspicion.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.divergence.chain_memory import ChainMemory, Detector, probe_call
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.near_duplicates import (
    argument_text,
    differ_in_numbers_alone,
    share,
    stem_of,
)
from ebbtide.events.effect import Effect
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import (
    UNKNOWN,
    Key,
    SettledAnswer,
    SettledKey,
    canonical,
    key_of,
    settled_answer,
)
from ebbtide.profile.loop_kinds import LoopKind

_CONTENT = 160  # characters from which an answer says something, and does not only acknowledge
_COMPARED = 100_000  # characters of a growing call that are compared


#: A call as the next one needs to know it: tool, key, bytes of text, key of the answer, number of the event.
Latest = tuple[str, SettledKey, int, SettledAnswer, int]
NO_CALL: Latest = ("", UNKNOWN, 0, UNKNOWN, 0)


@dataclass(slots=True)
class ToolRun:
    """The calls of one tool in a row, as far as later ones need to know them."""

    last: int = -1  # place of the latest of them
    first: int = 0  # number of the event since which the answer is the same
    same: int = 1  # calls in a row with that answer
    long_answers: int = 0  # of those, the ones whose answer was long
    near: int = 0  # of those, the last ones whose arguments were nearly the same
    rewordings: int = 0  # of those, the last ones that had the very same words
    words: frozenset[int] | None = None
    grown: int = 0  # calls in a row that were longer than the one before
    grown_first: int = 0
    grown_length: int = 0
    grown_start: Key = UNKNOWN  # stands for the text of the latest of them


def answer_length(result: object) -> int:
    """Characters of an answer; 0 where it is not known."""
    if type(result) is str:
        return len(result)
    if result is None:
        return 0
    if isinstance(result, str | bytes | bytearray):
        return len(result)
    return len(canonical(result) or "")


class SameTool(Detector):
    """Watches the run of one tool that the latest call belongs to."""

    run: ToolRun
    latest: Latest = NO_CALL

    def __init__(self, memory: ChainMemory) -> None:
        super().__init__(memory)
        self.run = ToolRun()

    def see(self, moment: Moment) -> Finding | None:
        """Take one more call, and say what the run shows where it is of the tool of the call before."""
        before = self.latest
        name, answer = moment.name, moment.answer
        self.latest = latest = (name, moment.key, moment.size, answer, moment.number)
        if name != before[0] and (answer != before[3] or stem_of(name) != stem_of(before[0])):
            return None
        run, now = self.run, moment.now
        if run.last != now - 1:
            run = self.run = ToolRun(first=before[4])
        run.last = now
        finding = None
        if latest[2] > before[2]:
            run.grown += 1
            if (
                run.grown > 1
            ):  # two longer calls in a row are common, and comparing texts costs more than counting
                finding = self._grown(moment)
        else:
            run.grown = 0
        if answer != before[3]:
            run.first = moment.number
            if run.same > 1:
                run.same = 1
                run.long_answers = run.near = run.rewordings = 0
                run.words = None
            return finding
        effect = moment.read_effect()
        run.same += 1
        if moment.key == before[1]:  # the very same call is for other rules to judge
            return finding
        self._compare(moment.words, answer_length(moment.result) >= _CONTENT)
        # That it failed or found nothing is for other rules to count.
        if finding or moment.outcome is not None or effect in (Effect.CHANGE, Effect.ACKNOWLEDGE):
            return finding
        return self._same(moment)

    def _compare(self, words: frozenset[int], says_more: bool) -> None:  # noqa: FBT001
        run = self.run
        run.long_answers = run.long_answers + 1 if says_more else 0
        before, run.words = run.words, words
        if before is not None and self._is_near(before, words, says_more=says_more):
            run.near += 1
            run.rewordings = run.rewordings + 1 if words == before else 0
        else:
            run.near = run.rewordings = 0

    def _is_near(self, before: frozenset[int], words: frozenset[int], *, says_more: bool) -> bool:
        if share(before, words) < self._rules.shared_words:
            return False
        return says_more or not differ_in_numbers_alone(before, words)

    def _same(self, moment: Moment) -> Finding | None:
        policy, effect = moment.policy, moment.effect
        rules, run = self._rules, self.run
        declared = policy is not None and policy.effect is Effect.READ
        if effect is Effect.READ and not declared and not run.long_answers:
            return None  # one thing after the other is checked in a shell, and each time all is well
        least = policy.same_answer_at_least if policy and policy.same_answer_at_least else rules.same_answer
        # The first call of the run was not measured, and the second had nothing to be compared with.
        count = run.same if declared else min(run.same, run.long_answers + 1)
        finding = self._finding(LoopKind.SAME_ANSWER, count, least, run.first, moment)
        if finding is not None:
            return finding
        if effect is Effect.READ and not run.long_answers:
            return None  # looked up one by one, and each time there is little to say
        for near, least in ((run.rewordings, rules.rewordings), (run.near, rules.nearly_same)):
            if near:
                finding = self._finding(LoopKind.NEAR_DUPLICATE, near + 2, least, run.first, moment)
                if finding is not None:
                    return finding
        return None

    def _grown(self, moment: Moment) -> Finding | None:
        run, least = self.run, self._rules.growing
        if least is None:
            return None
        if run.grown == 2:
            run.grown_length = 0
            run.grown_first = moment.number
        text = argument_text(moment.args)
        if len(text) > _COMPARED:
            run.grown = 0
            return None
        if run.grown_length and key_of(text[: run.grown_length]) != run.grown_start:
            run.grown = 2
            run.grown_first = moment.number
        run.grown_length = len(text)
        run.grown_start = key_of(text)
        return self._finding(LoopKind.GROWING_CALL, run.grown + 1, least, run.grown_first, moment)

    def _finding(
        self, kind: LoopKind, count: int, at: int | None, first: int, moment: Moment
    ) -> Finding | None:
        if at is None or count < at:
            return None
        answer = UNKNOWN if kind is LoopKind.GROWING_CALL else settled_answer(moment.answer)
        return self._registry.streak(
            moment, kind, stem_of(moment.name), answer, count=count, at=at, first=first
        )


def known_same_answer(number: int) -> ToolCall:
    """An event of a run in which a tool says one thing, whatever it is asked."""
    answer = "There are three tools: read, grep and glob. " * 4
    return probe_call(number, answer, q=chr(97 + number % 26) * (1 + number // 26))


_WORDS = "votes answers questions polls survey".split()


def known_near_duplicate(number: int) -> ToolCall:
    """An event of a run that asks the same in another order of words."""
    turn = number % len(_WORDS)
    return probe_call(number, "ten hits", q=" ".join(_WORDS[turn:] + _WORDS[:turn]))


def known_growing_call(number: int) -> ToolCall:
    """An event of a run that appends to its command each time."""
    return probe_call(number, f"{number} hits", c="ls" + " && grep x y" * number)
