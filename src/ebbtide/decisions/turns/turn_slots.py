"""Reads from a sentence that states a choice what was chosen, over what, and why."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import cache
from typing import NamedTuple

from ebbtide.decisions.turns.turn_rules import ALTERNATIVES, REASONS
from ebbtide.text.phrases import Anchor, PhraseRule

_EDGES = " \t,;:-\u2013\u2014\"'"
_ENDS = re.compile(
    r"[,;:?!()]|\.(?:\s|\Z)| [-\u2013\u2014] "
    r"| (?:because|since|so that|due to|given that|rather than|instead|over|in order|unless|until|but)\b"
)
_LONGEST = 120  # characters


class ChoiceSlots(NamedTuple):
    """The choice, the alternative and the reason in the words of the sentence; None if it has none."""

    choice: str | None = None
    over: str | None = None
    why: str | None = None


def slots_of(sentence: str, lowered: str, words: AbstractSet[str]) -> ChoiceSlots:
    """The slots that a sentence fills by itself, whatever rule finds it.

    Args:
        sentence: Its words.
        lowered: The same, folded.
        words: Those of `lowered`, as `words_in` finds them.

    >>> from ebbtide.text.pattern_words import words_in
    >>> text = "Use LRU rather than LFU because it is simpler."
    >>> slots_of(text, text.lower(), words_in(text))
    ChoiceSlots(choice='Use LRU', over='LFU', why='it is simpler')
    """
    slots: dict[str, str] = {}
    for table in (ALTERNATIVES, REASONS):
        for number in table.by_words(words):
            match = _pattern(table.rules[number]).search(lowered)
            if match is not None:
                for name, start in ((name, match.start(name)) for name in match.re.groupindex):
                    if start >= 0:
                        slots[name] = sentence[start : match.end(name)]
                break
    if "over" in slots:
        slots["over"] = until_clause_end(slots["over"]) or slots["over"]
    return ChoiceSlots(**{name: text.strip(_EDGES) or None for name, text in slots.items()})


def until_clause_end(text: str) -> str | None:
    """`text` up to where its clause ends, at most 120 characters; None where nothing stands before that.

    >>> until_clause_end("a queue, since it is there")
    'a queue'
    """
    end = _ENDS.search(text)
    part = (text if end is None else text[: end.start()]).strip(_EDGES).rstrip(".")
    return part[:_LONGEST] or None


@cache
def _pattern(rule: PhraseRule) -> re.Pattern[str]:
    # On first use, not at import.
    behind = r"\A\W*" if rule.anchor is Anchor.TEXT else r"(?<!\w)"
    return re.compile(behind + rule.pattern)
