"""The words that a match of a pattern begins with and has in it, so that a text without them is not searched.

Reads what phrase rules are written in: literals, sets, groups, alternatives, repeats, looks around. It allows
too much rather than too little: a word that it does not know whole it gives as a prefix, "" at the worst.

Source: the idea of Russ Cox, "Regular Expression Matching with a Trigram Index", 2012: from a pattern to what
every match of it has. Here it is words, as phrases stand between word boundaries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")
_APART = bytes(code if chr(code) in _CHARACTERS else 32 for code in range(256))
# What a pattern takes for an ASCII letter where case does not count, and lower() does not make one.
_ALIKE = (("\u0130", "i"), ("\u0131", "i"), ("\u017f", "s"), ("\u212a", "k"))

_TOKEN = re.compile(
    r"(?P<word>[a-z]{2,}(?![?*+{]))|(?P<look>\(\?<?[=!])|(?P<open>\((?:\?(?:P<\w+>|[a-z-]*:))?)|(?P<close>\))"
    r"|(?P<either>\|)|(?P<many>(?:[?*+]|\{\d*(?:,\d*)?\})[?+]?)|(?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<place>[$^]|\\[AZbB])|(?P<one>\\(?:x..|u....|U........|.)|[^\\])",
    re.DOTALL,
)
_IN_SET = re.compile(r"\\(?:x..|u....|U........|.)|[^\\]", re.DOTALL)
_NONE: frozenset[str] = frozenset()
_COMMON = frozenset("a and are be for i in is it let of s t that the this to was we were with you".split())


def words_in(text: str) -> frozenset[str]:
    """Returns the words of a text: every run of a-z, 0-9 and _, in lower case.

    >>> sorted(words_in("Don't touch job_1!"))
    ['don', 'job_1', 't', 'touch']
    """
    if not text.isascii():
        for sign, letter in _ALIKE:
            text = text.replace(sign, letter)  # a table would look up each letter of the text
    return frozenset(text.lower().encode("ascii", "replace").translate(_APART).decode("ascii").split())


class FirstWords(NamedTuple):
    """Beginnings of the matches of a pattern, in words as `words_in` finds them.

    Args:
        whole: Words with which a match may begin.
        prefixes: Beginnings of such words, where the whole word is not known.
        symbol: A match may begin with what is no letter, digit or _.
        letter: It may begin with a letter or digit outside ASCII.
    """

    whole: frozenset[str]
    prefixes: tuple[str, ...]
    symbol: bool
    letter: bool

    def allow(self, word: str) -> bool:
        """Returns True if a match may begin with a word; "" stands for a letter or digit outside ASCII."""
        return word in self.whole or word.startswith(self.prefixes) or (self.letter and not word)


@cache
def first_words(pattern: str, *, bounded: bool = True) -> FirstWords:
    """Returns the beginnings of a pattern's matches, whatever their case.

    Args:
        pattern: A regular expression in the subset that phrase rules use.
        bounded: No word goes on behind a match.

    >>> found = first_words("(?:so )*(?:let's|hm+) (?:go|run)")
    >>> sorted(found.whole), found.prefixes
    (['let', 'so'], ('hm',))
    """
    return _Walk(_Reader(pattern).either(), bounded=bounded).words()


@cache
def needed_words(pattern: str, *, bounded: bool = True) -> frozenset[str] | None:
    """Returns words of which every match of a pattern has one, whatever its case; None if they are not known.

    Of the sets of words that serve, the least common one is chosen, alternative by alternative.

    Args:
        pattern: As for `first_words`. No word ends where a match begins.
        bounded: As for `first_words`.

    >>> sorted(needed_words("we (?:will )?choose (?:it|them)|yes|no"))
    ['choose', 'no', 'yes']
    """
    words = _NONE
    for branch in _Reader(pattern).either():
        least_common = min(_sets(branch, bounded=bounded), key=_commonness, default=_NONE)
        if not least_common:
            return None
        words |= least_common
    return words


def _commonness(words: frozenset[str]) -> float:
    """Returns how likely a text has one of some words, to compare: shorter words are more common."""
    return sum(0.5 if word in _COMMON else len(word) ** -3 for word in words)


class _Node(NamedTuple):
    """A word, a set of characters (None: not known), or alternatives; and how often it may come."""

    word: str = ""
    characters: frozenset[str] | None = None
    group: _Either | None = None
    optional: bool = False
    again: bool = False


_Either = tuple[tuple[_Node, ...], ...]


class _Reader:
    """A pattern as a tree, without what takes no room."""

    def __init__(self, pattern: str) -> None:
        self._tokens: Iterator[re.Match[str]] = _TOKEN.finditer(pattern)

    def either(self) -> _Either:
        branches: list[list[_Node]] = [[]]
        for token in self._tokens:
            kind, text = token.lastgroup, token[0]
            if kind == "word":
                branches[-1].append(_Node(text))
            elif kind == "close":
                break
            elif kind == "either":
                branches.append([])
            elif kind == "look":
                self.either()
            elif kind == "open":
                branches[-1].append(_Node(group=self.either()))
            elif kind == "many":
                optional = text.startswith(("?", "*", "{0", "{,"))
                repeated = branches[-1].pop()._replace(optional=optional, again=text[0] != "?")
                branches[-1].append(repeated)
            elif kind != "place":
                branches[-1].append(_Node(characters=_set(text[1:-1]) if kind == "set" else _one(text)))
        return tuple(map(_flat, branches))


def _flat(branch: list[_Node]) -> tuple[_Node, ...]:
    """Returns a sequence without groups that have no reason but their brackets."""
    nodes: list[_Node] = []
    for node in branch:
        alone = node.group is not None and len(node.group) == 1 and not any(node[3:])
        nodes += node.group[0] if alone and node.group is not None else [node]
    return tuple(nodes)


class _Walk:
    """Walk that collects the words with which alternatives begin."""

    def __init__(self, branches: _Either, *, bounded: bool) -> None:
        self._whole: set[str] = set()
        self._prefixes: set[str] = set()
        self._symbol = self._letter = False
        left = self._either(branches, frozenset([""]))
        if bounded and "" not in left:
            self._whole |= left
        else:
            self._prefixes |= left

    def words(self) -> FirstWords:
        return FirstWords(frozenset(self._whole), tuple(sorted(self._prefixes)), self._symbol, self._letter)

    def _either(self, branches: _Either, begun: frozenset[str]) -> frozenset[str]:
        """Returns the words that are begun, and not ended, behind one of the branches."""
        return _NONE.union(*(self._sequence(branch, begun) for branch in branches))

    def _sequence(self, nodes: tuple[_Node, ...], begun: frozenset[str]) -> frozenset[str]:
        for node in nodes:
            if not begun:
                break
            if node.word:
                begun = frozenset([word + node.word for word in begun])
                continue
            behind = self._character(node, begun) if node.group is None else self._either(node.group, begun)
            if node.again:
                self._prefixes |= behind
                behind = _NONE
            begun = begun | behind if node.optional else behind
        return begun

    def _character(self, node: _Node, begun: frozenset[str]) -> frozenset[str]:
        if node.characters is None:
            self._prefixes |= begun
            if "" in begun:
                self._symbol = self._letter = True
            return _NONE
        longer: set[str] = set()
        for character in node.characters:
            if character in _CHARACTERS:
                longer |= {word + character for word in begun}
                continue
            self._whole |= begun - {""}
            if "" in begun:
                is_letter = character.isalnum()
                self._letter, self._symbol = self._letter or is_letter, self._symbol or not is_letter
        return frozenset(longer)


def _sets(branch: tuple[_Node, ...], *, bounded: bool) -> Iterator[frozenset[str]]:
    """Yields sets of words of each of which a match has one.

    Those with which it may go on behind a word's end.
    """
    apart = True
    for at, node in enumerate(branch):
        if apart:
            whole, *unknown = _Walk((branch[at:],), bounded=bounded).words()
            if not any(unknown):
                yield whole
        apart = _ends_apart(node, before=apart)


def _ends_apart(node: _Node, *, before: bool) -> bool:
    """Returns True if no word goes on behind a node."""
    if node.group is None:
        apart = node.characters is not None and node.characters.isdisjoint(_CHARACTERS)
    else:
        apart = True
        for branch in node.group:
            ends = before
            for inner in branch:
                ends = _ends_apart(inner, before=ends)
            apart = apart and ends
    return apart and (before or not node.optional)


def _one(text: str) -> frozenset[str] | None:
    """Returns the characters that one character of a pattern stands for, in lower case."""
    if text[0] != "\\":
        return None if text == "." else frozenset(text.lower())
    if text[1] in "xuU":
        return frozenset(text.encode("ascii").decode("unicode_escape").lower())
    if text[1] in "sW":
        return frozenset(" ")  # no word goes on with any of them
    return None if text[1].isalnum() else frozenset(text[1])


def _set(inside: str) -> frozenset[str] | None:
    """Returns the characters of a set; None if it has a range or is turned round."""
    parts = _IN_SET.findall(inside)
    if parts[0] == "^" or "-" in parts[1:-1]:
        return None
    union: set[str] = set()
    for part in parts:
        characters = frozenset(".") if part == "." else _one(part)
        if characters is None:
            return None
        union |= characters
    return frozenset(union)
