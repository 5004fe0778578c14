"""Which turns are worth reading: a look at their words, before their sentences are cut and judged.

Most turns decide nothing, and reading one takes a hundred times as long as looking at its words. A turn is
left unread only where none of the words stand in it that a rule for choices asks for, however it is marked
up: a turn too many costs time, a decision that is missed is lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from functools import cache

from ebbtide.decisions.turns.turn_rules import SIGN_WORDS, SIGNS
from ebbtide.text.phrases import folded

_LETTERS = bytes(code if chr(code).isascii() and chr(code).islower() else 32 for code in range(256))
_SPACES = re.compile(r"[ \t\r\f\v]{2,}")
_MARKS = "*_`~"
_BLANKS = ("  ", "\t", "\r", "\f", "\v")
_APOSTROPHES = re.compile("[\u2018\u2019\u201a\u201b\u02bc\u2032]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?(?:\s+\"[^\"]*\")?\)")
_TAG = re.compile(r"<[^<>]*>")
_QUOTED = re.compile(r"\n[ \t]*>[> \t]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|([nrtbf])|(.))", re.DOTALL)
_NESTED = 3  # JSON in a text of JSON in a text of JSON


def may_state_choice(turn: str) -> bool:
    """Whether a turn has the words of a choice; where it has not, `candidates_of` finds nothing in it.

    >>> may_state_choice("We'll use SQLite."), may_state_choice("Let me look at the logs.")
    (True, False)
    """
    text = _readings(folded(turn))
    listed = text.encode("ascii", "replace").translate(_LETTERS).decode("ascii").split()
    if not SIGN_WORDS.isdisjoint(listed):
        return True
    # Of the names of JSON fields, letters alone count.
    if "{" in text and "decision" in "".join(listed):
        return True
    tried = _tried().intersection(listed)
    if not tried:
        return False
    for mark in _MARKS:
        text = text.replace(mark, "")
    if any(mark in text for mark in _BLANKS):
        text = _SPACES.sub(" ", text)
    by_word = _by_word()
    return any(_stands(number, word, text) for word in tried for number in by_word[word])


def _stands(number: int, word: str, text: str) -> bool:
    """Whether a sign stands at one of the places of its word."""
    before, after = _patterns(number, word)
    if before is None:
        return after.search(text) is not None
    reach, apart = SIGNS[number].reach, SIGNS[number].apart
    at = text.find(word)
    while at >= 0:
        # Most are parts of other words; of the rest, what follows the word rules out the most.
        if (
            (not apart or text[at - 1 : at].isspace())
            and after.match(text, at)
            and before.search(text[max(0, at - reach) : at])
        ):
            return True
        at = text.find(word, at + 1)
    return False


def _readings(lowered: str) -> str:
    """A text, and below it what it says without markup, escapes and letters of other forms."""
    text = lowered
    if not text.isascii():
        alike = unicodedata.normalize("NFKD", text).lower().replace("\u0131", "i")
        alike = _APOSTROPHES.sub("'", alike)
        if alike != text:
            text = f"{text}\n{alike}"
    if "\\" in text:
        unescaped = text
        for _ in range(_NESTED):
            if "\\" in unescaped:
                unescaped = _ESCAPE.sub(_unescaped, unescaped).lower()
                text = f"{text}\n{unescaped}"
    if "](" in text or "<" in text or ">" in text:
        plain = _TAG.sub(" ", _LINK.sub(r"\1", _QUOTED.sub("\n", text)))
        if plain != text:
            text = f"{text}\n{plain}"
    return text


def _unescaped(escape: re.Match[str]) -> str:
    code, blank, other = escape.groups()
    if code is not None:
        return chr(int(code, 16))
    return " " if blank is not None else str(other)


@cache
def _tried() -> frozenset[str]:
    return frozenset(_by_word())


@cache
def _by_word() -> dict[str, list[int]]:
    by_word = defaultdict(list)
    for number, sign in enumerate(SIGNS):
        for word in sign.words.split():
            by_word[word].append(number)
    return dict(by_word)


@cache
def _patterns(number: int, word: str) -> tuple[re.Pattern[str] | None, re.Pattern[str]]:
    # On first use, not at import.
    sign = SIGNS[number]
    before = re.compile(rf"(?:{sign.before})\Z") if sign.before else None
    return before, re.compile(word + sign.after)
