"""Ends of sentences, and of clauses.

The rules look at what stands around a full stop; there is no model and no dictionary but a list of
abbreviations. Sentences are for reading what a text says: in doubt they are not cut, as two in one lose less
than one torn in two. Clauses are for looking at what stands at a beginning: in doubt they are cut, and case
says nothing, as people who chat write no capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_CLOSERS = "\"'\u2019\u201d\u00bb)\\]}*_~`\u300d\u300f\uff09\u3011\u300b"
_OPENERS = "\"'\u2018\u201c\u00ab(\\[{*_~`\u300c\u300e\uff08\u3010\u300a\u00bf\u00a1"
_STOPS = ".!?\u2026\u203c\u203d\u2047\u2048\u2049"
# They need no space after them: CJK, Arabic, Urdu, Devanagari, Burmese, Ethiopic, Armenian.
_HARD_STOPS = "\u3002\uff01\uff1f\uff61\u061f\u06d4\u0964\u0965\u104b\u1362\u1367\u0589"
_GREEK = "\u0370-\u03ff\u1f00-\u1fff"  # its question mark looks like a semicolon
_EMOJI = "\u2600-\u27bf\ufe0f\U0001f300-\U0001faff"

# It starts with a set of characters, so that the search skips what is none of them.
_STOP = re.compile(
    rf"[{_STOPS}{_HARD_STOPS};\u037e](?:"
    rf"(?<=[{_STOPS}])(?<![{_STOPS}]{{2}})(?P<more>[{_STOPS}]*+)(?P<closers>[{_CLOSERS}]*+)"
    rf"(?: ?[{_EMOJI}]++)*+(?=\s|\Z)"
    rf"|(?<=[{_HARD_STOPS}])[{_HARD_STOPS}{_STOPS}{_CLOSERS}]*+"
    rf"|(?:(?<=[{_GREEK}];)|(?<=\u037e))(?=\s|\Z))"
)
_NEXT = re.compile(rf"(\s*)[{_OPENERS}]*")

_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")  # U.S, e.g, z.B
_MAY_END = frozenset("etc inc ltd co corp jr sr usw p.m a.m".split())
_BEFORE_NAME = frozenset(
    "al capt cf col dr dra fr gen gov hon lt mme mr mrs ms mx prof rep rev sen sgt sra st viz vs".split()
)
_BEFORE_NUMBER = frozenset(
    "no nr n\u00ba fig figs eq eqs sec secs ch art p pp vol vols ver v line ln abs str ca".split()
)
_BEFORE_LOWER = frozenset(
    "approx apr aug avg bzw dec dept ed eds env esp est evtl excl ext feb ggf incl inkl jan jul jun mar max"
    " min misc nov n\u00fam oct p\u00e1g resp sep sept sig tel".split()
)
_LONGEST_WORD = 12

# As above, it starts with a set of characters.
_CLAUSE_END = re.compile(
    r"[.!?:;\n\u2013\u2014\u3002\uff01\uff1f-](?:(?P<stop>(?<=[.!?:;])[\"')\]*_]*)\s+|(?<=\n)\s*"
    r"|(?<=\s[\u2013\u2014-])[\u2013\u2014-]*\s+|(?<=[\u3002\uff01\uff1f]))"
)
_COLONS = ":;"


def spans(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yields the start and end of each sentence of the prose ``text[start:stop]``."""
    for stop_mark in _STOP.finditer(text, start, stop):
        end = stop_mark.end()
        following = _NEXT.match(text, end, stop)
        after, behind_space = (following.end(), following.end(1)) if following is not None else (end, end)
        if stop_mark["more"] is None or _ends(text, start, stop_mark, after, stop):
            yield start, end
            start = behind_space
    if start < stop:
        yield start, stop


def clauses(text: str, *, colons: bool = True) -> list[tuple[int, int]]:
    """Returns the start and end of each clause of a text, the mark that ends one with it.

    A line ends one, the mark of a sentence, and a dash between spaces.

    Args:
        text: Text in any case.
        colons: Cut at colons and semicolons too.

    >>> text = "ok: it failed, e.g. on v1.2. let me look - now"
    >>> [text[start:end] for start, end in clauses(text)]
    ['ok:', 'it failed, e.g. on v1.2.', 'let me look -', 'now']
    """
    places = []
    start = 0
    for mark in _CLAUSE_END.finditer(text):
        at, after = mark.span()
        sign = text[at]
        goes_on = _is_abbreviation(text, start, at, after) if sign == "." else not colons and sign in _COLONS
        if goes_on and "\n" not in text[at:after]:
            continue
        places.append((start, at + 1))
        start = after
    if start < len(text):
        places.append((start, len(text)))
    return places


def _is_abbreviation(text: str, start: int, at: int, after: int) -> bool:
    """Returns True if the full stop at `at` belongs to an abbreviation, and the clause goes on at `after`."""
    words = text[max(start, at - _LONGEST_WORD) : at].split()
    if not words or after >= len(text):
        return False
    word = words[-1].lstrip(_OPENERS).lower()
    if word in _BEFORE_NUMBER:
        return text[after].isdigit()
    dotted = "." in word and word not in _MAY_END and _DOTTED.fullmatch(word) is not None
    return dotted or word in _BEFORE_NAME


def _ends(text: str, start: int, stop_mark: re.Match[str], after: int, stop: int) -> bool:
    """Returns True if a sentence from `start` ends with the stops found; the text goes on `after`."""
    lower_follows = after < stop and text[after].islower()
    at = stop_mark.start()
    stops = text[at : stop_mark.end("more")]
    if stops not in (".", "\u2026"):
        # "Really?" she said; a ? b : c; and so on ... but "no idea! just try".
        spaced = text[at - 1 : at].isspace()
        return not (lower_follows and (stop_mark["closers"] or spaced or "." in stops))
    return not lower_follows if stops != "." else _full_stop_ends(text, start, at, after, stop)


def _full_stop_ends(text: str, start: int, at: int, after: int, stop: int) -> bool:
    before = text[max(start, at - _LONGEST_WORD) : at]
    if not before or before[-1].isspace():
        return False
    word = before.split()[-1].lstrip(_OPENERS)
    following = text[after] if after < stop else ""
    lowered = word.lower()
    if lowered in _MAY_END:
        return not following.islower()
    initial = len(word) == 1 and word.isupper() and word != "I"
    if initial or lowered in _BEFORE_NAME or _DOTTED.fullmatch(word):
        return not following
    if following.isdigit():
        return lowered not in _BEFORE_NUMBER
    if following.islower():
        return lowered not in _BEFORE_LOWER
    # "1. Load the file 2. Print it": a number that opens a sentence counts it.
    return not (word.isdigit() and at - start == len(word))
