"""Contrast guard: texts that look alike but say the opposite are not the same.

Two texts that differ in a number, a negation, an antonym or the sides of "X instead of Y" are apart,
whatever their similarity: "Enable retries" and "Disable retries" share three of four words. The guard
is meant for pairs that are already similar; of two unrelated texts it says nothing of use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from ebbtide.text.contrast.polarity import Negation
from ebbtide.text.contrast.quantities import comparable, lacking
from ebbtide.text.contrast.sides import Sides
from ebbtide.text.contrast.statement import Statement, read_statement
from ebbtide.text.contrast.words import PARTICLES, opposites

LONGEST_READ = 4_000  #: characters up to which a text is read for what it asserts; a longer one is a document
_NUMBERS = 20  # of each text that are compared with one another


class ContrastKind(StrEnum):
    """Kinds of difference between two alike texts."""

    NUMBER = "number"  #: each has a number that the other lacks: 30 s, 300 s
    NEGATION = "negation"  #: one negates what the other affirms
    ANTONYM = "antonym"  #: one has the opposite of a word of the other
    SIDES = "sides"  #: the sides of a connector are exchanged: "X instead of Y"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Difference that makes two alike texts two.

    Args:
        left: Words of the first text that show the difference.
        right: Words of the second text that show it.
    """

    kind: ContrastKind
    left: str
    right: str


def contrast(a: str, b: str) -> Contrast | None:
    """Returns the difference of two similar texts, or None if nothing speaks against them being the same.

    Symmetric: ``contrast(b, a)`` has the same kind, with left and right exchanged. An added detail is no
    contrast: each side needs something that the other lacks. Nothing is said of a text of more than
    `LONGEST_READ` characters.

    Args:
        a: A text, or its normal form.

    >>> contrast("Enable retries", "Disable retries")
    Contrast(kind=<ContrastKind.ANTONYM: 'antonym'>, left='enable', right='disable')
    >>> contrast("Do not enable retries", "Disable retries") is None
    True
    >>> contrast("Retry 3 times", "Retry three times, 2 s apart") is None
    True
    """
    if max(len(a), len(b)) > LONGEST_READ or a.split() == b.split():
        return None
    if b < a:
        mirrored = contrast(b, a)
        return mirrored and Contrast(kind=mirrored.kind, left=mirrored.right, right=mirrored.left)
    one, other = read_statement(a), read_statement(b)
    return (
        _number(one, other)
        or _exchange(one, other)
        or _antonym(one, other)
        or _negation(one, other)
        or _attachment(one, other)
    )


def _number(one: Statement, other: Statement) -> Contrast | None:
    if not one.quantities or not other.quantities:
        return None
    for mine in lacking(one.quantities, other.quantities)[:_NUMBERS]:
        for theirs in lacking(other.quantities, one.quantities)[:_NUMBERS]:
            if comparable(mine, theirs):
                return Contrast(kind=ContrastKind.NUMBER, left=mine.text, right=theirs.text)
    return None


def _exchange(one: Statement, other: Statement) -> Contrast | None:
    for here, there in _exchanged(one, other):
        # "Faster than X" and "slower than X": the exchange is made good by the antonym.
        if here.relation != "than" or here.left[0] == there.left[0]:
            moved = next(word for word in _own(there, here) if word in here.left)
            back = next(word for word in _own(here, there) if word in there.left)
            return Contrast(
                kind=ContrastKind.SIDES,
                left=f"{one.words[moved]} \u2026 {one.words[back]}",
                right=f"{other.words[back]} \u2026 {other.words[moved]}",
            )
    return None


def _exchanged(one: Statement, other: Statement) -> Iterator[tuple[Sides, Sides]]:
    """Yields the connectors of one relation whose sides are exchanged."""
    for here in one.sides:
        for there in other.sides:
            if here.relation == there.relation and _moved(here, there) and _moved(there, here):
                yield here, there


def _moved(here: Sides, there: Sides) -> bool:
    """Returns True if most of what stands on the right only here stands on the left there."""
    own = _own(here, there)
    return bool(own) and 2 * sum(word in there.left for word in own) >= len(own)


def _own(here: Sides, there: Sides) -> list[str]:
    return [word for word in here.right if word not in there.right and word not in here.left]


