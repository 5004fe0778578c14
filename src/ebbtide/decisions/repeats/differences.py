"""Differences that keep two alike decisions apart: a reversal, a replacement, another order, a limit.

A similarity counts the words that two texts share. A decision turns on the few that they do not: "skip
step-a" and "skip step-b" share most of their words and decide different things. So a text is taken for a
repetition only where it says nothing that the other does not, in the same order, without a limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import zip_longest

from ebbtide.text.contrast.guard import ContrastKind, contrast
from ebbtide.text.contrast.quantities import quantity_at
from ebbtide.text.contrast.words import FUNCTION_WORDS
from ebbtide.text.stems import bare, runs, stem, stem_tokens

_LONGEST = 2000  # characters of a text that is remembered
_SHOWN = 80  # characters of a text that are shown as evidence
_LONGEST_READ = 20_000  # characters of a text that the contrast guard reads: a decision is shorter


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


_LETTERS = frozenset(word for word in FUNCTION_WORDS if len(word) == 1)
# "Use X" and "go with X" are one decision.
_CHOOSING = _stems("use adopt choose pick select go take decide decision opt settle prefer will")
#: They say nothing of what is decided.
EMPTY = frozenset(map(stem, FUNCTION_WORDS)) | FUNCTION_WORDS | _CHOOSING
# What stands on either side of them can change places.
_JOINING = frozenset("and or + & plus /".split())
# What follows them is more than a detail.
_GOING_ON = frozenset("and or plus also too & +".split())
# No article and no pronoun stands before them: "step a of", "plan i for".
_AFTER_LABEL = frozenset(
    """
    of to in on at by for from with into onto upon as than per via within through during between among across
    against along around toward towards under above below and or but nor if then else when while where whether
    because since though although unless until before after is are was were has have had should would could
    """.split()
)
# A number behind one of them is a name: "skip step 1" and "skip step 2" are two matters.
_NAMED = re.compile(
    r"\b((?:step|task|issue|ticket|story|epic|item|case|part|phase|chapter|section|page|row|line|file|job|shard|node|pr|pull"
    r" request|milestone|sprint|team|room|building)s?)[ -]#?(\d[\w.]*)|#(\d+)"
)
# One word for another: "there isn't a server", "there is no server".
_NEGATIONS = _stems("no not none isn't aren't wasn't weren't")
_REASON = re.compile(r"\b(?:because|since|given that|due to)\b")
# They take something back.
_LIMITS = _stems("except only unless but until excluding excepting without if temporarily")


class DifferenceKind(StrEnum):
    """Kinds of difference between two alike decisions. The contrast guard reports the first four."""

    NUMBER = "number"  #: each has a number that the other lacks: 30 s, 60 s
    NEGATION = "negation"  #: one negates what the other affirms
    ANTONYM = "antonym"  #: one has the opposite of a word of the other: enable, disable
    SIDES = "sides"  #: the sides of a connector are exchanged: "X instead of Y"
    REPLACED = "replaced"  #: each has a word that the other lacks: "dedicated" for "shared"
    ORDER = "order"  #: the same words in another order, beyond a part that was moved to the front
    ADDED = "added"  #: the new one goes on: "and the audit log"
    LIMIT = "limit"  #: one has a limit that the other lacks: "except", "only"

    @property
    def is_contrast(self) -> bool:
        """True if the words show that the two decisions cannot both hold."""
        return self in _CONTRASTS


_CONTRASTS = frozenset(
    (DifferenceKind.NUMBER, DifferenceKind.NEGATION, DifferenceKind.ANTONYM, DifferenceKind.SIDES)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The reason why two alike decisions are not one.

    Args:
        kind: What they differ in.
        here: The words of the new text that show it; empty where only the other has some.
        there: The words of the earlier one.
    """

    kind: DifferenceKind
    here: str
    there: str


def content(tokens: Iterable[str]) -> frozenset[str]:
    """The stems that say what is decided: no function words, no verbs of choosing."""
    return frozenset(tokens) - EMPTY


def find_contrast(here: str, there: str) -> Difference | None:
    """Returns the contrast that the guard finds in two texts; None without one, or if they are too long.

    Numbers that name things, as in "step 1" and "step 2", are no contrast: they are two matters.
    """
    if max(len(here), len(there)) > _LONGEST_READ:
        return None
    guarded = contrast(here, there)
    if guarded is None:
        return None
    if guarded.kind is ContrastKind.NUMBER and _is_another_thing(here, there):
        return None
    return Difference(kind=DifferenceKind(guarded.kind.value), here=guarded.left, there=guarded.right)


def _is_another_thing(here: str, there: str) -> bool:
    mine, theirs = ({"".join(name) for name in _NAMED.findall(text)} for text in (here, there))
    return bool(mine) and bool(theirs) and mine != theirs


