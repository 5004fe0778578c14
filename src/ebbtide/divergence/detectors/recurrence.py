"""The same outcome under ever new attempts: everything moves, and the end of it does not.

Failures and empty answers are grouped by what a person would call the same: their salient lines without the
arguments, generated names, quoted parts and numbers. A number that reaches a new extreme is progress: fewer failing tests, a
later line, a longer distance. Lines that are new in words, such as another name that is not defined, may be, so that
it takes more of them. What is counted is attempts since then. One that ends well ends the count.

Attempts at one thing resemble each other. A record that is refused and another one that is, or a search for another
thing, are different work, and a service that is down is nobody's doing: of such attempts only every third counts.

What was changed between two attempts does not matter here, since changing things is what attempts are made of. So
it is a suspicion, and never proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ebbtide.divergence.detectors.near_duplicates import share, words_of
from ebbtide.divergence.loop_registry import Finding, LoopRegistry
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.identity import Key, key_of
from ebbtide.events.outcome import Ending, Outcome
from ebbtide.profile.divergence import LoopRules

_GROUPS = 16  # that are followed at once
_ALIKE = 0.4  # of the words of two attempts from which they are about one thing
_APART = 3  # attempts at different things that count as one
_LINES = 32  # salient lines of one group that are known again


@dataclass(slots=True)
class Attempts:
    """Attempts of one kind that ended alike."""

    tool: str
    head: str  # what succeeds when it ends
    first_event: int
    last: int  # place of the latest
    is_empty: bool
    stale: int = 0  # since a line that is new, or a number that may be better
    total: int = 0  # since a number that may be better
    total_event: int = 0
    apart: int = 0  # attempts at different things
    words: frozenset[int] = frozenset()  # of the arguments of the latest
    lowest: list[float] = field(default_factory=list)
    highest: list[float] = field(default_factory=list)
    lines: dict[Key, None] = field(default_factory=dict)


class Recurrences:
    """Follows the failing and empty outcomes of one chain.

    Args:
        rules: The thresholds.
        registry: The loops of the chain.
    """

    __slots__ = ("_registry", "_rules", "groups", "rows")

    def __init__(self, rules: LoopRules, registry: LoopRegistry) -> None:
        self._rules = rules
        self._registry = registry
        self.groups: dict[Key, Attempts] = {}
        # Head -> failures in a row that were all seen before, and the event of the first of them.
        self.rows: dict[str, tuple[int, int]] = {}

    def reset(self) -> None:
        """Begin afresh: another task, or another run."""
        self.groups.clear()
        self.rows.clear()

    def succeeded(self, head: str) -> None:
        """An attempt ended well: what failed in the same way before is over."""
        self.rows.pop(head, None)
        if self.groups:
            over = [key for key, group in self.groups.items() if group.head == head]
            for key in over:
                del self.groups[key]

    def done(self) -> None:
        """Something was done or found: it is another search now."""
        for group in self.groups.values():
            if group.is_empty:
                group.stale = group.total = 0

    def see(  # noqa: PLR0917
        self, tool: str, head: str, args: object, outcome: Outcome, now: int, event: int
    ) -> Finding | None:
        """Take an attempt that failed or came back empty.

        Args:
            tool: Its name.
            args: Its arguments.
            head: What it attempted, as a person would name it: the tool, or the command in a shell.
            outcome: How it ended.
            now: Place among the counted calls.
            event: Number of the event.
        """
        key = key_of(LoopKind.RECURRENCE, outcome.ending, outcome.template)
        group = self.groups.pop(key, None)
        if group is None:
            if len(self.groups) >= _GROUPS:
                del self.groups[next(iter(self.groups))]
            group = Attempts(tool, head, event, now, outcome.ending is Ending.EMPTY)
        self.groups[key] = group
        group.last, group.head = now, head
        words = words_of(args)
        before, group.words = group.words, words
        if group.total and (outcome.is_down or share(before, words) < _ALIKE):
            group.apart += 1
            if group.apart % _APART:
                return None
        row, row_event = self.rows.pop(head, (0, event))
        if self._is_better(group, outcome):
            group.stale = group.total = row = 0
        elif self._is_new(group, outcome):
            group.stale = 0
            row = 0 if not group.total else row
        row += 1
        if len(self.rows) >= _GROUPS:
            del self.rows[next(iter(self.rows))]
        self.rows[head] = (row, row_event if row > 1 else event)
        group.stale += 1
        group.total += 1
        if group.stale == 1:
            group.first_event = event
        if group.total == 1:
            group.total_event = event
        rules = self._rules
        is_empty = outcome.ending is Ending.EMPTY
        for count, least, first in (
            (group.total, rules.empty_again, group.total_event) if is_empty else (0, None, 0),
            (group.stale, rules.outcome_again, group.first_event),
            (group.total, rules.outcome_varied, group.total_event),
            (row, rules.outcome_again, row_event),
        ):
            if least is not None and count >= least:
                return self._registry.streak(
                    LoopKind.RECURRENCE,
                    key,
                    tool,
                    count=count,
                    at=least,
                    first=first,
                    now=now,
                    event=event,
                    is_proof=False,
                )
        return None

    def _is_new(self, group: Attempts, outcome: Outcome) -> bool:
        line = key_of(outcome.salient)
        if line in group.lines:
            return False
        if len(group.lines) >= _LINES:
            del group.lines[next(iter(group.lines))]
        group.lines[line] = None
        return True

    def _is_better(self, group: Attempts, outcome: Outcome) -> bool:
        numbers = outcome.numbers
        if outcome.ending is Ending.EMPTY:
            return False
        if len(numbers) != len(group.lowest):
            group.lowest, group.highest = list(numbers), list(numbers)
            return False
        better = False
        for place, number in enumerate(numbers):
            if number < group.lowest[place]:
                group.lowest[place], better = number, True
            elif number > group.highest[place]:
                group.highest[place], better = number, True
        return better
