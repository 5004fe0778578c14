"""What a text asserts, as far as its words show: what is negated, which numbers, what stands on which side.

A reading for comparison, not a parse: scopes end at punctuation and at a few conjunctions. English only;
numbers are read in any language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from itertools import islice, takewhile
from typing import NamedTuple

from ebbtide.text.contrast_words import (
    CONNECTORS,
    FUNCTION_WORDS,
    MODALS,
    NEGATING_BEFORE,
    NEGATING_SUBJECTS,
    NEGATING_VERBS,
    NEGATORS,
    NEVER_ENOUGH,
    NO_NEGATION,
    PARTICLE_VERBS,
    PARTICLES,
    PASSING,
    PASSING_BEFORE_TO,
    PREFERENCES,
    RELATIONS,
    SCOPE_ENDS,
)
from ebbtide.text.quantities import Quantity, quantity_at
from ebbtide.text.stems import bare, spoken, stem

_LONGEST = 2000  # characters of a text that is remembered
_NEAR = 6  # content words that belong to a connector or to one another
_RANGE = re.compile(r"(\d[\d.,]*)(?:-|\u2013|\.\.\.?)(\d[\d.,]*[a-z%]*)")
_LIST_NUMBER = re.compile(r"\(?\d{1,2}[.)]")
_HYPHENATED = re.compile(r"[a-z]+[-\u2010\u2011][a-z]+")
_JOINED = ("re", "non", "un")
_BE = frozenset("be am is are was were been being get gets got".split())
_PREPOSITIONS = frozenset("of in on at by for from to with into as than".split())


class Negation(NamedTuple):
    """One negating word and what it negates.

    Args:
        word: The negating word as it stands.
        heads: Stems that it denies: what follows, and the negating verbs on the way.
        passed: Stems that it passes through: "want" in "do not want to deploy".
        scope: Stems of the content words that it reaches.
        of_subject: It stands before a subject, so that the clause as a whole is negated.
    """

    word: str
    heads: tuple[str, ...]
    passed: tuple[str, ...]
    scope: tuple[str, ...]
    of_subject: bool


class Sides(NamedTuple):
    """The content stems on either side of a connector, the nearest first; one relation has several connectors."""

    relation: str
    left: tuple[str, ...]
    right: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A text, read for what it asserts.

    Args:
        words: Every stem with the first word that has it, in the order of the text.
        affirmed: Stems that stand somewhere under an even number of negations.
        negated: Stems that stand somewhere under an odd number of negations.
        quantities: Its numbers.
        negations: Its negating words.
        sides: Its connectors that tell their two sides apart.
        attachments: Pairs of stems that stand close together in a clause, if there are several clauses.
        particles: Stems with a particle that follows: ("scale", "up").
    """

    words: dict[str, str]
    affirmed: frozenset[str]
    negated: frozenset[str]
    quantities: tuple[Quantity, ...]
    negations: tuple[Negation, ...]
    sides: tuple[Sides, ...]
    attachments: frozenset[tuple[str, str]]
    particles: frozenset[tuple[str, str]]


def read_statement(text: str) -> Statement:
    """What `text` asserts; short texts are read once and remembered."""
    return _read(text) if len(text) <= _LONGEST else _read.__wrapped__(text)


class _Kind(Enum):
    COMMA = 1
    STOP = 2
    LINK = 3
    FUNCTION = 4
    CONTENT = 5
    NUMBER = 6


class _Item(NamedTuple):
    kind: _Kind
    text: str
    stem: str


_MARKS = {",": _Item(_Kind.COMMA, ",", ","), ".": _Item(_Kind.STOP, ".", ".")}
_END = _MARKS["."]
_SAYING = (_Kind.CONTENT, _Kind.NUMBER)


@lru_cache(maxsize=1 << 11)
def _read(text: str) -> Statement:
    items, quantities = _items(list(_words(text.lower())))
    affirmed, negated, negations = _polarity(items)
    words: dict[str, str] = {}
    for item in items:
        if item.kind not in (_Kind.COMMA, _Kind.STOP):
            words.setdefault(item.stem, item.text)
    return Statement(
        words=words,
        affirmed=affirmed,
        negated=negated,
        quantities=quantities,
        negations=negations,
        sides=tuple(_sides(items)),
        attachments=_attachments(items),
        particles=_particles(items),
    )


def _words(text: str) -> Iterator[str]:
    """The words of `text` without punctuation, and a mark where it ends a sentence (.) or clause (,)."""
    last = "."
    chunks = text.replace("\u2014", " \u2014 ").split()
    for chunk in chunks:
        if last in _MARKS and _LIST_NUMBER.fullmatch(chunk) and len(chunks) > 1:
            continue
        for last in _split(chunk):
            yield last


