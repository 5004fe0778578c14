"""Statement of a text, as far as its words show: their signs, its numbers, the words on each side.

A reading for comparison, not a parse. It knows English; numbers it reads in any language.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from ebbtide.text.contrast.clauses import (
    NEAR,
    ClauseItem,
    Kind,
    clause_before,
    content,
    ends_clause,
    read_items,
    says,
)
from ebbtide.text.contrast.polarity import Polarity, read_polarity
from ebbtide.text.contrast.quantities import Quantity
from ebbtide.text.contrast.sides import Sides, read_sides
from ebbtide.text.contrast.words import PARTICLE_VERBS, PARTICLES, opposites

_LONGEST = 2000  # characters of a text that is remembered
_MOST_SIDES = 50  # connectors of a text that are compared
_LONGEST_EXCHANGE = 200  # words of a text in which words that changed partners are looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A text, read for what it asserts.

    Args:
        words: Every stem with the first word that has it.
        order: The stems that say something or have an opposite, as they come.
        polarity: The affirmed and the negated stems.
        sides: The connectors with two different sides.
        attachments: Pairs of stems that stand close together in a clause, if there are several clauses.
        particles: Verbs with a particle: ("scale", "up").
    """

    words: dict[str, str]
    order: tuple[str, ...]
    polarity: Polarity
    quantities: tuple[Quantity, ...]
    sides: tuple[Sides, ...]
    attachments: frozenset[tuple[str, str]]
    particles: frozenset[tuple[str, str]]

    def neighbours(self, stem: str) -> set[str]:
        """Returns the stems at most two places from `stem`."""
        places = [place for place, other in enumerate(self.order) if other == stem]
        return {near for place in places for near in self.order[max(place - 2, 0) : place + 3]} - {stem}


def read_statement(text: str) -> Statement:
    """Returns the statement of `text`; short texts are read once and remembered."""
    return _statement_of(text) if len(text) <= _LONGEST else _statement_of.__wrapped__(text)


def stems_in_order(text: str) -> tuple[str, ...]:
    """Returns `Statement.order` of a text, without what else it asserts: a third of the work."""
    return _order((_items if len(text) <= _LONGEST else read_items)(text)[0])


# A text is asked for its subject first, and for what it asserts where that is the one of another.
_items = lru_cache(maxsize=1 << 10)(read_items)


def _order(items: Sequence[ClauseItem]) -> tuple[str, ...]:
    return tuple(item.stem for item in items if says(item) or opposites(item.stem))


@lru_cache(maxsize=1 << 11)
def _statement_of(text: str) -> Statement:
    items, quantities = (_items if len(text) <= _LONGEST else read_items)(text)
    words: dict[str, str] = {}
    for item in items:
        if not ends_clause(item):
            words.setdefault(item.stem, item.text)
    return Statement(
        words=words,
        order=_order(items),
        polarity=read_polarity(items),
        quantities=quantities,
        sides=tuple(islice(read_sides(items), _MOST_SIDES)),
        attachments=_attachments(items),
        particles=_particles(items),
    )


def _attachments(items: Sequence[ClauseItem]) -> frozenset[tuple[str, str]]:
    clauses: list[list[str]] = [[]]
    for item in items:
        if says(item):
            clauses[-1].append(item.stem)
        elif item.kind is not Kind.FUNCTION and clauses[-1]:
            clauses.append([])
    if len(clauses) < 2 or not clauses[1] or len(items) > _LONGEST_EXCHANGE:
        return frozenset()
    return frozenset(
        (min(word, other), max(word, other))
        for clause in clauses
        for at, word in enumerate(clause)
        for other in clause[at + 1 : at + NEAR]
        if word != other
    )


def _particles(items: Sequence[ClauseItem]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (verb, item.text)
        for at, item in enumerate(items)
        if item.text in PARTICLES
        for verb in content(clause_before(items, at))[:3]
        if verb in PARTICLE_VERBS
    )
