"""The two forms of the gate's wordings: one opens a sentence with a word, the other has it anywhere."""

from __future__ import annotations

from ebbtide.text.phrases import Anchor, PhraseRule

_WHOLE = r"(?!\w|['-]\w)"  # neither "here's" nor "up-to-date" is the word that it begins with


def opening(name: str, weight: float, reason: str, *, words: str, then: str = "") -> PhraseRule:
    """A rule for the start of a sentence, linking words aside: one of `words`, and what follows it."""
    pattern = f"{_any_of(words)}{_WHOLE}(?:{then})"
    return PhraseRule(id=name, pattern=pattern, anchor=Anchor.TEXT, weight=weight, reason=reason)


def anywhere(
    name: str, weight: float, reason: str, *, words: str, behind: str = "", before: str = "", then: str = ""
) -> PhraseRule:
    """A rule between word boundaries: one of `words`, and what stands around it.

    Args:
        name: Id of the rule.
        weight: How much it counts.
        reason: What it says of a candidate, in one sentence.
        words: Separated by spaces.
        behind: Lookbehinds at that word.
        before: The part of the phrase that stands before the word, empty where there is none.
        then: The part that follows it.
    """
    pattern = f"(?:{before}){behind}{_any_of(words)}(?!\\w)(?:{then})"
    return PhraseRule(id=name, pattern=pattern, weight=weight, reason=reason)


def preceded_by(words: str) -> str:
    """Lookbehinds for one of some words right before."""
    any_of = "|".join(rf"(?<=\b{word} )" for word in words.split())
    return f"(?:{any_of})"


def _any_of(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"
