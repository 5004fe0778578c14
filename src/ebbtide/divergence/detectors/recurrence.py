"""The same outcome under ever new attempts: everything moves, and the end of it does not.

An attempt is what a person would name it by: a tool, or the command in a shell. Failures and empty answers
end alike where a line says the same, apart from the arguments, generated names, quoted parts and numbers. A
number that reaches a new extreme is progress: fewer failing tests, a later step, a longer distance. An
attempt with a line that is new, or new in its names, may be: the same error in one file after the other is
repaired step by step. So it takes more of those. What is counted is attempts since something got better. One
that ends well ends the count.

Attempts at one thing resemble each other. A record that is refused and another one that is, or a search for
another thing, are different work, and a service that is down is nobody's doing: of such attempts only every
third counts.

What was changed between two attempts does not matter here, since changing things is what attempts are made
of. So it is a suspicion, and never proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ebbtide.bounded import Bounded
from ebbtide.divergence.chain_memory import Detector, probe_call
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.near_duplicates import words_of
from ebbtide.engine_state import PackedKeys
from ebbtide.events.event import ToolCall
from ebbtide.events.identity import Key, key_of
from ebbtide.events.outcome import CallOutcome
from ebbtide.profile.loop_kinds import LoopKind

_HEADS = 16  # that are followed at once
_LINES = 64  # of one head that are known again
# Of the words of an attempt that failed, those that not all have: from this share on it may be about
# something else, unless this share of those came before.
_OWN, _REUSED = 0.5, 0.4
_WORDS = 256  # of attempts that are known
_APART = 3  # attempts at different things that count as one


@dataclass(slots=True)
class AttemptRow:
    """Attempts of one head in a row, none of which ended well, since something got better."""

    stale: int = 0  # those in a row of which every line had come before
    stale_event: int = 0
    varied: int = 0  # those that had a line in common, but for names, with one before
    varied_event: int = 0
    empty: int = 0  # those that found nothing
    empty_event: int = 0
    apart: int = 0  # those at different things
    words: frozenset[int] = frozenset()  # of the arguments of all
    common: frozenset[int] | None = None  # of them, those that each attempt has
    lowest: list[float] = field(default_factory=list)
    highest: list[float] = field(default_factory=list)
    templates: PackedKeys = field(default_factory=dict)
    wordings: PackedKeys = field(default_factory=dict)

    def is_apart(self, words: frozenset[int], share: float) -> bool:
        """True if an attempt is about another thing than those before; it is one of them from now on.

        Args:
            words: Of its arguments.
            share: Of them, how many have to be its own for that.
        """
        if self.common is None:
            self.common = self.words = words
            return False
        self.common &= words
        steps = words - self.common
        own = {word for word in steps if not word & 1}  # an odd one holds a digit
        reused = len(own & self.words)
        if len(self.words) < _WORDS:
            self.words |= words
        if not own:
            return share == 0 and bool(steps)  # a search in one place, or at one time, after the other
        return len(own) > share * len(words) and reused < _REUSED * len(own)

    def is_better(self, numbers: tuple[float, ...]) -> bool:
        """True if one of the numbers is a new extreme; the extremes are kept."""
        if len(numbers) != len(self.lowest):
            self.lowest, self.highest = list(numbers), list(numbers)
            return False
        better = False
        for place, number in enumerate(numbers):
            if number < self.lowest[place]:
                self.lowest[place], better = number, True
            elif number > self.highest[place]:
                self.highest[place], better = number, True
        return better

    def count(self, lines: tuple[tuple[str, str], ...], event: int) -> None:
        """Take one more attempt that failed, by the lines that say so."""
        templates = [_is_known(self.templates, template) for template, _ in lines]
        wordings = [_is_known(self.wordings, wording) for _, wording in lines]
        self.stale = self.stale + 1 if all(wordings) else 1
        self.varied = self.varied + 1 if any(templates) else 1
        if self.stale == 1:
            self.stale_event = event
        if self.varied == 1:
            self.varied_event = event

    def forget(self) -> None:
        """Something got better."""
        self.stale = self.varied = 0


def _is_known(keys: dict[Key, None], text: str) -> bool:
    """True if a text was there before; it is known from now on."""
    key = key_of(text)
    if key in keys:
        return True
    if len(keys) >= _LINES:
        del keys[next(iter(keys))]
    keys[key] = None
    return False


class Recurrences(Detector):
    """Follows the failing and empty outcomes of one chain."""

    heads: Bounded[str, AttemptRow] = Bounded(_HEADS)

    def reset(self) -> None:
        """Begin afresh: another task, or another run."""
        super().reset()
        self._memory.searches = False

    def see(self, moment: Moment) -> Finding | None:
        """Take a call that ended: one that ends well ends what failed before, and what is found is found."""
        if moment.text is None or (moment.outcome is None and not self.heads):
            return None
        if moment.has_found:
            for attempts in self.heads.values():
                attempts.empty = 0
        finding = None
        if moment.outcome is None:
            self.heads.pop(moment.head, None)
        else:
            finding = self._attempt(moment, moment.outcome)
        self._memory.searches = any(attempts.empty for attempts in self.heads.values())
        return finding

    def _attempt(self, moment: Moment, outcome: CallOutcome) -> Finding | None:
        """Take an attempt that failed or came back empty."""
        head, event = moment.head, moment.number
        attempts = self.heads.pop(head, None)
        if attempts is None:
            attempts = AttemptRow()
        self.heads[head] = attempts
        is_empty = moment.is_empty
        is_apart = attempts.is_apart(moment.words, 0.0 if is_empty else _OWN)
        if moment.policy is not None and moment.policy.spawns is not None:
            is_apart = False  # an agent that cannot be started fails whatever it was to do
        if is_empty and len(attempts.words) < _WORDS:
            attempts.words |= words_of(outcome.lines[0][1])  # what it suggests instead may be tried next
        if is_apart or outcome.is_down or self._is_awaited(moment):
            attempts.apart += 1
            if attempts.apart % _APART:
                return None
        rules = self._rules
        if is_empty:
            attempts.empty += 1
            if attempts.empty == 1:
                attempts.empty_event = event
            counts: tuple[tuple[int, int | None, int], ...] = (
                (attempts.empty, rules.empty_again, attempts.empty_event),
            )
        else:
            if attempts.is_better(outcome.numbers):
                attempts.forget()
            if not outcome.lines:
                return None  # that it failed again says nothing about why
            attempts.count(outcome.lines, event)
            counts = (
                (attempts.stale, rules.outcome_again, attempts.stale_event),
                (attempts.varied, rules.outcome_varied, attempts.varied_event),
            )
        for count, least, first in counts:
            finding = self._registry.streak(
                moment, LoopKind.RECURRENCE, head, outcome.ending, count=count, at=least, first=first
            )
            if finding is not None:
                return finding
        return None

    def _is_awaited(self, moment: Moment) -> bool:
        """Returns True if the same call after a rest waits: a person said so, or what it waits for moves."""
        if not moment.same_since:
            return False
        if self._memory.advanced_at > moment.before:
            return True
        has_rested = moment.has_rested or moment.pause_s > 0
        return has_rested and self._memory.started.announced_s(moment.now) > 0

    def restore(self, state: Any) -> None:
        """Take up what `to_state` gave."""
        super().restore(state)
        self._memory.searches = any(attempts.empty for attempts in self.heads.values())


def known_recurrence(number: int) -> ToolCall:
    """An event of a run that looks for ever other things and finds none."""
    return probe_call(number, "no results", q=f"billing {chr(97 + number % 26) * 3}")
