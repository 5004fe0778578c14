"""Orders and promises: sentences that need somebody who will do something.

Most verbs that give orders are nouns or adjectives as well. "Open standards solve this" and "Return flight"
order nothing; the word that follows decides.
"""

from __future__ import annotations

import re
from typing import Final

from ebbtide.text.extraction.words import FINITE, OBJECTS, PARTICLES, SUBORDINATORS
from ebbtide.text.imperatives import (
    ADJECTIVES_TOO,
    IMPERATIVE_VERBS,
    NOUNS_BEFORE_PREPOSITION,
    NOUNS_TOO,
    NUMBERED,
    RATHER_NAMES,
    RATHER_VERBS,
)

# The last ones stand in headings as orders, so that they are no plain nouns.
_AMBIGUOUS: Final = NOUNS_TOO | ADJECTIVES_TOO | {"audit", "build", "go", "merge", "read", "rebase", "write"}
_NO_GERUNDS: Final = frozenset(
    "assuming avoiding considering deferring following including keeping leaving omitting postponing"
    " skipping using".split()
)
_QUOTES: Final = frozenset("\"'\u201c`")
_TITLE_WORDS: Final = 4  # words up to which a line in capitals is a button or a title
_LITTLE: Final = 3  # letters
_OBJECT_WORDS: Final = 3  # words behind the verb among which its object stands
_LABEL: Final = 60  # characters up to which what stands before a colon is a label
_CONDITION: Final = re.compile(r"\W{0,4}(?:if|when|unless|you)\b", re.IGNORECASE)
_NAME: Final = re.compile(r"[^\s]*[\w`][./_`\d-][\w`]|[A-Za-z]+[A-Z]|`")


def is_order(text: str, at: int, words: list[str]) -> bool:
    """Returns True if a sentence starts with a verb that gives an order.

    Args:
        at: Place where its first word starts.
        words: Its words from there on, in lower case.

    >>> [is_order(text, 0, text.lower().split()) for text in ("Open the file", "Open standards solve this")]
    [True, False]
    """
    first, *rest = words
    if first not in IMPERATIVE_VERBS or not rest or rest[0] == "of" or rest[0] in FINITE:
        return False
    end = at + len(first)
    # What stands in quotes is a name, "Update: the server is down" reports, and "go.mod" is one word.
    if text[at - 1 : at] in _QUOTES or text.startswith((":", ",", "/"), end):
        return False
    if text.startswith(".", end) and text[end + 1 : end + 2].isalnum():
        return False
    colon = text.find(": ", end, at + _LABEL)
    if colon > 0 and _CONDITION.match(text, colon + 1):
        return False  # "Cancel it: if you are insured, you can" offers
    if rest[0] == "and":
        return FINITE.isdisjoint(rest)
    return first not in _AMBIGUOUS or not _is_noun(text, end, first, rest)


def is_titled(text: str) -> bool:
    """Returns True if all words but the little ones have a capital: "Compile and Present It All:"."""
    return all(word[0].isupper() or not word[0].isalpha() or len(word) <= _LITTLE for word in text.split())


def base_of(gerund: str) -> str | None:
    """Returns the verb of IMPERATIVE_VERBS that a word in -ing comes from, if it comes from one.

    >>> base_of("refining"), base_of("checking"), base_of("running"), base_of("string")
    ('refine', 'check', 'run', None)
    """
    if not gerund.endswith("ing") or gerund in _NO_GERUNDS:
        return None
    stem = gerund[:-3]
    doubled = stem[:-1] if stem[-1:] == stem[-2:-1] else stem
    return next((verb for verb in (stem, f"{stem}e", doubled) if verb in IMPERATIVE_VERBS), None)


def _is_noun(text: str, end: int, first: str, rest: list[str]) -> bool:
    """Returns True if the word that ends at `end`, before the words `rest`, names something in its place."""
    following = rest[0]
    if following in OBJECTS:
        return False
    clause = rest[: next((n for n, word in enumerate(rest) if word in SUBORDINATORS), len(rest))]
    if not FINITE.isdisjoint(clause) or _is_title(text, end):
        return True
    if following in PARTICLES:
        return first in NOUNS_BEFORE_PREPOSITION
    if first in RATHER_VERBS:
        return False
    if following.isdigit():
        return first in NUMBERED
    if first in RATHER_NAMES:
        return True
    if _NAME.match(text, end + 1) is not None:
        return False
    # A bare object is plural; a bare singular behind a noun is the rest of a name, as in "merge conflict".
    for number, word in enumerate(clause[:_OBJECT_WORDS]):
        if word in PARTICLES or word == "and":
            break
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            verb = next(iter(clause[number + 1 :]), "")
            return verb.endswith("ed") or (verb in IMPERATIVE_VERBS and verb not in NOUNS_TOO)
    return True


def _is_title(text: str, end: int) -> bool:
    """Returns True if every word has a capital and no full stop follows, as on a button."""
    colon = text.find(": ", end, end + _LABEL)
    name = text[end:] if colon < 0 else text[end:colon]
    names = name.split()
    if len(names) >= _TITLE_WORDS or name.rstrip().endswith((".", "!")):
        return False
    return bool(names) and all(word[0].isupper() for word in names if word[0].isalpha())
