"""Cross-validation: what is fitted on some groups is tried on others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

MOST = 10


def fold_numbers(groups: Sequence[str], *, most: int = MOST) -> tuple[int, ...] | None:
    """The fold in which each item is held out; a group is held out as a whole.

    The largest group goes first, each into the fold that is smallest so far. It depends on nothing but the
    groups.

    Args:
        groups: The group of each item.
        most: Folds at most; fewer where there are fewer groups.

    Returns:
        Numbers from 0; None where there is one group only, so that nothing can be held out.

    >>> fold_numbers(["tea", "tea", "tea", "milk", "milk", "salt"], most=2)
    (0, 0, 0, 1, 1, 1)
    """
    sizes = Counter(groups)
    if len(sizes) < 2:
        return None
    filled = [0] * min(most, len(sizes))
    fold_of: dict[str, int] = {}
    for group, size in sizes.most_common():
        fold = filled.index(min(filled))
        fold_of[group] = fold
        filled[fold] += size
    return tuple(fold_of[group] for group in groups)
