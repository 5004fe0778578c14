"""Exact similarity search over token sets: every seen set within a Jaccard threshold of a new one.

Two sets that reach Jaccard t share at least ceil(t n) tokens, n being the size of either. Write each set
rarest token first: then the two rarest tokens that they share both lie among the first n - ceil(t n) + 2 of
either. So the index files a set under every pair of tokens of that prefix, and a search reads only the lists
of the new set's own pairs. Pairs of rare tokens have short lists, which is what makes it fast; that the
pairs cannot be missed is what makes it exact.

The pairs of a prefix grow with its square. A set of more than 64 tokens is filed under single ones instead:
the rarest token that two sets share lies among the first n - ceil(t n) + 1 of either. A smaller set that may
still match one of those is filed under both.

Source: prefix filtering after Chaudhuri, Ganti and Kaushik, "A Primitive Operator for Similarity Joins in
Data Cleaning" (ICDE 2006); prefixes that share l tokens after Wang, Li and Feng, "Can We Beat the Prefix
Filtering?" (SIGMOD 2012), here with l = 2 and the pair itself as the key.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Set as AbstractSet
from itertools import chain, combinations
from typing import NamedTuple

from ebbtide.errors import ConfigError

# Rarity is learned from what was seen, so the order is taken anew while the index grows. The eightfold steps
# keep that to a seventh of the work of filling it.
_FIRST_REORDER = 256
_REORDER_GROWTH = 8
_PAIR_SHIFT = 32
_LONG = 64  # tokens from which on the pairs of a prefix are too many


class Match(NamedTuple):
    """Similar set that was seen before.

    `number` counts the sets from 0 in the order in which they were added; `shared` and `union` are token
    counts.
    """

    number: int
    shared: int
    union: int

    @property
    def similarity(self) -> float:
        """Jaccard similarity, 0 to 1."""
        return self.shared / self.union


def jaccard(left: AbstractSet[str], right: AbstractSet[str]) -> float:
    """Returns the tokens in both over the tokens in either, 0 to 1; two empty sets are equal and give 1.

    The quotient of two counts is the double that is nearest to it, and so is a decimal threshold:
    3 of 5 is exactly 0.6.
    """
    shared = len(left & right)
    union = len(left) + len(right) - shared
    return shared / union if union else 1.0


class JaccardIndex:
    """Token sets, searchable by Jaccard similarity at or above one threshold.

    Args:
        at_least: The threshold, over 0 to 1. A set that reaches it exactly is a match.
        crowd: Sets that are filed under one key, the oldest ones; `crowded` counts those that met a full key.
            None files them all: the search is exact, and a thousand sets that are alike take a million
            comparisons.

    Attributes:
        crowded: Sets that share a key with more sets than `crowd`, so that a match of theirs may be missed.

    >>> index = JaccardIndex(0.6)
    >>> index.add({"cache", "the", "hot", "queries"})
    []
    >>> [match.similarity for match in index.add({"cache", "hot", "queries"})]
    [0.75]
    """

    def __init__(self, at_least: float, *, crowd: int | None = None) -> None:
        if not 0 < at_least <= 1:
            raise ConfigError(f"at_least = {at_least!r}: expected more than 0, up to 1")
        if crowd is not None and crowd < 2:
            raise ConfigError(f"crowd = {crowd!r}: expected 2 or more, or None")
        self.at_least = at_least
        self.crowded = 0
        self._crowd = math.inf if crowd is None else crowd
        self._ids: dict[str, int] = {}
        self._ranks: list[int] = []  # token id -> place in the order, the rarest lowest
        self._counts: list[int] = []  # token id -> sets that have it
        self._sets: list[tuple[int, ...]] = []
        self._filed: dict[int, int | list[int]] = {}  # key -> the set, or the sets, filed under it
        self._reorder_at = _FIRST_REORDER
        self._holders: dict[int, list[int]] = {}  # token id -> sets, filled up only when `nearest` asks
        self._counted = 0

    def __len__(self) -> int:
        return len(self._sets)

    def add(self, tokens: AbstractSet[str]) -> list[Match]:
        """Remembers `tokens`, and returns the matching sets seen before: most similar first, then oldest."""
        ids = self._numbers_of(tokens, learn=True)
        candidates = self._file(ids, len(self._sets))
        matches = self._verified(ids, candidates, len(ids)) if candidates else []
        counts = self._counts
        for token in ids:
            counts[token] += 1
        self._sets.append(tuple(ids))
        if len(self._sets) >= self._reorder_at:
            self._reorder_at *= _REORDER_GROWTH
            self._reorder()
        return matches

    def matches(self, tokens: AbstractSet[str]) -> list[Match]:
        """Returns the sets seen so far that match `tokens`: most similar first, then oldest."""
        ids = self._numbers_of(tokens, learn=False)
        candidates: set[int] = set()
        for key in self._keys(ids, len(tokens)):
            here = self._filed.get(key)
            if isinstance(here, int):
                candidates.add(here)
            elif here is not None:
                candidates.update(here)
        return self._verified(ids, candidates, len(tokens))

    def nearest(self, tokens: AbstractSet[str]) -> Match | None:
        """Returns the most similar set seen so far, however far it is; None if no set shares a token.

        Counts over every holder of every token: linear in the size of the index, for explanations.
        """
        ids = self._numbers_of(tokens, learn=False)
        for number in range(self._counted, len(self._sets)):
            for token in self._sets[number]:
                self._holders.setdefault(token, []).append(number)
        self._counted = len(self._sets)
        shared = Counter(chain.from_iterable(self._holders.get(token, ()) for token in ids))
        best: Match | None = None
        for number, count in shared.items():
            match = Match(number, count, len(tokens) + len(self._sets[number]) - count)
            if best is None or _order(match) < _order(best):
                best = match
        return best

    def _numbers_of(self, tokens: AbstractSet[str], *, learn: bool) -> list[int]:
        ids = self._ids
        numbers: list[int] = []
        for token in tokens:
            number = ids.get(token)
            if number is None:
                if not learn:
                    continue
                number = len(ids)
                ids[token] = number
                self._ranks.append(-number)  # new, so rarer than every token that was ranked by count
                self._counts.append(0)
            numbers.append(number)
        numbers.sort(key=self._ranks.__getitem__)
        return numbers

    def _keys(self, ids: list[int], size: int) -> list[int]:
        # Tokens that the index never saw are counted in `size`; they stand first in the order, as the rarest.
        required = math.ceil(self.at_least * size - 1e-9)
        spare = len(ids) - required
        keys: list[int] = []
        if size <= _LONG:
            prefix = ids[: max(spare + 2, 0)]
            keys = [left << _PAIR_SHIFT | right for left, right in combinations(prefix, 2)]
        if required == 1:  # a match may share one token only
            keys += [~token for token in ids]
        elif size >= self.at_least * _LONG:
            keys += [~token for token in ids[: max(spare + 1, 0)]]
        return keys

    def _file(self, ids: list[int], number: int) -> set[int]:
        filed, crowd = self._filed, self._crowd
        others: set[int] = set()
        is_crowded = False
        for key in self._keys(ids, len(ids)):
            here = filed.get(key)
            if here is None:
                filed[key] = number
            elif isinstance(here, int):
                others.add(here)
                filed[key] = [here, number]
            else:
                others.update(here)
                if len(here) < crowd:
                    here.append(number)
                else:
                    is_crowded = True
        self.crowded += is_crowded
        return others

    def _verified(self, ids: list[int], candidates: set[int], size: int) -> list[Match]:
        shared_with = set(ids).intersection
        matches: list[Match] = []
        for number in candidates:
            other = self._sets[number]
            shared = len(shared_with(other))
            union = size + len(other) - shared
            if shared / union >= self.at_least:
                matches.append(Match(number, shared, union))
        if len(matches) > 1:
            matches.sort(key=_order)
        return matches

    def _reorder(self) -> None:
        by_count = sorted(range(len(self._counts)), key=self._counts.__getitem__)
        # Tokens that come later take the places below, so these start above every negative one.
        for rank, token in enumerate(by_count):
            self._ranks[token] = rank
        self._filed.clear()
        for number, ids in enumerate(self._sets):
            ordered = sorted(ids, key=self._ranks.__getitem__)
            self._sets[number] = tuple(ordered)
            self._file(ordered, number)


def _order(match: Match) -> tuple[float, int]:
    return (-match.similarity, match.number)
