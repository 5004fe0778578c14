"""Table of many phrase rules: by the words of a text it knows which of them are worth a search.

Three looks, each cheaper than the next: a word that a rule needs is among those of the text; the text has the
word that a match begins with; the pattern matches there. The words are read from the patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, cached_property
from typing import Generic, NamedTuple, TypeVar

from ebbtide.text.pattern_words import FirstWords, first_words, needed_words, words_in
from ebbtide.text.phrases import Anchor, PhraseMatch, PhraseRule

_START = re.compile(r"\W{0,40}([a-z0-9_]*)")
_KEY = re.compile(r"[a-z0-9_]*")
_NO_WORD = "-"
Thing = TypeVar("Thing")


class Start(NamedTuple):
    """Place in a text, in lower case, where only some tables may have a rule that matches."""

    text: str
    at: int
    tables: tuple[PhraseTable, ...]

    def opening(self, table: PhraseTable) -> PhraseMatch | None:
        """Returns the first rule for the start of a text that matches here."""
        return table.opening(self.text, self.at) if table in self.tables else None


class _Search(NamedTuple):
    """Search for a rule that may stand anywhere.

    Args:
        pattern: Its pattern; None where the rule itself is asked.
        first: The words that a match begins with; None where they are not known as whole words.
    """

    rule: PhraseRule
    pattern: re.Pattern[str] | None
    first: frozenset[str] | None


class ByWord(Generic[Thing]):
    """Things by the words that they may begin with, in their order, each once."""

    def __init__(self, begins: Iterable[tuple[Thing, FirstWords]]) -> None:
        self._begins = tuple(begins)
        words = frozenset[str]().union(*(each.whole for _, each in self._begins), [""])
        self._by_word = {word: self._having(word) for word in words}
        self._others = self._having(_NO_WORD)
        self._prefixes = tuple(prefix for _, each in self._begins for prefix in each.prefixes if prefix)

    def __call__(self, word: str) -> tuple[Thing, ...]:
        """Returns those that may begin with `word`, of which the first run of a-z, 0-9 and _ counts."""
        things = self._by_word.get(word)
        if things is not None:
            return things
        if not (word.isalnum() and word.isascii()):
            key = _KEY.match(word)
            if key is not None and key[0] != word:
                return self(key[0])
        return self._having(word) if word.startswith(self._prefixes) else self._others

    def _having(self, word: str) -> tuple[Thing, ...]:
        return tuple(dict.fromkeys(thing for thing, begins in self._begins if begins.allow(word)))


class PhraseTable:
    """Phrase rules that are searched together. Patterns are compiled on first use.

    Args:
        lower: The texts come in lower case, as `folded` gives them, which makes searches cheaper.
        behind: Lookbehind for what stands before a match.
        after: Pattern that must follow a match. Unless it is empty, no word goes on there.
    """

    def __init__(
        self,
        rules: Iterable[PhraseRule],
        *,
        lower: bool = False,
        behind: str = r"(?<!\w)",
        after: str = r"(?!\w)",
    ) -> None:
        self.rules = tuple(rules)
        self._lower = lower
        self._behind = behind
        self._after = after
        self._compiled: dict[int, re.Pattern[str]] = {}
        self._searches: dict[int, _Search] = {}

    def first(self, text: str, words: AbstractSet[str] | None = None) -> PhraseMatch | None:
        """Returns the first match of the first rule that matches, or None; arguments as for `matches`."""
        return next(self._matches(text, words_in(text) if words is None else words), None)

    def matches(
        self,
        text: str,
        words: AbstractSet[str] | None = None,
        sentences: Iterable[tuple[int, int, str]] | None = None,
    ) -> list[PhraseMatch]:
        """Returns the first match of each rule, in the order of the rules.

        Args:
            text: Text to search.
            words: Its words, as `words_in` finds them, others among them; None finds them.
            sentences: Starts and ends of sentences, and their first words: rules for the start of a text may
                stand at the start of each. None is the start of the text, signs aside.
        """
        words = words_in(text) if words is None else words
        if sentences is None:
            return list(self._matches(text, words))
        openings: dict[int, PhraseMatch] = {}
        for start, end, word in sentences:
            for number in self._by_word(word):
                if number in openings:
                    continue
                match = (self._compiled.get(number) or self._pattern(number)).match(text, start, end)
                if match is not None:
                    openings[number] = PhraseMatch(self.rules[number], match[0], *match.span())
        inside = self._search(self.by_words(words), text, 0, len(text), words)
        return [match for _, match in sorted([*openings.items(), *inside])]

    def opening(self, text: str, at: int) -> PhraseMatch | None:
        """Returns the first rule for the start of a text that matches at `at`; the text is in lower case."""
        pattern, numbers = self._any_opening
        match = pattern.match(text, at)
        if match is None or match.lastindex is None:
            return None
        number = numbers[match.lastindex - 1]
        return PhraseMatch(self.rules[number], match[match.lastindex], *match.span(match.lastindex))

    def leftmost(self, text: str, at: int, stop: int, words: AbstractSet[str]) -> PhraseMatch | None:
        """Returns the first match of a rule for anywhere in ``text[at:stop]``, by the first rule there.

        Args:
            text: In lower case.
            at: Start of the part.
            stop: End of the part.
            words: Words of the text, those of the part among them.
        """
        matches = self._search(self.by_words(words), text, at, stop, words)
        return min((match for _, match in matches), key=lambda match: match.start, default=None)

    @cached_property
    def begins(self) -> dict[int, FirstWords]:
        """Beginnings of the matches of the rules for the start, by their place in `rules`."""
        return {
            number: first_words(rule.pattern, bounded=bool(self._after))
            for number, rule in enumerate(self.rules)
            if rule.anchor is Anchor.TEXT
        }

    @cached_property
    def by_words(self) -> RulesByWords:
        """Rules for anywhere, by the words that they need."""
        return self._by_words(Anchor.CLAUSE, Anchor.ANYWHERE)

    def _by_words(self, *anchors: Anchor) -> RulesByWords:
        return RulesByWords(
            (number, needed_words(rule.pattern, bounded=bool(self._after)))
            for number, rule in enumerate(self.rules)
            if rule.anchor in anchors
        )

    @cached_property
    def _all_by_words(self) -> RulesByWords:
        return self._by_words(*Anchor)

    def _matches(self, text: str, words: AbstractSet[str]) -> Iterator[PhraseMatch]:
        for number in self._all_by_words(words):
            for _, match in self._search((number,), text, 0, len(text), words):
                yield match

    def _search(
        self, numbers: Iterable[int], text: str, at: int, stop: int, words: AbstractSet[str]
    ) -> list[tuple[int, PhraseMatch]]:
        """Returns the first place of each of some rules in ``text[at:stop]``, in their order."""
        matches = []
        places: dict[str, Sequence[int]] = {}
        for number in numbers:
            rule, pattern, first = self._searches.get(number) or self._search_of(number)
            if pattern is None:
                phrase = rule.find(text)
                if phrase is not None:
                    matches.append((number, phrase))
                continue
            if first is None:
                match = pattern.search(text, at, stop)
            else:
                match = None
                for word in first & words:
                    where = places.get(word)
                    if where is None:
                        where = places[word] = _places(word, text, at, stop)
                    for place in where:
                        if match is not None and place >= match.start():
                            break
                        match = pattern.match(text, place, stop) or match
            if match is not None:
                matches.append((number, PhraseMatch(rule, match[0], *match.span())))
        return matches

    def _pattern(self, number: int) -> re.Pattern[str]:
        rule = self.rules[number]
        behind = "" if rule.anchor is Anchor.TEXT else self._behind
        # What follows is looked at, and no part of the match.
        after = f"(?={self._after})" if self._after else ""
        pattern = self._compiled[number] = re.compile(f"{behind}(?:{rule.pattern}){after}")
        return pattern

    def _search_of(self, number: int) -> _Search:
        rule = self.rules[number]
        if self._lower and rule.anchor is Anchor.ANYWHERE:
            whole, *others = first_words(rule.pattern, bounded=bool(self._after))
            search = _Search(rule, self._pattern(number), None if any(others) else whole)
        else:
            search = _Search(rule, None, None)
        self._searches[number] = search
        return search

    @cached_property
    def _by_word(self) -> ByWord[int]:
        return ByWord(self.begins.items())

    @cached_property
    def _any_opening(self) -> tuple[re.Pattern[str], list[int]]:
        either = "|".join(f"({self.rules[number].pattern})" for number in self.begins)
        return re.compile(rf"\W{{0,40}}(?:{either}){self._after}"), list(self.begins)


class RulesByWords:
    """Numbers of rules by words of which a match of each has one.

    Args:
        rules: The numbers of the rules, in their order, with these words; None where they are not known.
    """

    def __init__(self, rules: Iterable[tuple[int, frozenset[str] | None]]) -> None:
        self._always: list[int] = []
        self._index: dict[str, list[int]] = {}
        for number, words in rules:
            if words is None:
                self._always.append(number)
            for word in words or ():
                self._index.setdefault(word, []).append(number)
        #: A text that has none of them may match no rule but those that need no word.
        self.words = frozenset(self._index)

    def __call__(self, words: AbstractSet[str]) -> list[int]:
        """Returns the rules that a text may match, in order, by its words, as `words_in` finds them."""
        here = self.words & words
        if not here:
            return self._always
        return sorted({*self._always, *(number for word in here for number in self._index[word])})


class Openings:
    """Finder of the tables that may have a rule that matches where a text goes on.

    >>> table = PhraseTable([PhraseRule(id="x", pattern="let me", anchor=Anchor.TEXT)])
    >>> [start.tables == (table,) for start in map(Openings(table).at, ("- let's go", "- go"))]
    [True, False]
    """

    def __init__(self, *tables: PhraseTable) -> None:
        self._tables = tables

    def at(self, text: str, at: int = 0) -> Start:
        """Returns how `text`, in lower case, goes on at `at`."""
        start = _START.match(text, at)
        tables = self._by_word("" if start is None else start[1])
        if start is not None and at < start.start(1):
            tables += self._behind_signs
        return Start(text, at, tables)

    @cached_property
    def _begins(self) -> list[tuple[PhraseTable, FirstWords]]:
        return [(table, begins) for table in self._tables for begins in table.begins.values()]

    @cached_property
    def _by_word(self) -> ByWord[PhraseTable]:
        return ByWord(self._begins)

    @cached_property
    def _behind_signs(self) -> tuple[PhraseTable, ...]:
        return tuple(table for table, begins in self._begins if begins.symbol)


def _places(word: str, text: str, at: int, stop: int) -> Sequence[int]:
    """Returns the places of a word in ``text[at:stop]``, in order."""
    if text.count(word) == 1:
        place = text.find(word, at, stop)
        return () if place < 0 else (place,)
    return [match.start() for match in _whole(word).finditer(text, at, stop)]


@cache
def _whole(word: str) -> re.Pattern[str]:
    # It starts with the word, not with a boundary: a search for letters is a fast one.
    return re.compile(rf"{word}(?!\w)(?<!\w{word})")
