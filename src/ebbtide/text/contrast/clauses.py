"""A text as words and marks: content words, connecting words, and ends of clauses and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from ebbtide.text.contrast.quantities import Quantity, quantity_at
from ebbtide.text.contrast.words import FUNCTION_WORDS, NEGATING_SUBJECTS, NEGATORS
from ebbtide.text.stems import bare, runs, spoken, stem

NEAR = 6  # content words that belong to a connector or to one another
_FAR = 40  # words beyond which nothing belongs together

_BLOB = 64  # characters of a word beyond which it is data, not remembered and not taken apart
_RANGE = re.compile(r"(\d[\d.,]*)(?:-|\u2013|\.\.\.?)(\d[\d.,]*[a-z%]*)")
_LIST_NUMBER = re.compile(r"\(?\d{1,2}[.)]")
_HYPHENATED = re.compile(r"([a-z]+)[-\u2010\u2011]([a-z]+)")
_JOINED = ("re", "non", "un")
_FUNCTION = FUNCTION_WORDS | NEGATORS | NEGATING_SUBJECTS
_LINKS = ("and", "or", "but", "&")
_STOPS = frozenset(".;!?")


class Kind(Enum):
    """Role of an item in a text."""

    COMMA = 1  #: ends a clause
    STOP = 2  #: ends a sentence
    LINK = 3  #: and, or, but
    FUNCTION = 4  #: says nothing by itself: the, is, of
    CONTENT = 5
    NUMBER = 6


class ClauseItem(NamedTuple):
    """A word, a number or a mark."""

    kind: Kind
    text: str
    stem: str  #: of a number: its dimension and amount


_MARKS = {",": ClauseItem(Kind.COMMA, ",", ","), ".": ClauseItem(Kind.STOP, ".", ".")}
_ENDS = (Kind.COMMA, Kind.STOP)
_SAYING = (Kind.CONTENT, Kind.NUMBER)


def read_items(text: str) -> tuple[list[ClauseItem], tuple[Quantity, ...]]:
    """Returns the items of `text` in order, and the numbers among them."""
    words = list(_words(text.lower()))
    items: list[ClauseItem] = []
    quantities: list[Quantity] = []
    at = 0
    while at < len(words):
        word, length = words[at], 0
        if word in _MARKS:
            items.append(_MARKS[word])
        else:
            quantity, length = quantity_at(words, at)
            if quantity is not None:
                quantities.append(quantity)
            items.append(_item(word, quantity if length else None))
        at += length or 1
    return items, tuple(quantities)


def says(item: ClauseItem) -> bool:
    """Returns True if the item is a content word or a number."""
    return item.kind in _SAYING


def ends_clause(item: ClauseItem) -> bool:
    """Returns True if the item is a mark."""
    return item.kind in _ENDS


def text_at(items: Sequence[ClauseItem], at: int) -> str:
    """Returns the word or mark at that place; empty outside the text."""
    return items[at].text if 0 <= at < len(items) else ""


def clause_before(items: Sequence[ClauseItem], at: int) -> Iterator[ClauseItem]:
    """Yields the items before that place, the nearest first, as far as their clause goes."""
    for place in range(at - 1, max(at - 1 - _FAR, -1), -1):
        if ends_clause(items[place]):
            return
        yield items[place]


def clause_after(items: Sequence[ClauseItem], at: int) -> Iterator[ClauseItem]:
    """Yields the items from that place on, as far as their clause goes."""
    for place in range(at, min(at + _FAR, len(items))):
        if ends_clause(items[place]):
            return
        yield items[place]


def content(items: Iterable[ClauseItem]) -> tuple[str, ...]:
    """Returns the stems of the first few content words and numbers."""
    return tuple(islice((item.stem for item in items if says(item)), NEAR))


def _item(word: str, quantity: Quantity | None) -> ClauseItem:
    if quantity is not None:
        return ClauseItem(Kind.NUMBER, quantity.text, f"{quantity.dimension or ''}:{quantity.amount}")
    return _word_item(word) if len(word) <= _BLOB else _word_item.__wrapped__(word)


@lru_cache(maxsize=1 << 14)
def _word_item(word: str) -> ClauseItem:
    if word in _LINKS:
        return ClauseItem(Kind.LINK, word, word)
    return ClauseItem(Kind.FUNCTION if word in _FUNCTION else Kind.CONTENT, word, stem(word))


def _words(text: str) -> Iterator[str]:
    last = "."
    chunks = text.replace("\u2014", " \u2014 ").split()
    for chunk in chunks:
        # The numbers of a list say nothing, "costs 3." does.
        if last in _MARKS and len(chunks) > 1 and _LIST_NUMBER.fullmatch(chunk):
            continue
        for word in _split(chunk):
            last = word
            yield word


def _split(chunk: str) -> tuple[str, ...]:
    return _remembered_split(chunk) if len(chunk) <= _BLOB else _remembered_split.__wrapped__(chunk)


@lru_cache(maxsize=1 << 14)
def _remembered_split(chunk: str) -> tuple[str, ...]:
    """Returns the words of a white-space separated chunk, and the marks at its edges."""
    core = bare(chunk)
    if not core:
        return (".",) if _STOPS & set(chunk) else (",",) if chunk.strip("\"'`*") else ()
    tail = set(chunk[chunk.find(core) + len(core) :])
    before = (",",) if chunk[0] in "([" else ()
    after = (".",) if _STOPS & tail else (",",) if tail & set(",:)]") else ()
    return (*before, *_parts(core), *after)


def _parts(core: str) -> tuple[str, ...]:
    scripts = runs(core)
    if len(scripts) > 1:
        return tuple(part for run in scripts for part in _parts(run))
    if len(core) > _BLOB:
        return (core,)
    if (limits := _RANGE.fullmatch(core)) is not None:
        return limits[1], limits[2]
    if (halves := _HYPHENATED.fullmatch(core)) is not None:
        return (halves[1] + halves[2],) if halves[1] in _JOINED else (halves[1], halves[2])
    return spoken(core)
