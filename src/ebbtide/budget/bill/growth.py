"""Whose tokens the growth of a context is: what came between two calls of a model, by what is known of it.

The growth is exact, and so is the answer of the model where the trace states its output. What is rest belongs
to the results of tools and the words of people: exactly where there is one of them, by length where there are
several.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ebbtide.budget.bill.context import Item

_MOST_CHARACTERS: Final = 8  # a token, of texts with many spaces
_USUAL_CHARACTERS: Final = 4  # a token, of prose and code
_LEAST_CHARACTERS: Final = 1  # a token, of digits, signs and rare scripts
_WRAPPING: Final = 60  # tokens that the form of a message adds
_SHARE_OF_HIDDEN: Final = 0.2  # less than so much of a first context is known from an error of the estimate


def is_understated(output: int, characters: int | None) -> bool:
    """True if a call states fewer output tokens than its words can have.

    Some traces state what the first piece of a stream stated.

    >>> is_understated(3, 400), is_understated(100, 400), is_understated(1, 30)
    (True, False, False)
    """
    return characters is not None and characters > _MOST_CHARACTERS * output + _WRAPPING


def growth_of(
    tokens: int, own: Item | None, output: int, items: Sequence[Item]
) -> tuple[list[tuple[Item, int]], int]:
    """Share out what a context grew by between two calls.

    Args:
        tokens: The growth, 0 or more.
        own: What the model had length and asked for; None where it had not been heard of.
        output: Tokens that it had written, as the trace states them.
        items: What came after it.

    Returns:
        Each with its tokens, and the tokens that are nobody's.
    """
    shares: list[tuple[Item, int]] = []
    rest = tokens
    length = sum(item.length or 0 for item in items)
    if own is not None:
        words = own.length or 0
        if is_understated(output, own.length) or tokens - output < length // _MOST_CHARACTERS:
            # Either more was written than is stated, or what was thought is not read again.
            own.is_estimated = True
            share = min(_part(rest, words, words + length), max(output, words // _LEAST_CHARACTERS))
        else:
            share = min(output, rest)
        shares.append((own, share))
        rest -= share
    return shares + _by_length(rest, items), rest - _most(rest, items)


def first_growth(tokens: int, items: Sequence[Item]) -> tuple[list[tuple[Item, int]], int]:
    """Share out the context of a first call: what is recorded of it, by length, and what stands before that.

    Returns:
        Each with its tokens, and the tokens that are the instructions' and the tools'.
    """
    length = sum(item.length or 0 for item in items)
    share = min(tokens, length // _USUAL_CHARACTERS + _WRAPPING * len(items))
    if tokens - share < _SHARE_OF_HIDDEN * tokens:
        share = min(tokens, _most(tokens, items))
    for item in items:
        item.is_estimated = True
    return _by_length(share, items), tokens - share


def _by_length(tokens: int, items: Sequence[Item]) -> list[tuple[Item, int]]:
    """Tokens shared out by length, as far as they can be theirs; to the last one."""
    tokens = _most(tokens, items)
    if len(items) == 1:
        return [(items[0], tokens)]
    weights = [_weight(item) for item in items]
    total = sum(weights)
    shares = []
    for item, weight in zip(items, weights, strict=True):
        item.is_estimated = True
        share = _part(tokens, weight, total)
        shares.append((item, share))
        tokens -= share
        total -= weight
    return shares


def _most(tokens: int, items: Sequence[Item]) -> int:
    """Returns the most tokens that items can have; pictures and what is not recorded can have any number."""
    if any(item.length is None for item in items):
        return tokens
    return min(tokens, sum((item.length or 0) // _LEAST_CHARACTERS + _WRAPPING for item in items))


def _weight(item: Item) -> int:
    return (_WRAPPING * _USUAL_CHARACTERS if item.length is None else item.length) + 1


def _part(tokens: int, weight: int, total: int) -> int:
    return tokens * weight // total if total else 0
