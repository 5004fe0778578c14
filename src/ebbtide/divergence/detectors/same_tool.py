"""Runs of one tool: one answer whatever it is asked, arguments that barely move, calls that only grow.

A long answer says something, and saying it six times is stagnation. A short one may be an acknowledgement, or
a check that is green: it says nothing about progress, so only arguments that barely differ speak then, and it
takes more of them. All of it is a suspicion.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.divergence.detectors.near_duplicates import (
    argument_text,
    differ_in_numbers_alone,
    share,
    stem_of,
    words_of,
)
from ebbtide.divergence.loop_registry import Finding, LoopRegistry
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.effect import Effect
from ebbtide.events.identity import UNKNOWN, Answer, Key, canonical, key_of, settled_answer
from ebbtide.events.tool_policy import ToolPolicy
from ebbtide.profile.divergence import LoopRules

_CONTENT = 160  # characters from which an answer says something, and does not only acknowledge
_COMPARED = 100_000  # characters of a growing call that are compared


#: A call as the next one needs to know it: tool, key, bytes of text, key of the answer, number of the event.
Latest = tuple[str, Key, int, Answer, int]
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


class SameTool:
    """Watches the run of one tool that the latest call belongs to.

    Args:
        rules: The thresholds.
        registry: The loops of the chain.
    """

    __slots__ = ("_registry", "_rules", "run")

    def __init__(self, rules: LoopRules, registry: LoopRegistry) -> None:
        self._rules = rules
        self._registry = registry
        self.run = ToolRun()

    def follow(  # noqa: PLR0917
        self,
        before: Latest,
        latest: Latest,
        args: object,
        result: object,
        policy: ToolPolicy | None,
        effect: Effect | None,
        now: int,
        *,
        is_told: bool,
    ) -> Finding | None:
        """Take one more call of the tool of the call before, and say what the run shows.

        Args:
            before: The call before.
            latest: The call.
            args: Its arguments.
            result: Its answer.
            policy: What is declared about its tool.
            effect: What it does.
            now: Its place.
            is_told: Whether it failed or found nothing, which other rules count.
        """
        run = self.run
        _, key, size, answer, event = latest
        if run.last != now - 1:
            run = self.run = ToolRun(first=before[4])
        run.last = now
        finding = None
        if size > before[2]:
            run.grown += 1
            if (
                run.grown > 1
            ):  # two longer calls in a row are common, and comparing texts costs more than counting
                finding = self._grown(latest, args, now)
        else:
            run.grown = 0
        if answer != before[3]:
            run.first = event
            if run.same > 1:
                run.same = 1
                run.long_answers = run.near = run.rewordings = 0
                run.words = None
            return finding
        run.same += 1
        if key == before[1]:  # the very same call is for other rules to judge
            return finding
        self._compare(args, answer_length(result) >= _CONTENT)
        if finding or is_told or effect in (Effect.CHANGE, Effect.ACKNOWLEDGE):
            return finding
        return self._same(latest, policy, effect, now)

    def _compare(self, args: object, says_more: bool) -> None:  # noqa: FBT001
        run = self.run
        run.long_answers = run.long_answers + 1 if says_more else 0
        before, run.words = run.words, words_of(args)
        if before is not None and self._is_near(before, run.words, says_more=says_more):
            run.near += 1
            run.rewordings = run.rewordings + 1 if run.words == before else 0
        else:
            run.near = run.rewordings = 0

    def _is_near(self, before: frozenset[int], words: frozenset[int], *, says_more: bool) -> bool:
        if share(before, words) < self._rules.shared_words:
            return False
        return says_more or not differ_in_numbers_alone(before, words)

    def _same(
        self, latest: Latest, policy: ToolPolicy | None, effect: Effect | None, now: int
    ) -> Finding | None:
        rules, run = self._rules, self.run
        declared = policy is not None and policy.effect is Effect.READ
        if effect is Effect.READ and not declared and not run.long_answers:
            return None  # one thing after the other is checked in a shell, and each time all is well
        least = policy.same_answer_at_least if policy and policy.same_answer_at_least else rules.same_answer
        # The first call of the run was not measured, and the second had nothing to be compared with.
        count = run.same if declared else min(run.same, run.long_answers + 1)
        if least is not None and count >= least:
            return self._finding(LoopKind.SAME_ANSWER, count, least, run.first, latest, now)
        if effect is Effect.READ and not run.long_answers:
            return None  # looked up one by one, and each time there is little to say
        for near, least in ((run.rewordings, rules.rewordings), (run.near, rules.nearly_same)):
            if near and least is not None and near + 2 >= least:
                return self._finding(LoopKind.NEAR_DUPLICATE, near + 2, least, run.first, latest, now)
        return None

    def _grown(self, latest: Latest, args: object, now: int) -> Finding | None:
        run, least = self.run, self._rules.growing
        if least is None:
            return None
        if run.grown == 2:
            run.grown_length = 0
            run.grown_first = latest[4]
        text = argument_text(args)
        if len(text) > _COMPARED:
            run.grown = 0
            return None
        if run.grown_length and key_of(text[: run.grown_length]) != run.grown_start:
            run.grown = 2
            run.grown_first = latest[4]
        run.grown_length = len(text)
        run.grown_start = key_of(text)
        calls = run.grown + 1
        if calls < least:
            return None
        return self._finding(LoopKind.GROWING_CALL, calls, least, run.grown_first, latest, now)

    def _finding(  # noqa: PLR0917
        self, kind: LoopKind, count: int, at: int, first: int, latest: Latest, now: int
    ) -> Finding:
        name, _, _, answer, event = latest
        key = key_of(
            kind, stem_of(name), UNKNOWN if kind is LoopKind.GROWING_CALL else settled_answer(answer)
        )
        return self._registry.streak(
            kind, key, name, count=count, at=at, first=first, now=now, event=event, is_proof=False
        )
