"""Complaints of a hook after each change, always the same: no change can satisfy what makes them.

A hook lints after each edit and finds the same thousands of errors in a file that it makes anew itself: the
model edits here and there, and is never done. A complaint is the same where most of its words are and no
number of what is to do has fallen. A change without a complaint ends the count.
"""

from __future__ import annotations

from typing import Final

from ebbtide.divergence.chain_memory import ChainMemory, Detector, probe_call
from ebbtide.divergence.detectors.injections import named_author
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.near_duplicates import share, words_of
from ebbtide.divergence.number_series import tallies_of
from ebbtide.divergence.signals import LoopKind
from ebbtide.events.event import Event, Notice, NoticeKind
from ebbtide.events.identity import key_of
from ebbtide.text.noise import without_noise

_READ: Final = 2_000  # characters of a complaint that are compared
_HEAD: Final = 100  # of them, those in which a hook names itself
_SAME: Final = 0.8  # of the words of two from which they are the same
_PASSED: Final = 3  # changes since the first, beyond those that were complained of, from which some passed


class Complaints(Detector):
    """Counts equal complaints in a row."""

    __slots__ = ("_changes", "_count", "_first", "_place", "_tallies", "_words")

    _words: frozenset[int]
    _tallies: dict[str, int]
    _count: int
    _first: int
    _changes: int  # of the chain, until the first of them
    _place: int  # of the latest call before the latest of them

    def __init__(self, memory: ChainMemory) -> None:
        super().__init__(memory)
        self.reset()

    def reset(self) -> None:
        """Begin afresh: a person said something new."""
        self._words = frozenset()
        self._tallies = {}
        self._count = self._first = self._changes = self._place = 0

    def see(self, moment: Moment) -> Finding | None:
        """Take what the harness says of a call."""
        event, least = moment.event, self._rules.complaints
        if not isinstance(event, Notice) or event.kind is not NoticeKind.NOTE or not event.error:
            return None
        if not event.text or least is None or "hook" not in event.text[:_HEAD].lower():
            return None
        if (author := named_author(event.text)) is None:
            return None  # what no hook says answers the form of a reply: each reply can be right
        self._take(without_noise(event.text[:_READ]), moment.number)
        if self._count < least:
            return None
        return Finding(
            kind=LoopKind.COMPLAINT,
            key=key_of(LoopKind.COMPLAINT, author),
            count=self._count,
            at=least,
            calls=self._count,
            first_event=self._first,
            begins=self._count == least,
            tools=(author,),
            is_proof=False,
        )

    def _take(self, text: str, number: int) -> None:
        words, tallies, place = words_of(text), tallies_of(text), self._memory.repetition.calls
        before, self._tallies = self._tallies, tallies
        same = bool(words) and share(words, self._words) >= _SAME
        is_better = any(tallies.get(word, 0) < amount for word, amount in before.items() if amount > 0)
        has_acted = place > self._place
        self._words, self._place = words, place
        if same and not has_acted:
            return  # one complaint in two lines, or words that nobody acts on
        passed = self._memory.changes - self._changes - self._count
        if same and not is_better and passed < _PASSED:
            self._count += 1
            return
        self._count, self._first, self._changes = 1, number, self._memory.changes


def known_complaint(number: int) -> Event:
    """An event of a run in which a hook is never satisfied."""
    if number % 2:
        text = "Edit hook: [lint]: 3907 problems in client.gen.ts"
        return Notice(kind=NoticeKind.NOTE, text=text, error=True)
    return probe_call(number, f"saved {number}", path=f"file {number}")
