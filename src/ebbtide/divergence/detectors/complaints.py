"""Complaints of a hook, always the same: nothing that the model does can satisfy what makes them.

A hook lints after each edit and finds the same thousands of errors in a file that it makes anew itself: the
model edits here and there, and is never done. A hook keeps the model from its end, since the tree is not
clean, and writes into the tree each time. A complaint is the same where most of its words are and no
number of what is to do has fallen. A change without a complaint ends the count.

A judge is no different where its scores come no nearer to the one that it wants, whatever else it says.
"""

from __future__ import annotations

import re
from typing import Final

from ebbtide.divergence.chain_memory import Detector, probe_call
from ebbtide.divergence.detectors.injections import named_author
from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.moment import Moment
from ebbtide.divergence.near_duplicates import share, words_of
from ebbtide.divergence.number_series import tallies_of
from ebbtide.events.event import Event, Notice, NoticeKind
from ebbtide.events.identity import key_of
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.text.noise import without_noise

_READ: Final = 2_000  # characters of a complaint that are compared
_HEAD: Final = 100  # of them, those in which a hook names itself
_SAME: Final = 0.8  # of the words of two from which they are the same
_NUMBER: Final = re.compile(r"(?<![\w.])\d{1,6}(?:\.\d{1,3})?(?![\w.]?\d)")
_SCORES: Final = 8  # numbers of a complaint that are compared
_FEW: Final = 2  # calls between two complaints that keep a model from its end, for work that is all but done
_PASSED: Final = 3  # changes since the first, beyond those that were complained of, from which some passed


class Complaints(Detector):
    """Counts equal complaints in a row."""

    _words: frozenset[int] = frozenset()
    _tallies: dict[str, int] = {}
    _count: int = 0
    _first: int = 0
    _changes: int = 0  # of the chain, until the first of them
    _place: int = 0  # of the latest call before the latest of them
    _author: str = ""
    _scores: list[list[float]] = []  # numbers of its latest complaints

    def see(self, moment: Moment) -> Finding | None:
        """Take what the harness says of a call."""
        event, least = moment.event, self._rules.complaints
        if not isinstance(event, Notice) or event.kind is not NoticeKind.NOTE or not event.text:
            return None
        if least is None or "hook" not in event.text[:_HEAD].lower():
            return None
        if (author := named_author(event.text)) is None:
            return None  # what no hook says answers the form of a reply: each reply can be right
        text = without_noise(event.text[:_READ])
        scores = self._rules.scores
        is_judged = scores is not None and self._is_judged(author, text, scores)
        self._take(text, moment.number, answers_call=event.error)
        if not is_judged and self._count < least:
            return None
        count, at = (scores or 0, scores or 0) if self._count < least else (self._count, least)
        return Finding(
            kind=LoopKind.COMPLAINT,
            key=key_of(LoopKind.COMPLAINT, author),
            count=count,
            at=at,
            calls=count,
            first_event=self._first,
            begins=count == at,
            tools=(author,),
            is_proof=False,
        )

    def _is_judged(self, author: str, text: str, least: int) -> bool:
        """Take a complaint; returns True if a number moves and comes no nearer to one that does not."""
        numbers = [float(match) for match in _NUMBER.findall(text)[:_SCORES]]
        if author != self._author or (self._scores and len(self._scores[-1]) != len(numbers)):
            self._author, self._scores = author, []
        if self._memory.repetition.calls > self._place or not self._scores:
            self._scores = [*self._scores[1 - least :], numbers]
        if len(self._scores) < least:
            return False
        columns = list(zip(*self._scores, strict=True))
        wanted = [column[0] for column in columns if len(set(column)) == 1]
        moving = [column for column in columns if len(set(column)) > 1]
        half = least // 2
        for column in moving if wanted else ():
            away = [min(abs(number - goal) for goal in wanted) for number in column]
            if sum(away[-half:]) < sum(away[:half]):
                return False
        return bool(moving and wanted)

    def _take(self, text: str, number: int, *, answers_call: bool) -> None:
        words, tallies, place = words_of(text), tallies_of(text), self._memory.repetition.calls
        before, self._tallies = self._tallies, tallies
        least = _SAME if answers_call else 1.0  # what it is about is one word among many
        same = bool(words) and share(words, self._words) >= least
        is_better = any(tallies.get(word, 0) < amount for word, amount in before.items() if amount > 0)
        calls = place - self._place
        has_acted = calls > 0
        self._words, self._place = words, place
        if same and not has_acted:
            return  # one complaint in two lines, or words that nobody acts on
        passed = self._memory.changes - self._changes - self._count
        if same and not is_better and (passed < _PASSED if answers_call else calls <= _FEW):
            self._count += 1
            return
        self._count, self._first, self._changes = 1, number, self._memory.changes


def known_complaint(number: int) -> Event:
    """An event of a run in which a hook is never satisfied."""
    if number % 2:
        text = "Edit hook: [lint]: 3907 problems in client.gen.ts"
        return Notice(kind=NoticeKind.NOTE, text=text, error=True)
    return probe_call(number, f"saved {number}", path=f"file {number}")