def find_difference(here: str, there: str) -> Difference | None:
    """Returns the reason why two texts without a contrast are not one decision all the same.

    Args:
        here: The normal form of the new text.
        there: The normal form of the earlier one.

    >>> find_difference("use dedicated ingress controllers", "use shared ingress controllers").kind.value
    'replaced'
    >>> find_difference("go with astro for the docs site", "use astro for the docs") is None
    True
    """
    # "Because there is only one writer" limits no decision, and another reason takes none back.
    one, other = _sequence(_without_reason(here)), _sequence(_without_reason(there))
    mine = [token for token in one if token not in other]
    theirs = [token for token in other if token not in one]
    said_here, said_there = _said(mine, one, theirs, other), _said(theirs, other, mine, one)
    if said_here and said_there:
        return Difference(
            kind=DifferenceKind.REPLACED,
            here=_shown(said_here, one),
            there=_shown(said_there, other),
        )
    if said_here and not _GOING_ON.isdisjoint(mine):
        return Difference(kind=DifferenceKind.ADDED, here=_shown(mine, one), there="")
    for tokens, is_mine in ((mine, True), (theirs, False)):
        limit = next((token for token in tokens if token in _LIMITS), None)
        if limit is not None:
            here_words, there_words = (one[limit], "") if is_mine else ("", other[limit])
            return Difference(kind=DifferenceKind.LIMIT, here=here_words, there=there_words)
    both = content(one) & content(other)
    order_here, order_there = ([token for token in _settled(row) if token in both] for row in (one, other))
    # "Delete raw events", "raw events are deleted": a verb in another form may stand elsewhere.
    verb = next((token for token in (*order_here[:1], *order_there[:1]) if one[token] != other[token]), None)
    orders = [[token for token in order if token != verb] for order in (order_here, order_there)]
    if not _turned(*orders):
        return Difference(
            kind=DifferenceKind.ORDER, here=_shown(order_here, one), there=_shown(order_there, other)
        )
    return None


def _without_reason(form: str) -> str:
    decided = _REASON.split(form, maxsplit=1)[0]
    return decided if len(decided.split()) > 1 else form


def is_unspaced(sign: str) -> bool:
    """Returns True if the character is of a script that is written without spaces."""
    return not sign.isascii() and len(runs(f"a{sign}")) == 2


def _shown(tokens: Iterable[str], words: Mapping[str, str]) -> str:
    return " ".join(dict.fromkeys(words[token] for token in tokens))[:_SHOWN]


def _said(
    tokens: Iterable[str], words: Mapping[str, str], others: Iterable[str], other_words: Mapping[str, str]
) -> list[str]:
    """The tokens that say something which no other one says: "three" and "3" say the same."""
    values = {_value(other_words[token]) for token in others} - {None}
    return [token for token in tokens if token not in EMPTY and _value(words[token]) not in values]


def _value(word: str) -> float | str | None:
    if word in _NEGATIONS:
        return "not"
    quantity, _ = quantity_at((word,), 0)
    return None if quantity is None else quantity.value


def _turned(here: Sequence[str], there: Sequence[str]) -> bool:
    """Returns True if one is the other, or has its beginning at the end: "before B do A", "do A before B"."""
    if not here:
        return True
    start = there.index(here[0])
    return [*there[start:], *there[:start]] == list(here)


def _settled(tokens: Iterable[str]) -> list[str]:
    """The tokens with both sides of each "and" in alphabetical order."""
    settled = list(tokens)
    for at in range(1, len(settled) - 1):
        if settled[at] in _JOINING and settled[at + 1] < settled[at - 1]:
            settled[at - 1], settled[at + 1] = settled[at + 1], settled[at - 1]
    return settled


def _sequence(text: str) -> Mapping[str, str]:
    """Each stem of a normal form with the first word that has it, in the order in which they are said."""
    return _remembered_sequence(text) if len(text) <= _LONGEST else _remembered_sequence.__wrapped__(text)


@lru_cache(maxsize=1 << 11)
def _remembered_sequence(text: str) -> Mapping[str, str]:
    tokens: dict[str, str] = {}
    words = text.split()
    for word, following in zip_longest(words, words[1:]):
        for run in runs(bare(word)):
            if run in _LETTERS and (word[-1] != run or following is None or following in _AFTER_LABEL):
                tokens.setdefault(run.upper(), run)  # no normal form has a capital: it is no function word
                continue
            # One character more makes other pairs of characters: here they count one by one.
            if run and is_unspaced(run[0]):
                tokens.update((sign, sign) for sign in run if sign not in tokens)
            else:
                # The stems of one word come as a set: sorted, so that every process has the same order.
                tokens.update((token, run) for token in sorted(stem_tokens(run)) if token not in tokens)
    return tokens
