"""The words of a candidate as the gate reads them: one spelling, no decoration, sentence by sentence."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from ebbtide.text.contrast.words import FUNCTION_WORDS
from ebbtide.text.sentence_ends import clauses

READ = 500  # characters; what a candidate is, it says at its beginning

# Looked for one by one: a text has few of them, and `in` is many times faster than a search for a set.
_QUOTES = tuple(
    (mark, plain)
    for plain, marks in (
        ("'", "\u2018\u2019\u201a\u201b\u02bc\u2032"),
        ('"', "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"),
    )
    for mark in marks
)
# The usual ones that are no letters.
_MARKS = "\u2013\u2014\u2022\u2026\u2192\u2190\u2265\u2264\u2713\u2714\u2705\u274c"
_DECORATION = re.compile(
    r"\A(?:[^\w\"'`(\[{<$\u4e00-\u9fff]++|plan\s*[:\u2013\u2014-](?=\s*\S)|\(?\d{1,3}[.)]\s|\[[ x]\])+"
)
_LINKING_WORDS = frozenset(
    "ok okay now so then and but also first next finally just well great good perfect oops besides hence thus"
    " ah oh hmm here still currently already successfully therefore instead".split()
)
_LINKING = re.compile(rf"(?:\W|(?:{'|'.join(sorted(_LINKING_WORDS))})\b(?!['-]))*")
_WORD = re.compile(r"\w+(?:'\w+)*")
_WORD_BYTES = bytes(code if re.match(r"[a-z0-9_']", chr(code)) else 32 for code in range(256))
_FIRST = re.compile(r"\w+(?:['-]\w+)*")
_WIDE = re.compile(
    r"[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60\U00020000-\U0003fffd]"
)


class Wording(NamedTuple):
    """The first 500 characters of a text.

    Args:
        text: In lower case, in compatibility form with straight quotes, leading emoji, bullets, numbers and
            "Plan:" left out.
        words: Its words, each once.
        keys: The same with the parts of contractions, by which phrase tables are searched.
        sentences: Where its sentences start and end, and their first words: without the linking words that
            open them, then with them where there are any.
    """

    text: str
    words: frozenset[str]
    keys: frozenset[str]
    sentences: tuple[tuple[int, int, str], ...]

    @classmethod
    def of(cls, text: str) -> Wording:
        """Read a text. Beyond the first 500 characters only white space before them costs time."""
        head = text.lstrip()[:READ]
        if not head.isascii():
            head = unicodedata.normalize("NFKC", head)
            for mark, plain in _QUOTES:
                if mark in head:
                    head = head.replace(mark, plain)
        head = head.lower()
        if decoration := _DECORATION.match(head):
            head = head[decoration.end() :]
        head = head.rstrip()
        words = _words(head)
        keys = words.union(*[word.split("'") for word in words if "'" in word]) if "'" in head else words
        return cls(head, words, keys, tuple(_sentences(head)))

    @property
    def content(self) -> int:
        """The number of different content words; two wide characters count as a word."""
        words = self.words - FUNCTION_WORDS
        wide = self._wide
        if wide:
            words = frozenset(word for word in words if not _WIDE.search(word))
        return len(words) + (wide + 1) // 2

    def beside(self, words: frozenset[str]) -> int:
        """The number of different content words that are none of those; wide characters count as one."""
        own = {word.split("'")[0] for word in self.words} - FUNCTION_WORDS - words
        return len(own)

    @property
    def width(self) -> int:
        """The width in columns, with wide characters counted twice."""
        return len(self.text) + self._wide

    @property
    def _wide(self) -> int:
        return 0 if self.text.isascii() else len(_WIDE.findall(self.text))


def _words(text: str) -> frozenset[str]:
    """Returns the words that `_WORD` finds; in text of ASCII letters it is several times faster."""
    if not text.isascii():
        for mark in _MARKS:
            if mark in text:
                text = text.replace(mark, " ")
    if not text.isascii() or "''" in text:
        return frozenset(_WORD.findall(text))
    words = text.encode("ascii").translate(_WORD_BYTES).decode("ascii").split()
    if "'" in text:
        return frozenset([word.strip("'") for word in words]) - {""}
    return frozenset(words)


def _sentences(text: str) -> list[tuple[int, int, str]]:
    sentences = []
    for start, end in clauses(text):
        first = _FIRST.search(text, start, end)
        if first is not None:
            word = first[0]
            if word in _LINKING_WORDS and (link := _LINKING.match(text, start, end)):
                at = link.end()
                if plain := _FIRST.match(text, at, end):
                    sentences.append((at, end, plain[0]))
            sentences.append((first.start(), end, word))
    return sentences
