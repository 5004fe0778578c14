"""Polarity of a text: its negating words, how far they reach, and the words that they negate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from ebbtide.text.contrast.clauses import (
    ClauseItem,
    Kind,
    clause_after,
    clause_before,
    content,
    ends_clause,
    says,
    text_at,
)
from ebbtide.text.contrast.words import (
    CLAUSE_STARTS,
    DENYING_VERBS,
    NEGATING_SUBJECTS,
    NEGATING_VERBS,
    NEGATORS,
    NEVER_ENOUGH,
    NO_ADVERBS,
    NO_NEGATION,
    PASSING,
    PASSING_BEFORE_TO,
    PREFERENCES,
    SCOPE_ENDS,
)
from ebbtide.text.stems import stem

_DEEPEST = 8  # negations inside one another
_EXCLUDING = (("instead", "of"), ("rather", "than"), ("opposed", "to"))


class Negation(NamedTuple):
    """One negating word and what it negates.

    Args:
        word: The negating word as it stands.
        heads: Stems that it denies: the stems that follow, and the negating verbs on the way.
        passed: Stems that it passes through: "want" in "do not want to deploy".
        scope: Stems of the content words that it reaches.
        of_subject: It stands before a subject, so that the clause as a whole is negated.
    """

    word: str
    heads: tuple[str, ...]
    passed: tuple[str, ...]
    scope: tuple[str, ...]
    of_subject: bool


class Polarity(NamedTuple):
    """The signs of a text's words.

    Args:
        affirmed: Stems that stand somewhere under an even number of negations.
        negated: Stems that stand somewhere under an odd number of negations.
        negations: The negations that deny something.
    """

    affirmed: frozenset[str]
    negated: frozenset[str]
    negations: tuple[Negation, ...]


def read_polarity(items: Sequence[ClauseItem]) -> Polarity:
    """Returns the signs of the words in `items`."""
    signs: tuple[set[str], set[str]] = (set(), set())
    opened: list[_Scope] = []
    scopes: list[_Scope] = []
    for at, item in enumerate(items):
        scopes = _still_open(scopes, item)
        odd = len(scopes) % 2
        signs[odd].add(item.stem)
        if any(scope.reach is _Reach.EITHER for scope in scopes):
            signs[1 - odd].add(item.stem)
        begun = _scope_at(items, at)
        if says(item):
            passes = _passes(item, text_at(items, at + 1))
            for scope in scopes:
                scope.take(item, passes=passes, negates=begun is not None)
            scopes = [scope for scope in scopes if scope.reach is not _Reach.WORD]
        if begun is not None:
            if begun.word == "without" and scopes:
                begun.reach, begun.denies = _Reach.EITHER, False  # "We cannot ship without tests."
            if begun.of_subject:
                # "We found no link" is "we did not find a link".
                signs[1].update(content(clause_before(items, at))[:1])
            if len(scopes) < _DEEPEST:
                scopes.append(begun)
            opened.append(begun)
    negations = tuple(scope.negation() for scope in opened if scope.denies and scope.stems)
    return Polarity(frozenset(signs[0]), frozenset(signs[1]), negations)


def _passes(item: ClauseItem, after: str) -> bool:
    """Returns True if a negation goes on through this word to the next."""
    if item.stem in PASSING or (item.stem in PASSING_BEFORE_TO and after == "to"):
        return True
    return item.text.endswith("ly") and item.stem not in NO_ADVERBS


class _Reach(Enum):
    CLAUSE = 1  # to the end of its clause
    WORD = 2  # the next content word: "less expensive"
    OBJECT = 3  # to "with" or "by": "replace X with Y"
    EITHER = 4  # perhaps: what follows counts as affirmed and as negated


@dataclass(slots=True)
class _Scope:
    word: str
    reach: _Reach = _Reach.CLAUSE
    of_subject: bool = False
    denies: bool = True
    has_head: bool = False
    heads: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    stems: list[str] = field(default_factory=list)

    def take(self, item: ClauseItem, *, passes: bool, negates: bool) -> None:
        self.stems.append(item.stem)
        if not self.has_head and item.kind is Kind.CONTENT:
            (self.passed if passes else self.heads).append(item.stem)
            self.has_head = not passes and not negates

    def negation(self) -> Negation:
        heads = self.heads or self.passed[-1:]
        return Negation(self.word, tuple(heads), tuple(self.passed), tuple(self.stems), self.of_subject)


def _still_open(scopes: list[_Scope], item: ClauseItem) -> list[_Scope]:
    """Returns the scopes that reach `item`."""
    if not scopes:
        return scopes
    if ends_clause(item) or item.text in SCOPE_ENDS:
        return []
    if item.text == "and":
        # "Do not drink and drive", "it does not start and nobody knows why". The lists stay shared: what
        # follows still belongs to the negation.
        return [replace(scope, reach=_Reach.EITHER, has_head=True) for scope in scopes]
    if item.text in CLAUSE_STARTS:
        return [scope for scope in scopes if scope.of_subject or not scope.has_head]
    if item.text in ("with", "by"):
        return [scope for scope in scopes if scope.reach is not _Reach.OBJECT]
    return scopes


def _scope_at(items: Sequence[ClauseItem], at: int) -> _Scope | None:
    """Returns the scope that the word at that place opens."""
    item = items[at]
    word, after = item.text, text_at(items, at + 1)
    if word in NEGATORS or word in NEGATING_SUBJECTS:
        return None if _affirms(items, at) else _Scope(word, of_subject=word in NEGATING_SUBJECTS)
    if (word, after) in _EXCLUDING:
        return _Scope(f"{word} {after}")
    for ending, verbs in DENYING_VERBS.items():
        if item.stem in verbs and (ending in ("", after) or (ending == "-ing" and after.endswith("ing"))):
            return _Scope(word)
    if item.stem in NEGATING_VERBS or (word == "over" and _prefers(items, at)):
        return _Scope(word, denies=False)
    if word == "few" and text_at(items, at - 1) != "a":
        return _Scope(word, denies=False)
    if word == "whether":
        return _Scope(word, _Reach.EITHER, denies=False)
    if word == "less":
        return _Scope(word, _Reach.WORD, denies=False)
    return _Scope(word, _Reach.OBJECT, denies=False) if item.stem == "replac" else None


def _prefers(items: Sequence[ClauseItem], at: int) -> bool:
    return any(item.stem in PREFERENCES for item in clause_before(items, at))


def _affirms(items: Sequence[ClauseItem], at: int) -> bool:
    """Returns True if the negating word at that place negates nothing: "not only", "in no time"."""
    before, word, after = text_at(items, at - 1), items[at].text, text_at(items, at + 1)
    if word == "none" and after != "of":
        return True  # In texts about code, None is a value.
    if not NO_NEGATION.isdisjoint(((before, word, after), ("", word, after), (before, word, ""))):
        return True
    return stem(after) in NEVER_ENOUGH and any(item.text == "enough" for item in clause_after(items, at))
