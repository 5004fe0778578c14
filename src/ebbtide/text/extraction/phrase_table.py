"""Many phrase rules as one regular expression, so that a text is read once and not once a rule."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import NamedTuple

from ebbtide.text.phrases import Anchor, PhraseRule


class Hit(NamedTuple):
    """The id of a rule and the place ``text[start:end]`` of the words that it matched."""

    rule: str
    start: int
    end: int


class PhraseTable:
    """Phrase rules, found together in a text that `folded` has put into lower case.

    The patterns must have no groups of their own, and are compiled on first use.

    Args:
        rules: Rules for the start of the text and for anywhere; of two that match, the first counts.
        before: What must stand before a rule for anywhere.
        after: What must follow a rule.
        words: Words of which every match of a rule for anywhere has one, so that most texts need no
            search. None searches every text.
    """

    def __init__(
        self,
        rules: Iterable[PhraseRule],
        *,
        before: str = r"(?<!\w)",
        after: str = r"(?!\w)",
        words: AbstractSet[str] | None = None,
    ) -> None:
        self.rules = tuple(rules)
        self._before = before
        self._after = after
        self._words = words

    def opening(self, text: str, at: int = 0) -> Hit | None:
        """The first rule for the start of the text that matches at `at`."""
        pattern, ids = self._opening
        return _hit(pattern.match(text, at), ids)

    def inside(self, text: str, at: int, stop: int, words: Iterable[str]) -> Hit | None:
        """The first place in ``text[at:stop]`` where a rule for anywhere matches; `words` are its words."""
        if self._words is not None and self._words.isdisjoint(words):
            return None
        pattern, ids = self._inside
        return _hit(pattern.search(text, at, stop), ids)

    @cached_property
    def _opening(self) -> tuple[re.Pattern[str], list[str]]:
        return self._compiled(Anchor.TEXT, r"\W{0,40}")

    @cached_property
    def _inside(self) -> tuple[re.Pattern[str], list[str]]:
        return self._compiled(Anchor.ANYWHERE, self._before)

    def _compiled(self, anchor: Anchor, before: str) -> tuple[re.Pattern[str], list[str]]:
        rules = [rule for rule in self.rules if rule.anchor is anchor]
        either = "|".join(f"({rule.pattern})" for rule in rules)
        return re.compile(f"{before}(?:{either}){self._after}"), [rule.id for rule in rules]


def _hit(found: re.Match[str] | None, ids: list[str]) -> Hit | None:
    if found is None or found.lastindex is None:
        return None
    return Hit(ids[found.lastindex - 1], *found.span(found.lastindex))


def folded(text: str) -> str:
    """`text` in lower case and with straight apostrophes, every character in its place."""
    return text.replace("\u2019", "'").replace("\u0130", "I").lower()
