"""Which items are held out together."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ebbtide.convergence.calibration.threshold_fit import fold_numbers


@given(st.lists(st.sampled_from("abcdefghijklmnop"), min_size=1))
def test_groups_stay_together(groups: list[str]) -> None:
    """A group has one fold, every fold has a group, and there are at most ten."""
    folds = fold_numbers(groups)
    if len(set(groups)) < 2:
        assert folds is None
        return
    assert folds is not None
    assert len(set(zip(groups, folds, strict=True))) == len(set(groups))
    assert set(folds) == set(range(min(10, len(set(groups)))))


def test_folds_are_even() -> None:
    """Single items are spread evenly."""
    folds = fold_numbers([str(number) for number in range(101)])
    assert folds is not None
    assert set(Counter(folds).values()) == {10, 11}