@lru_cache(maxsize=1 << 14)
def _split(chunk: str) -> tuple[str, ...]:
    core = bare(chunk)
    if not core:
        return (".",) if set(chunk) & set(".;!?") else (",",) if chunk.strip("\"'`*") else ()
    tail = chunk[chunk.find(core) + len(core) :]
    before = (",",) if chunk[0] in "([" else ()
    after = (".",) if set(tail) & set(".;!?") else (",",) if set(tail) & set(",:)]") else ()
    if (limits := _RANGE.fullmatch(core)) is not None:
        return (*before, limits[1], limits[2], *after)
    if _HYPHENATED.fullmatch(core):
        parts = re.split("[-\u2010\u2011]", core)
        inner = ("".join(parts),) if parts[0] in _JOINED else tuple(parts)
        return (*before, *inner, *after)
    return (*before, *spoken(core), *after)


def _items(words: Sequence[str]) -> tuple[list[_Item], tuple[Quantity, ...]]:
    items: list[_Item] = []
    quantities: list[Quantity] = []
    at = 0
    while at < len(words):
        word = words[at]
        quantity, taken = (None, 0) if word in _MARKS else quantity_at(words, at)
        if quantity is not None:
            quantities.append(quantity)
        if quantity is not None and taken:
            items.append(_Item(_Kind.NUMBER, quantity.text, f"{quantity.dimension or ''}:{quantity.amount}"))
        elif word in _MARKS:
            items.append(_MARKS[word])
        elif word in ("and", "or", "&", "but"):
            items.append(_Item(_Kind.LINK, word, word))
        else:
            items.append(_Item(_Kind.FUNCTION if word in FUNCTION_WORDS else _Kind.CONTENT, word, stem(word)))
        at += taken or 1
    return items, tuple(quantities)


class _Reach(Enum):
    CLAUSE = 1  # to the end of its scope
    WORD = 2  # the next content word: "less expensive"
    EITHER = 3  # affirms and negates: "whether"
    OBJECT = 4  # to "with" or "by": "replace X with Y"


@dataclass(slots=True)
class _Scope:
    word: str
    reach: _Reach = _Reach.CLAUSE
    of_subject: bool = False
    blames: bool = True
    heads: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    stems: list[str] = field(default_factory=list)
    has_head: bool = False


def _polarity(items: Sequence[_Item]) -> tuple[frozenset[str], frozenset[str], tuple[Negation, ...]]:
    signs: tuple[set[str], set[str]] = (set(), set())
    done: list[_Scope] = []
    scopes: list[_Scope] = []
    for at, item in enumerate(items):
        if item.kind in (_Kind.COMMA, _Kind.STOP) or item.text in SCOPE_ENDS:
            scopes = []
        elif item.text == "and":
            # "Do not drink and drive", "it does not start and nobody knows why".
            scopes = [replace(scope, reach=_Reach.EITHER, has_head=True) for scope in scopes]
        elif item.text in MODALS:
            scopes = [scope for scope in scopes if scope.of_subject or not scope.has_head]
        elif item.text in ("with", "by"):
            scopes = [scope for scope in scopes if scope.reach is not _Reach.OBJECT]
        either = any(scope.reach is _Reach.EITHER for scope in scopes)
        odd = len(scopes) % 2
        signs[odd].add(item.stem)
        if either:
            signs[1 - odd].add(item.stem)
        opened = _scope_at(items, at)
        if item.kind in _SAYING:
            for scope in scopes:
                scope.stems.append(item.stem)
                if not scope.has_head and item.kind is _Kind.CONTENT:
                    passed = item.stem in PASSING or (item.stem in PASSING_BEFORE_TO and _text(items, at + 1) == "to")
                    (scope.passed if passed else scope.heads).append(item.stem)
                    scope.has_head = not passed and opened is None
            scopes = [scope for scope in scopes if scope.reach is not _Reach.WORD]
        if opened is not None:
            scopes.append(opened)
            done.append(opened)
    negations = tuple(
        Negation(
            scope.word, tuple(scope.heads or scope.passed[-1:]), tuple(scope.passed), tuple(scope.stems), scope.of_subject
        )
        for scope in done
        if scope.blames and scope.stems
    )
    return frozenset(signs[0]), frozenset(signs[1]), negations


def _scope_at(items: Sequence[_Item], at: int) -> _Scope | None:
    """The negation that `items[at]` begins."""
    item = items[at]
    before, word, after = _text(items, at - 1), item.text, _text(items, at + 1)
    if word in NEGATORS or word in NEGATING_SUBJECTS:
        return None if _affirms(items, at) else _Scope(word, of_subject=word in NEGATING_SUBJECTS)
    if (word, after) in (("instead", "of"), ("rather", "than"), ("opposed", "to")):
        return _Scope(f"{word} {after}")
    if word == "over" and any(earlier.stem in PREFERENCES for earlier in _clause_before(items, at)):
        return _Scope(word, blames=False)
    if word == "whether":
        return _Scope(word, _Reach.EITHER, blames=False)
    if word == "less":
        return _Scope(word, _Reach.WORD, blames=False)
    if item.stem == "replac":
        return _Scope(word, _Reach.OBJECT, blames=False)
    for governed, verbs in NEGATING_BEFORE.items():
        if item.stem in verbs and (after == governed or (governed == "ing" and after.endswith("ing"))):
            return _Scope(word)
    return _Scope(word, blames=False) if item.stem in NEGATING_VERBS else None