def _antonym(one: Statement, other: Statement) -> Contrast | None:
    mine, theirs = one.words.keys() - other.words.keys(), other.words.keys() - one.words.keys()
    pairs = _exchanged(one, other)
    compared = {(here.left[0], there.left[0]) for here, there in pairs if here.relation == "than"}
    for word in sorted(mine):
        for opposite in sorted(theirs & opposites(word)):
            same_sign = (word in one.polarity.affirmed) == (opposite in other.polarity.affirmed)
            if same_sign and (word, opposite) not in compared and _in_one_place(one, word, other, opposite):
                return Contrast(kind=ContrastKind.ANTONYM, left=one.words[word], right=other.words[opposite])
    for verb, particle in sorted(one.particles - other.particles):
        opposed = (verb, PARTICLES[particle])
        if opposed in other.particles - one.particles:
            return Contrast(kind=ContrastKind.ANTONYM, left=particle, right=PARTICLES[particle])
    return None


def _in_one_place(one: Statement, word: str, other: Statement, opposite: str) -> bool:
    """True if two words have a neighbour in common: "a choice for parents" is not "a healthy child"."""
    mine, theirs = one.neighbours(word), other.neighbours(opposite)
    return not mine or not theirs or not mine.isdisjoint(theirs)


def _negation(one: Statement, other: Statement) -> Contrast | None:
    if (denied := _denied(one, other)) is not None:
        negation, head = denied
        return Contrast(
            kind=ContrastKind.NEGATION, left=f"{negation.word} {one.words[head]}", right=other.words[head]
        )
    if (denied := _denied(other, one)) is not None:
        negation, head = denied
        return Contrast(
            kind=ContrastKind.NEGATION, left=one.words[head], right=f"{negation.word} {other.words[head]}"
        )
    return None


def _denied(here: Statement, there: Statement) -> tuple[Negation, str] | None:
    """Returns the first negation of `here` that denies what `there` affirms, and the stem that it denies."""
    only_affirmed = there.polarity.affirmed - there.polarity.negated
    for negation in here.polarity.negations:
        reached = negation.scope if negation.of_subject else negation.heads
        agrees = negation.scope if negation.of_subject else negation.passed
        if not there.polarity.negated.isdisjoint(agrees):
            continue
        if any(opposites(word) & (there.polarity.affirmed - here.words.keys()) for word in reached):
            continue  # "No test passes", "the tests fail".
        if "only" in there.words and len(here.polarity.negations) > 1:
            continue  # "Not unless it is tested", "only if it is tested".
        for head in negation.heads:
            if (
                head in only_affirmed
                and head not in here.polarity.affirmed
                and not _gerund(head, here, there)
            ):
                return negation, head
    return None


def _gerund(stem: str, here: Statement, there: Statement) -> bool:
    """Returns True if the word only names an action there: "deploying on Fridays" asserts nothing."""
    return there.words[stem].endswith("ing") and not here.words[stem].endswith("ing")


def _attachment(one: Statement, other: Statement) -> Contrast | None:
    """Returns words that changed partners: "X for A and Y for B", "X for B and Y for A"."""
    if not one.attachments or one.words.keys() != other.words.keys():
        return None
    mine, theirs = one.attachments - other.attachments, other.attachments - one.attachments
    partners: dict[str, list[str]] = {}
    for pair in sorted(theirs):
        for word, partner in (pair, pair[::-1]):
            partners.setdefault(word, []).append(partner)
    for word, partner in sorted(mine):
        for new in partners.get(word, ()):
            for old in partners.get(partner, ()):
                exchanged = ((partner, new), (word, old))
                if len({word, partner, new, old}) < 4 or (min(new, old), max(new, old)) not in mine:
                    continue
                if any(_side_by_side(one, *pair) and _side_by_side(other, *pair) for pair in exchanged):
                    continue  # "Warm and attentive", "attentive and warm".
                return Contrast(
                    kind=_attachment_kind(exchanged),
                    left=f"{one.words[word]} \u2026 {one.words[partner]}",
                    right=f"{other.words[word]} \u2026 {other.words[new]}",
                )
    return None


def _side_by_side(statement: Statement, first: str, second: str) -> bool:
    return any({first, second} == set(pair) for pair in pairwise(statement.order))


def _attachment_kind(exchanged: Sequence[tuple[str, str]]) -> ContrastKind:
    if any(right in opposites(left) for left, right in exchanged):
        return ContrastKind.ANTONYM
    # The stem of a number is its dimension and amount.
    numbers = any(":" in left and ":" in right for left, right in exchanged)
    return ContrastKind.NUMBER if numbers else ContrastKind.SIDES
