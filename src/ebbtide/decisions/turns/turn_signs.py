"""Selects the turns worth reading: a look for the rules' own wordings, before sentences are cut and judged.

Most turns decide nothing, and reading one takes a hundred times as long as this look. It searches a turn,
markup left out, for the rules that read its sentences, without their anchors and the looks around them: each
is weaker than the rule that it stands for. A turn too many costs time, a decision that is missed is lost.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from ebbtide.decisions.turns.turn_rules import (
    ALTERNATIVES,
    CHOICES,
    COMMITMENTS,
    RECOMMENDATIONS,
    RECORDS,
)
from ebbtide.text.extraction.rules import DECISIONS, LABELS, SECTIONS
from ebbtide.text.pattern_words import words_in
from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import Anchor, PhraseRule, folded

_APOSTROPHES = re.compile("[\u2018\u2019\u201a\u201b\u02bc\u2032]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?(?:\s+\"[^\"]*\")?\)")
_TAG = re.compile(r"<[^<>]*>")
_QUOTED = re.compile(r"\n[ \t]*>[> \t]*")
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|([nrtbf])|(.))", re.DOTALL)
_NESTED = 3  # JSON in a text of JSON in a text of JSON
_MARKS = "*_`~"
_INNER = re.compile(r"(?<=\w)[*`~]++(?=\w)")
# What stands before a cue: any words.
_LEAD = re.compile(
    r"\A(?:\(\?P<choice>\[\^[^\]]*\]\{\d+,\d+\}\??\)\??(?:,\? \?)?"
    r"|\(\?:\[\\w-\](?:\+|\{\d,\d+\}) \)\{\d,\d\})"
)
_LOOK = re.compile(r"\(\?<?[=!]")


def may_state_choice(turn: str) -> bool:
    """Returns True if a model's turn has the words of a choice; if not, `candidates_of` finds nothing in it.

    >>> may_state_choice("We'll use SQLite."), may_state_choice("The logs are long.")
    (True, False)
    """
    lowered = folded(turn)
    text = _read(lowered)
    words = words_in(text)
    # Of the names of JSON fields, letters alone count.
    if "{" in text and "decision" in "".join(words):
        return True
    deciding, committing, alternatives = _tables()
    if deciding.first(text, words) is not None:
        return True
    if alternatives.first(text, words) is None or committing.first(text, words) is None:
        return False
    # No sentence goes on behind an empty line.
    paragraphs = lowered.split("\n\n")
    return len(paragraphs) == 1 or any(
        alternatives.first(part) is not None and committing.first(part) is not None
        for part in map(_read, paragraphs)
    )


def without_looks(pattern: str) -> str:
    """A pattern without its looks ahead and behind, which matches wherever it does.

    >>> without_looks("(?<!if )we (?:keep(?! (?:on|going))|use) it")
    'we (?:keep|use) it'
    """
    parts, at = [], 0
    while look := _LOOK.search(pattern, at):
        parts.append(pattern[at : look.start()])
        depth, at = 1, look.end()
        while depth:
            sign = pattern[at]
            at += 2 if sign == "\\" else 1
            depth += (sign == "(") - (sign == ")")
    return "".join((*parts, pattern[at:]))


@cache
def _tables() -> tuple[PhraseTable, PhraseTable, PhraseTable]:
    """Builds three tables of phrases: choices, choices only beside an alternative, and alternatives."""
    extracted = (rule for rule in (*DECISIONS, *LABELS, *SECTIONS) if rule.id.startswith("decision."))
    own = (rule for table in (CHOICES, RECOMMENDATIONS, RECORDS) for rule in table.rules)
    return _weaker((*own, *extracted)), _weaker(COMMITMENTS.rules), _weaker(ALTERNATIVES.rules)


def _weaker(rules: Iterable[PhraseRule]) -> PhraseTable:
    return PhraseTable(
        [
            replace(rule, pattern=_LEAD.sub("", without_looks(rule.pattern)), anchor=Anchor.ANYWHERE)
            for rule in rules
        ],
        lower=True,
        behind="",
    )


def _read(lowered: str) -> str:
    text = _readings(lowered)
    if _INNER.search(text) is not None:  # such a mark may stand within a word, or between two
        text = f"{text}\n{_INNER.sub(' ', text)}"
    for mark in _MARKS:
        text = text.replace(mark, "")
    return " ".join(text.split())


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
