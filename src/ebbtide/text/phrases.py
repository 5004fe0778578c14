"""Phrase rules: wordings that mean something, as data.

A rule is an id, a pattern, where it may stand, and a weight. Patterns are regular expressions
without anchors of their own; word boundaries are added, so that "unblocked" never matches "blocked".
Many rules at once are searched by `ebbtide.text.phrase_table`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import NamedTuple


class Anchor(StrEnum):
    """Place where a phrase must stand to count."""

    TEXT = "text"  #: at the start of the text
    CLAUSE = "clause"  #: at the start of the text or after . ! ? ; : , or a dash
    ANYWHERE = "anywhere"


_LEFT = {
    Anchor.TEXT: r"\A\W*",
    Anchor.CLAUSE: r"(?:\A\W*|[.!?;:,\u2013\u2014]\s*|\n[^\S\n]*|\s-\s+)",
    Anchor.ANYWHERE: r"(?<!\w)",
}


@cache
def _compiled(anchor: Anchor, pattern: str) -> re.Pattern[str]:
    # On first use, not at import: a few hundred rules take longer to compile than a program to start.
    return re.compile(f"{_LEFT[anchor]}(?P<phrase>{pattern})(?!\\w)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseRule:
    """Wording that means something.

    Args:
        id: Stable name, shown as evidence.
        pattern: Regular expression of the phrase, matched case-insensitively between word boundaries. It has
            no groups of its own that capture.
        weight: Weight on the scale of the rule table it belongs to.
        reason: Its meaning for a text, in one sentence; empty if the id says it all.
    """

    id: str
    pattern: str
    anchor: Anchor = Anchor.ANYWHERE
    weight: float = 1.0
    reason: str = ""

    def find(self, text: str) -> PhraseMatch | None:
        """Returns the first place in `text` where the phrase stands, or None."""
        pattern = _compiled(self.anchor, self.pattern)
        match = pattern.match(text) if self.anchor is Anchor.TEXT else pattern.search(text)
        return None if match is None else PhraseMatch(self, match["phrase"], *match.span("phrase"))

    def replace(self, text: str, replacement: str) -> str:
        """Returns `text` with each phrase that is found, from left to right, replaced by another text.

        >>> PhraseRule(id="x", pattern="no blockers?").replace("No blockers, no blocker.", "-")
        '-, -.'
        """
        pattern = _compiled(self.anchor, self.pattern)
        parts, end = [], 0
        for match in pattern.finditer(text):
            parts += [text[end : match.start("phrase")], replacement]
            end = match.end("phrase")
        return "".join((*parts, text[end:]))


def at_start(name: str, pattern: str) -> PhraseRule:
    """Returns a rule of that name for the start of a text."""
    return PhraseRule(id=name, pattern=pattern, anchor=Anchor.TEXT)


def at_clause(name: str, pattern: str) -> PhraseRule:
    """Returns a rule of that name for the start of a clause."""
    return PhraseRule(id=name, pattern=pattern, anchor=Anchor.CLAUSE)


def anywhere(name: str, pattern: str) -> PhraseRule:
    """Returns a rule of that name for any place in a text."""
    return PhraseRule(id=name, pattern=pattern)


class PhraseMatch(NamedTuple):
    """A rule and the words that it matched, at ``text[start:end]``."""

    rule: PhraseRule
    phrase: str
    start: int
    end: int


def folded(text: str) -> str:
    """Returns `text` in lower case and with straight apostrophes, every character in its place."""
    return text.replace("\u2019", "'").replace("\u0130", "I").lower()
