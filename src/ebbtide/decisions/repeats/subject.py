"""Reads the subject of a decision, so that two that say opposite things of one subject meet.

"Set the client timeout to 30 s" and "Raise the client timeout to 60 s because uploads are slow" share few
words of all that they have. They are about one thing, and only one of them can hold. So the reasons and
asides are left out, and the words that contradict each other, and the rest is compared. `subject_keys` are
for an index of all that stand, and `find_reversal` reads what it gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from ebbtide.decisions.repeats.compared_text import fingerprint
from ebbtide.decisions.repeats.differences import EMPTY, Difference, DifferenceKind, find_contrast
from ebbtide.decisions.repeats.duplicate_verdict import DuplicateVerdict, Measure, Repeat, Sureness
from ebbtide.text.contrast.statement import stems_in_order
from ebbtide.text.normal_form import normal_form
from ebbtide.text.stems import stem, stem_tokens

LONGEST_SUBJECT = 2000  #: characters of a text that is remembered, and beyond which it is no single decision
# What follows them says why, or goes on to something else.
_ASIDE = re.compile(
    r"\s{0,99}(?:[;(\u2014]|\. |\s[-\u2013]\s|: (?=\S+ \S+ \S+ )|"
    r"\b(?:because|since|so that|in order to|due to|given that|as long as|so (?=we|they|it|that))\b)"
)
_COMMA = re.compile(r", (?!and\b|or\b|not\b|but\b|instead\b|rather\b)")
_LEADING = re.compile(
    r"(?:in|on|at|for|from|with|to|when|if|while|after|before|instead|rather|as|until|unless|by)\b"
)
# What says nothing of the subject: a thing is set to, goes to, becomes, is moved to a value.
_GENERIC = EMPTY | frozenset(
    map(
        stem,
        "set put go get become make move turn stay keep take let give need change switch start come bring"
        " remain back any anymore more longer today yet new".split(),
    )
)
_FEW = 2  # words that one side may have beyond the single one that both share
_SHARE = 0.6  # of the words of the shorter side that the other one has
_KEY_WORDS = 4  # of a subject, the first ones
_SHORT = 2  # words of a subject of which each is a key


class Subject(NamedTuple):
    """A decision without its reasons.

    Args:
        core: The words up to where the reasons begin.
        topic: Stems of its content words as they come, without numbers and verbs such as "set".
    """

    core: str
    topic: tuple[str, ...]


def read_subject(form: str) -> Subject:
    """Returns the subject of a text.

    Args:
        form: Its normal form.

    >>> read_subject("raise the client timeout to 60 s because uploads are slow").topic
    ('rais', 'client', 'timeout')
    """
    return _remembered(form) if len(form) <= LONGEST_SUBJECT else _read(form)


def find_opposition(here: str, there: str) -> Difference | None:
    """Returns what contradicts in two decisions on one subject; None if they agree or differ in subject.

    Args:
        here: The normal form of the new text.
        there: The normal form of the earlier one.

    >>> find_opposition("raise the client timeout to 60 s", "set the client timeout to 30 s").kind.value
    'number'
    >>> find_opposition("set the query timeout to 60 s", "set the client timeout to 30 s") is None
    True
    """
    if max(len(here), len(there)) > LONGEST_SUBJECT:
        return None
    one, other = read_subject(here), read_subject(there)
    if set(one.topic).isdisjoint(other.topic):
        return None
    difference = find_contrast(one.core, other.core)
    if difference is None or not _is_one_subject(set(one.topic), set(other.topic), difference):
        return None
    return difference


def subject_keys(text: str) -> tuple[tuple[str, ...], ...]:
    """The keys by which an index finds decisions on one subject: at most six, of one or two stems each.

    Two that contradict each other share two words of their subject, or all of a short one. So the pairs of
    the first words are the keys, and for a short subject its words as well. A text that is too long to be
    compared by its subject has none. Stores keep hashes of these keys: whoever changes what they are also has
    to migrate the stores.

    >>> subject_keys("Keep the nightly backup of the database")
    (('backup', 'databas'), ('backup', 'nightly'), ('databas', 'nightly'))
    >>> subject_keys("Use Redis")
    (('redis',),)
    """
    form = normal_form(text)
    if len(form) > LONGEST_SUBJECT:
        return ()
    words = read_subject(form).topic[:_KEY_WORDS]
    alone = ((word,) for word in words) if len(words) <= _SHORT else ()
    return tuple(sorted({*(tuple(sorted(pair)) for pair in combinations(words, 2)), *alone}))


def find_reversal(text: str, standing: Iterable[tuple[str, str]]) -> DuplicateVerdict | None:
    """The newest decision on the subject of `text`, where the two contradict each other; else None.

    Where a newer one says the same as `text`, what contradicts them was taken back already.

    Args:
        text: What is to be decided.
        standing: Ids and texts of the decisions that stand, the newest first.

    >>> standing = [("d1", "Set the client timeout to 30 s")]
    >>> find_reversal("Raise the client timeout to 60 s, uploads are slow", standing).of
    'd1'
    >>> find_reversal("Set the query timeout to 60 s", standing) is None
    True
    """
    form, print_of_text = normal_form(text), fingerprint(text)
    for number, (identifier, earlier) in enumerate(standing, start=1):
        if fingerprint(earlier) == print_of_text:
            return None
        difference = find_opposition(form, normal_form(earlier))
        if difference is not None:
            return DuplicateVerdict(
                repeat=Repeat.POSSIBLE_REVERSAL,
                of=identifier,
                measure=Measure.SUBJECT,
                sure=Sureness.LIKELY,
                difference=difference,
                compared=number,
            )
    return None


def _is_one_subject(mine: set[str], theirs: set[str], difference: Difference) -> bool:
    if difference.kind is not DifferenceKind.SIDES:  # its words are the subject
        apart = stem_tokens(difference.here) | stem_tokens(difference.there)
        mine, theirs = mine - apart, theirs - apart
    shared = mine & theirs
    shorter, longer = sorted((len(mine), len(theirs)))
    if len(shared) < shorter:
        # Each has a word of its own: "the free plan", "the team plan".
        is_number = difference.kind is DifferenceKind.NUMBER
        return not is_number and len(shared) > 1 and len(shared) >= _SHARE * shorter
    return len(shared) > 1 or (len(shared) == 1 and longer <= 1 + _FEW)


def _read(form: str) -> Subject:
    core = _core(form)
    return Subject(core, _topic(core))


_remembered = lru_cache(maxsize=1 << 13)(_read)


def _core(form: str) -> str:
    for mark in _ASIDE.finditer(form):
        if len(_topic(form[: mark.start()])) > 1:
            form = form[: mark.start()]
            break
    for mark in _COMMA.finditer(form):
        if len(_topic(form[: mark.start()])) > 1 and not _LEADING.match(form):
            return form[: mark.start()]
    return form


def _topic(text: str) -> tuple[str, ...]:
    # The stem of a number has a colon.
    stems = dict.fromkeys(stems_in_order(text))
    return tuple(token for token in stems if ":" not in token and token not in _GENERIC)