def _affirms(items: Sequence[_Item], at: int) -> bool:
    """Whether the negating word `items[at]` negates nothing: "not only", "in no time"."""
    before, word, after = _text(items, at - 1), items[at].text, _text(items, at + 1)
    if word == "none" and after != "of":
        return True  # In texts about code, None is a value.
    if not NO_NEGATION.isdisjoint(((before, word, after), ("", word, after), (before, word, ""))):
        return True
    return stem(after) in NEVER_ENOUGH and any(item.text == "enough" for item in _clause_after(items, at))


def _text(items: Sequence[_Item], at: int) -> str:
    return items[at].text if 0 <= at < len(items) else ""


def _clause_before(items: Sequence[_Item], at: int) -> Iterator[_Item]:
    return takewhile(lambda item: item.kind not in (_Kind.COMMA, _Kind.STOP), reversed(items[:at]))


def _clause_after(items: Sequence[_Item], at: int) -> Iterator[_Item]:
    return takewhile(lambda item: item.kind not in (_Kind.COMMA, _Kind.STOP), items[at:])


def _content(items: Iterable[_Item]) -> tuple[str, ...]:
    return tuple(islice((item.stem for item in items if item.kind in _SAYING), _NEAR))


def _sides(items: Sequence[_Item]) -> Iterator[Sides]:
    for at, item in enumerate(items):
        for rest, relation, turned in CONNECTORS.get(item.text, ()):
            if tuple(follower.text for follower in items[at + 1 : at + 1 + len(rest)]) == rest:
                yield from _around(items, at, at + 1 + len(rest), relation, turned=turned)
                break
        if item.text == "from":
            yield from _from_to(items, at)
        elif item.stem in RELATIONS:
            yield from _relation(items, at)


def _around(items: Sequence[_Item], at: int, after: int, relation: str, *, turned: bool) -> Iterator[Sides]:
    left = _content(_clause_before(items, at))
    right = _content(_clause_after(items, after))
    if not left:
        # "Instead of X, Y", or "Y, instead of X".
        comma = next((place for place in range(after, len(items)) if items[place].kind is _Kind.COMMA), None)
        if at > 1 and items[at - 1].kind is _Kind.COMMA:
            left = _content(_clause_before(items, at - 1))
        elif comma is not None:
            left = _content(_clause_after(items, comma + 1))
    if left and right:
        yield Sides(relation, right, left) if turned else Sides(relation, left, right)


def _from_to(items: Sequence[_Item], at: int) -> Iterator[Sides]:
    after = list(_clause_after(items, at + 1))
    to = next((place for place, item in enumerate(after) if item.text in ("to", "into")), None)
    if to is not None:
        yield Sides("path", _content(after[:to]), _content(after[to:]))
        return
    before = list(_clause_before(items, at))
    to = next((place for place, item in enumerate(before) if item.text in ("to", "into")), None)
    if to is not None:
        yield Sides("path", _content(after), _content(before[:to]))


def _relation(items: Sequence[_Item], at: int) -> Iterator[Sides]:
    stemmed = items[at].stem
    follower = items[at + 1] if at + 1 < len(items) else _END
    before = [item.text for item in items[max(at - 2, 0) : at]]
    if stemmed == "replac" and not _content(_clause_before(items, at)):
        after = list(_clause_after(items, at + 1))
        new = next((place for place, item in enumerate(after) if item.text in ("with", "by")), None)
        if new is not None:
            yield Sides("choice", _content(after[new:]), _content(after[:new]))
    elif follower.text == "by" and _BE & set(before):
        yield from _around(items, at, at + 2, stemmed, turned=True)
    elif RELATIONS[stemmed]:
        if follower.text == RELATIONS[stemmed]:
            yield from _around(items, at, at + 2, stemmed, turned=False)
    elif follower.text not in _PREPOSITIONS and not _BE & set(before):
        yield from _around(items, at, at + 1, stemmed, turned=False)


def _attachments(items: Sequence[_Item]) -> frozenset[tuple[str, str]]:
    clauses: list[list[str]] = [[]]
    for item in items:
        if item.kind in _SAYING:
            clauses[-1].append(item.stem)
        elif item.kind is not _Kind.FUNCTION and clauses[-1]:
            clauses.append([])
    if sum(map(bool, clauses)) < 2:
        return frozenset()
    return frozenset(
        (min(word, other), max(word, other))
        for clause in clauses
        for at, word in enumerate(clause)
        for other in clause[at + 1 : at + _NEAR]
        if word != other
    )


def _particles(items: Sequence[_Item]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (verb, item.text)
        for at, item in enumerate(items)
        if item.text in PARTICLES
        for verb in _content(_clause_before(items, at))[:3]
        if verb in PARTICLE_VERBS
    )
