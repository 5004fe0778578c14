"""Exact similarity search (novelty spec, 2.1 L1)."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.errors import ConfigError
from ebbtide.text.jaccard_index import JaccardIndex, jaccard

token_sets = st.frozensets(st.sampled_from([f"t{number}" for number in range(14)]), min_size=1, max_size=9)
thresholds = st.sampled_from(["0.1", "0.25", "0.34", "0.5", "0.6", "0.75", "0.82", "0.9", "1.0"])


def _brute_force(seen: list[frozenset[str]], tokens: frozenset[str], at_least: Fraction) -> list[int]:
    similar = [
        (-Fraction(len(tokens & other), len(tokens | other)), number)
        for number, other in enumerate(seen)
        if Fraction(len(tokens & other), len(tokens | other)) >= at_least
    ]
    return [number for _, number in sorted(similar)]


@pytest.mark.clause("N06")
@given(st.lists(token_sets, max_size=60), thresholds)
def test_search_equals_brute_force_with_exact_fractions(sets: list[frozenset[str]], threshold: str) -> None:
    """Every set at or above the threshold is found, no other, most similar first, before and after adding."""
    index = JaccardIndex(float(threshold))
    seen: list[frozenset[str]] = []
    for tokens in sets:
        expected = _brute_force(seen, tokens, Fraction(threshold))
        assert [match.number for match in index.matches(tokens)] == expected
        assert [match.number for match in index.add(tokens)] == expected
        seen.append(tokens)


@pytest.mark.clause("N06")
def test_search_stays_exact_while_the_order_is_learned_anew() -> None:
    """Past the sizes at which the token order changes, search still equals brute force."""
    index = JaccardIndex(0.6)
    seen: list[frozenset[str]] = []
    for number in range(2_300):
        # A few frequent tokens, a drifting vocabulary, and near copies of what came 7 sets before.
        tokens = frozenset(f"w{(number * step) % (40 + number // 3)}" for step in range(1, 7 + number % 5))
        tokens = seen[number - 7] | {f"x{number % 11}"} if number % 3 == 0 and number > 7 else tokens
        found = index.add(tokens)
        if number % 23 == 0 or number > 2_250:
            assert [match.number for match in found] == _brute_force(seen, tokens, Fraction("0.6"))
        seen.append(tokens)


@given(st.lists(token_sets, min_size=1, max_size=40), token_sets)
def test_nearest_is_the_most_similar_of_all(sets: list[frozenset[str]], tokens: frozenset[str]) -> None:
    """The nearest set is the most similar and, among equals, the oldest; None without a shared token."""
    index = JaccardIndex(0.6)
    for other in sets:
        index.add(other)
    match = index.nearest(tokens)
    similarities = [jaccard(tokens, other) for other in sets]
    if max(similarities) == 0:
        assert match is None
    else:
        assert match is not None
        assert match.number == similarities.index(max(similarities))
        assert match.similarity == max(similarities)


@pytest.mark.clause("N05")
@given(token_sets, token_sets)
def test_jaccard_is_the_exact_quotient(left: frozenset[str], right: frozenset[str]) -> None:
    """Jaccard is symmetric, within 0 to 1, 1 for equal sets only, and the double nearest to the fraction."""
    similarity = jaccard(left, right)
    assert similarity == jaccard(right, left)
    assert (similarity == 1) == (left == right)
    assert similarity == float(Fraction(len(left & right), len(left | right)))


def test_asking_does_not_learn() -> None:
    """Searching leaves the index as it was, and tokens never seen count for the size of the question."""
    index = JaccardIndex(0.6)
    index.add({"a", "b", "c"})
    assert [match.similarity for match in index.matches({"a", "b", "c", "new", "newer"})] == [0.6]
    assert index.matches({"a", "b", "c", "new", "newer", "newest"}) == []
    assert index.matches(set()) == []
    assert index.nearest({"unknown"}) is None
    assert len(index) == 1


@pytest.mark.parametrize("threshold", [0.0, -0.1, 1.1, float("nan")])
def test_a_threshold_that_means_nothing_is_refused(threshold: float) -> None:
    """A threshold has to lie above 0 and at most at 1."""
    with pytest.raises(ConfigError, match="at_least"):
        JaccardIndex(threshold)


@pytest.mark.clause("N06")
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(20, 150), st.integers(0, 40)), min_size=1, max_size=25),
    st.sampled_from(["0.02", "0.34", "0.6", "0.82", "1.0"]),
)
def test_search_is_exact_for_long_sets_too(shapes: list[tuple[int, int, int]], threshold: str) -> None:
    """Sets on either side of the size from which single tokens are the keys find one another."""
    index = JaccardIndex(float(threshold))
    seen: list[frozenset[str]] = []
    for family, size, shift in shapes:
        tokens = frozenset(f"{family}-{number}" for number in range(shift, shift + size))
        expected = _brute_force(seen, tokens, Fraction(threshold))
        assert [match.number for match in index.matches(tokens)] == expected
        assert [match.number for match in index.add(tokens)] == expected
        seen.append(tokens)


def test_a_long_set_is_filed_under_few_keys() -> None:
    """A set of a thousand tokens takes no more keys than it has tokens."""
    index = JaccardIndex(0.6)
    index.add({f"t{number}" for number in range(1_000)})
    assert len(index._filed) <= 1_000


def test_a_crowd_is_bounded_and_counted() -> None:
    """Of sets that are all alike a bounded number is compared; one that shares something rare is found."""
    index = JaccardIndex(0.6, crowd=8)
    index_sets = [frozenset(("check", "the", "service", f"n{number}")) for number in range(500)]
    longest = max(len(index.add(tokens)) for tokens in index_sets)
    assert longest <= 8 * 6  # one list for each pair of four tokens
    assert index.crowded > 400
    again = frozenset(("check", "the", "service", "n400", "again"))
    assert index.matches(again)[0].number == 400


def test_a_crowd_of_one_is_refused() -> None:
    """One set a key would find nothing."""
    with pytest.raises(ConfigError, match="crowd = 1"):
        JaccardIndex(0.6, crowd=1)
