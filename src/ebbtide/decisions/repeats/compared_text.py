"""A text as it is compared with earlier decisions: its normal form, the hash of that, its words or stems."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ebbtide.decisions.repeats.differences import content, is_unspaced
from ebbtide.profile.convergence import TokenForm
from ebbtide.text.normal_form import normal_form
from ebbtide.text.stems import stem_tokens

LONGEST_COMPARED = 20_000  # characters up to which a text is compared with others by more than its form
_LONGEST = 2000  # characters of a text that is remembered


class ComparedText(NamedTuple):
    """A text as it is compared.

    Args:
        form: Its normal form.
        fingerprint: The hash of that.
        tokens: Its words or stems.
        content: How many of its stems say something.
    """

    form: str
    fingerprint: str
    tokens: frozenset[str]
    content: int


def fingerprint(text: str) -> str:
    """The hash of the normal form of a text: 32 hexadecimal digits, the same in every process and version.

    Spaces beside a character of a script that is written without them do not count.

    >>> fingerprint("Use  PgBouncer.") == fingerprint("use pgbouncer")
    True
    """
    return (_remembered_form if len(text) <= _LONGEST else _form)(text)[1]


def read_text(text: str, tokens: TokenForm) -> ComparedText:
    """A text as it is compared; short ones are read once."""
    # The longer a text, the fewer are remembered: they would fill the memory.
    if len(text) <= _LONGEST:
        return _remembered(text, tokens)
    return _remembered_long(text, tokens) if len(text) <= LONGEST_COMPARED else _reading(text, tokens)


def _reading(text: str, tokens: TokenForm) -> ComparedText:
    form, print_of_form = (_remembered_form if len(text) <= _LONGEST else _form)(text)
    stems = stem_tokens(form)
    words = frozenset(text.lower().split())
    return ComparedText(
        form=form,
        fingerprint=print_of_form,
        tokens=(stems or frozenset(form.split()) or words) if tokens is TokenForm.STEMS else words,
        content=len(content(stems)),
    )


def _form(text: str) -> tuple[str, str]:
    form = normal_form(text)
    return form, _hash(form, text)


# A text is asked for its form when it is compared, and when it is written.
_remembered_form = lru_cache(maxsize=1 << 10)(_form)
_remembered = lru_cache(maxsize=1 << 14)(_reading)
_remembered_long = lru_cache(maxsize=1 << 8)(_reading)


def _hash(form: str, text: str) -> str:
    # Of "..." and "!?" the normal form leaves nothing: they are compared as they are.
    joined = _without_gaps(form) if form else " ".join(text.split())
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _without_gaps(form: str) -> str:
    if form.isascii() or not any(map(is_unspaced, set(form))):
        return form
    words = form.split(" ")
    parts = [words[0]]
    for before, word in pairwise(words):
        spaced = not (is_unspaced(before[-1]) or is_unspaced(word[0]))
        parts += [" ", word] if spaced else [word]
    return "".join(parts)
