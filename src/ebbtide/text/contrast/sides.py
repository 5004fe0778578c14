"""Connectors with two different sides: "X instead of Y", "X before Y", "from X to Y", "X calls Y"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ebbtide.text.contrast.clauses import ClauseItem, Kind, clause_after, clause_before, content, text_at
from ebbtide.text.contrast.words import CONNECTORS, RELATIONS

_BE = frozenset(["be", "am", "is", "are", "was", "were", "been", "being", "get", "gets", "got"])
_PREPOSITIONS = frozenset(["of", "in", "on", "at", "by", "for", "from", "to", "with", "into", "as", "than"])


class Sides(NamedTuple):
    """Words on either side of a connector.

    Args:
        relation: Relation that the connector states; several connectors can state the same.
        left: Content stems on the left, the nearest first; of "after", those on the right.
        right: Content stems on the other side.
    """

    relation: str
    left: tuple[str, ...]
    right: tuple[str, ...]


def read_sides(items: Sequence[ClauseItem]) -> Iterator[Sides]:
    """Yields the connectors in `items` that have words on both sides."""
    return (sides for sides in _all_sides(items) if sides.left and sides.right)


def _all_sides(items: Sequence[ClauseItem]) -> Iterator[Sides]:
    for at, item in enumerate(items):
        for rest, relation, turned in CONNECTORS.get(item.text, ()):
            after = at + 1 + len(rest)
            if tuple(follower.text for follower in items[at + 1 : after]) == rest:
                left, right = _left(items, at, after), content(clause_after(items, after))
                yield Sides(relation, right, left) if turned else Sides(relation, left, right)
                break
        if item.text == "from":
            yield from _from_to(items, at)
        elif item.stem == "replac" and not content(clause_before(items, at)):
            yield from _replacement(items, at)
        elif item.stem in RELATIONS:
            yield from _verb(items, at)


def _left(items: Sequence[ClauseItem], at: int, after: int) -> tuple[str, ...]:
    """Returns the words before a connector, or for it after the comma: "Instead of X, Y"."""
    if left := content(clause_before(items, at)):
        return left
    if at > 1 and items[at - 1].kind is Kind.COMMA:
        return content(clause_before(items, at - 1))
    comma = after + sum(1 for _ in clause_after(items, after))
    return content(clause_after(items, comma + 1)) if text_at(items, comma) == "," else ()


def _from_to(items: Sequence[ClauseItem], at: int) -> Iterator[Sides]:
    after, before = list(clause_after(items, at + 1)), list(clause_before(items, at))
    if (to := _find(after, ("to", "into"))) is not None:
        yield Sides("path", content(after[:to]), content(after[to:]))
    elif (to := _find(before, ("to", "into"))) is not None:
        yield Sides("path", content(after), content(before[:to]))


def _replacement(items: Sequence[ClauseItem], at: int) -> Iterator[Sides]:
    after = list(clause_after(items, at + 1))
    if (new := _find(after, ("with", "by"))) is not None:
        yield Sides("choice", content(after[new:]), content(after[:new]))


def _verb(items: Sequence[ClauseItem], at: int) -> Iterator[Sides]:
    relation, follower = items[at].stem, text_at(items, at + 1)
    preposition = RELATIONS[relation]
    passive = text_at(items, at - 1) in _BE or text_at(items, at - 2) in _BE
    if passive and follower != "by":
        return
    if passive or follower == preposition or (not preposition and follower not in _PREPOSITIONS):
        left, right = content(clause_before(items, at)), content(clause_after(items, at + 1))
        yield Sides(relation, right, left) if passive else Sides(relation, left, right)


def _find(items: Sequence[ClauseItem], words: tuple[str, ...]) -> int | None:
    return next((place for place, item in enumerate(items) if item.text in words), None)
