"""The words that a decision is found by: one way to cut them, whatever the database would do.

Words are folded and lose their endings. Scripts that are written without spaces are cut into single
characters and pairs. What is not ASCII is written as its code, so that SQLite and PostgreSQL, which take
words apart in their own ways, find the same decisions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, pairwise

from ebbtide.text.stems import runs, stem

_WORD = re.compile(r"[^\W_]+(?:[\u0300-\u036f\u0900-\u0dff]+[^\W_]*)*")
_ASCII_WORD = re.compile("[a-z0-9]+")
_LONGEST = 40  # characters of a word; PostgreSQL knows no word over 2 KB
_MOST = 4_000  # words of a decision; what comes after them is not found

#: Characters of a decision that are searched; a text of a megabyte is stored whole all the same.
LONGEST_TEXT = 100_000


def search_words(texts: Iterable[str]) -> list[str]:
    """The words of some texts, in order, each once.

    >>> search_words(["Cache the users' queries in Redis 7"])
    ['cach', 'the', 'user', 'query', 'in', 'redis', '7']
    """
    words: dict[str, None] = {}
    room = LONGEST_TEXT
    for text in texts:
        if text.isascii():
            words.update(dict.fromkeys(_ASCII_WORD.findall(text[:room].lower())))
        else:
            normal = unicodedata.normalize("NFKC", text[:room]).casefold()
            words.update(dict.fromkeys(_WORD.findall(normal)))
        room -= len(text)
        if room <= 0 or len(words) >= _MOST:
            break
    forms = dict.fromkeys(chain.from_iterable(map(_forms, words)))
    return list(forms)[:_MOST]


def _forms(word: str) -> Iterable[str]:
    return _cached_forms(word) if len(word) <= _LONGEST else _forms_of(word)


def _forms_of(word: str) -> tuple[str, ...]:
    if word.isascii():
        return (stem(word)[:_LONGEST],)
    forms: list[str] = []
    for run in runs(word):
        if run.isascii():
            forms.append(stem(run)[:_LONGEST])
        elif len(runs(f"a{run}")) == 2:
            forms += [_code(sign) for sign in run]
            forms += [_code(one + two) for one, two in pairwise(run)]
        else:
            forms.append(_code(run[:_LONGEST]))
    return tuple(forms)


_cached_forms = lru_cache(maxsize=1 << 13)(_forms_of)


def _code(text: str) -> str:
    return "u" + text.encode("utf-8", "surrogatepass").hex()
