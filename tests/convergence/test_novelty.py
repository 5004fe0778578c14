"""Novelty of rounds (novelty spec, section 2)."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbtide.convergence.novelty import Novelty, NoveltyMeter, RoundNovelty, classify, is_low
from ebbtide.profile import Profile
from ebbtide.profile.convergence import NoveltyRules
from ebbtide.text.contrast.guard import Contrast, contrast

SPEC = Profile.SPEC.novelty
DEFAULT = Profile.DEFAULT.novelty

words = st.sampled_from("cache query index table lock shard".split())
claims = st.lists(words, min_size=1, max_size=5).map(" ".join)
rounds_of_claims = st.lists(st.lists(claims, max_size=5), max_size=6)


def _novelty(*, new: int, peak: int, claims: int = 10, so_far: int = 99) -> RoundNovelty:
    return RoundNovelty(
        total_claims=claims,
        claims=claims,
        new_L0=new,
        new_L1=new,
        peak_L0=peak,
        peak_L1=peak,
        new_so_far=so_far,
    )


@pytest.mark.clause("N02")
def test_claims_with_one_normal_form_count_once_in_a_round() -> None:
    """Repeats within a round are one claim."""
    found = NoveltyMeter(SPEC).update(["Use Redis.", "use  redis", "USE REDIS!", "Drop Redis"], 1)
    assert (found.total_claims, found.claims, found.new_L0) == (4, 2, 2)


@pytest.mark.clause("N03")
def test_a_claim_of_any_earlier_round_is_not_new() -> None:
    """L0 remembers all rounds, not only the last one."""
    meter = NoveltyMeter(SPEC)
    meter.update(["The cache is cold"], 1)
    meter.update(["The index is stale"], 2)
    found = meter.update(["the cache is cold.", "The lock is held"], 3)
    assert [(reading.new_L0, reading.nearest and reading.nearest.round) for reading in found.readings] == [
        (False, 1),
        (True, None),
    ]


@pytest.mark.clause("N04", "N07")
def test_rates_use_the_running_peak_of_their_own_level() -> None:
    """A rate is new claims over the most that any round so far brought, at that level."""
    meter = NoveltyMeter(SPEC)
    # Two claims, of which L1 takes the second for a paraphrase of the first (4 of 5 words shared).
    first = meter.update(["cache the hot queries", "cache the hot queries now"], 1)
    assert (first.rate_L0, first.rate_L1) == (1.0, 1.0)
    assert (first.peak_L0, first.peak_L1) == (2, 1)
    second = meter.update(["rotate every signing key"], 2)
    assert (second.rate_L0, second.rate_L1) == (0.5, 1.0)
    third = meter.update([f"topic {number} has its own reason {number}{number}" for number in range(3)], 3)
    assert third.peak_L0 == 3
    assert third.rate_L0 == 1.0


@pytest.mark.clause("N04")
def test_a_round_without_claims_has_rate_0() -> None:
    """No claims, or claims without a word, bring nothing."""
    meter = NoveltyMeter(SPEC)
    for empty in ([], ["", " ", "..."]):
        found = meter.update(empty, 1)
        assert (found.rate, found.claims) == (0.0, 0)


@pytest.mark.clause("N05")
def test_spec_tokens_are_the_white_space_words_of_the_normal_form() -> None:
    """Punctuation inside the claim belongs to its word in the SPEC profile, and does not in the default."""
    pair = ["cache, index, lock and shard", "cache index lock or shard"]
    assert [r.new_L1 for r in NoveltyMeter(SPEC).update(pair, 1).readings] == [True, True]
    assert [r.new_L1 for r in NoveltyMeter(DEFAULT).update(pair, 1).readings] == [True, False]


@pytest.mark.clause("N06")
def test_three_fifths_is_a_paraphrase() -> None:
    """The threshold itself counts as similar, without floating-point surprises."""
    found = NoveltyMeter(SPEC).update(["a b c d", "a b c e", "a b x y"], 1)
    similarities = [reading.nearest.similarity if reading.nearest else None for reading in found.readings]
    assert similarities == [None, 0.6, None]
    assert [reading.new_L1 for reading in found.readings] == [True, False, True]


@pytest.mark.clause("N06", "F02")
def test_inflated_claims_of_one_round_cluster() -> None:
    """Within a round, a paraphrase of an earlier claim of that round is not new at L1."""
    inflated = [f"the hot queries need a cache {word}" for word in ("now", "soon", "today", "please")]
    found = NoveltyMeter(SPEC).update(inflated, 1)
    assert (found.new_L0, found.new_L1) == (4, 1)


@pytest.mark.clause("F01")
def test_shuffled_words_are_new_at_L0_only() -> None:
    """Word order fools the exact level and not L1, and the lower rate counts."""
    meter = NoveltyMeter(SPEC)
    meter.update(["the cache hides stale rows", "the lock is held for too long"], 1)
    found = meter.update(["stale rows the cache hides", "for too long is the lock held"], 2)
    assert (found.rate_L0, found.rate_L1, found.rate) == (1.0, 0.0, 0.0)


@pytest.mark.clause("N10")
@given(rounds_of_claims)
def test_the_lowest_level_counts(rounds: list[list[str]]) -> None:
    """The rate is the minimum over the levels, from 0 to 1; L1 never finds more new claims than L0."""
    meter = NoveltyMeter(SPEC)
    for number, said in enumerate(rounds, start=1):
        found = meter.update(said, number)
        assert found.rate == min(found.rate_L0, found.rate_L1)
        assert 0 <= found.rate <= 1
        assert found.new_L1 <= found.new_L0 <= found.claims <= found.total_claims


@pytest.mark.clause("N06")
@given(rounds_of_claims)
def test_l1_equals_brute_force(rounds: list[list[str]]) -> None:
    """L1 finds exactly the claims whose Jaccard to everything said before stays below 3/5."""
    meter = NoveltyMeter(SPEC)
    seen: list[set[str]] = []
    for number, said in enumerate(rounds, start=1):
        for reading in meter.update(said, number).readings:
            tokens = set(reading.text.split())
            similar = any(Fraction(len(tokens & old), len(tokens | old)) >= Fraction(3, 5) for old in seen)
            assert reading.new_L1 == (not similar)
            seen.append(tokens)


@pytest.mark.clause("N11", "N12")
@pytest.mark.parametrize(
    ("new", "peak", "low_run", "expected"),
    [
        (10, 10, 0, Novelty.HIGH),
        (51, 100, 0, Novelty.HIGH),
        (1, 2, 0, Novelty.MEDIUM),
        (3, 20, 0, Novelty.MEDIUM),
        (14, 100, 1, Novelty.MEDIUM),
        (14, 100, 2, Novelty.LOW),
        (0, 10, 1, Novelty.MEDIUM),
        (0, 10, 2, Novelty.LOW),
        (0, 10, 9, Novelty.LOW),
    ],
)
def test_classes(new: int, peak: int, low_run: int, expected: Novelty) -> None:
    """0.5 and 0.15 are MEDIUM; below 0.15 is LOW from the second low round in a row on."""
    novelty = _novelty(new=new, peak=peak, claims=100)
    assert is_low(novelty, SPEC) == (new / peak < 0.15)
    assert classify(novelty, low_run, SPEC) is expected


@pytest.mark.clause("N12")
def test_k_is_configurable() -> None:
    """With k = 1 one low round is LOW; with k = 3 two are not."""
    nothing = _novelty(new=0, peak=9)
    assert classify(nothing, 1, NoveltyRules(low_rounds=1)) is Novelty.LOW
    assert classify(nothing, 2, NoveltyRules(low_rounds=3)) is Novelty.MEDIUM


@pytest.mark.parametrize(
    ("new", "claims", "peak", "by_peak", "by_own"),
    [
        (1, 1, 20, True, False),  # a short round that is all new, beside a long one
        (3, 6, 40, True, False),  # a long first round makes no other round low
        (1, 6, 6, False, True),  # one sentence of six that returns in other words
        (1, 5, 5, False, True),
        (1, 4, 4, False, False),
        (0, 6, 6, True, True),
        (0, 0, 6, True, True),
        (6, 6, 6, False, False),
    ],
)
def test_a_round_is_low_by_the_peak_to_the_letter_and_by_its_own_claims_by_default(
    new: int, claims: int, peak: int, *, by_peak: bool, by_own: bool
) -> None:
    novelty = _novelty(new=new, peak=peak, claims=claims)
    assert (is_low(novelty, SPEC), is_low(novelty, DEFAULT)) == (by_peak, by_own)


def test_low_rounds_are_low_also_where_no_round_brings_much() -> None:
    """One new claim of five is the peak of a thin conversation; by its own claims the round is low."""
    thin = _novelty(new=1, peak=1, claims=5)
    assert classify(thin, 2, DEFAULT) is Novelty.LOW
    assert classify(thin, 1, DEFAULT) is Novelty.HIGH


def test_a_round_that_only_asks_something_new_is_not_low_in_the_default_profile() -> None:
    """A turn that asks brings something; repeated claims with one more question on top do not."""
    asking = _novelty(new=0, peak=9, claims=0)
    assert is_low(asking, SPEC, asks_anew=True)
    assert not is_low(asking, DEFAULT, asks_anew=True)
    assert is_low(_novelty(new=0, peak=9, claims=4), DEFAULT, asks_anew=True)


def test_while_next_to_nothing_was_said_it_takes_one_low_round_more() -> None:
    """One claim so far is thin evidence: the default profile wants a third low round, and then stops."""
    thin = _novelty(new=0, peak=1, so_far=1)
    assert classify(thin, 2, SPEC) is Novelty.LOW
    assert classify(thin, 2, DEFAULT) is Novelty.MEDIUM
    assert classify(thin, 3, DEFAULT) is Novelty.LOW
    assert classify(_novelty(new=0, peak=1, so_far=2), 2, DEFAULT) is Novelty.LOW


@pytest.mark.clause("B01")
@pytest.mark.parametrize(
    ("said", "again"),
    [
        ("We are running tests on every commit", "We run the tests on every commit"),
        ("The service caches hot queries", "The service cached hot query"),
        ("Use PgBouncer for pooling connections", "Using PgBouncer for connection pooling"),
    ],
)
def test_endings_do_not_make_a_claim_new(said: str, again: str) -> None:
    """The default profile compares stems, which the spec does not."""
    assert [reading.new_L1 for reading in NoveltyMeter(DEFAULT).update([said, again], 1).readings] == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("said", "reversed_claim"),
    [
        ("Enable retries for the client", "Disable retries for the client"),
        ("Deploy the build on Friday", "Do not deploy the build on Friday"),
        ("Set the request timeout to 30 s", "Set the request timeout to 300 s"),
        ("Use Redis instead of Memcached", "Use Memcached instead of Redis"),
    ],
)
def test_a_reversal_is_new_in_the_default_profile_only(said: str, reversed_claim: str) -> None:
    """The contrast guard overrules the similarity and names what was reversed; SPEC does not."""
    letter = NoveltyMeter(SPEC).update([said, reversed_claim], 1).readings[1]
    assert not letter.new_L1
    guarded = NoveltyMeter(DEFAULT).update([said, reversed_claim], 1).readings[1]
    assert guarded.new_L1
    assert guarded.reversed is not None
    assert guarded.contrast is not None
    back = NoveltyMeter(DEFAULT)
    back.update([said, reversed_claim], 1)
    assert not back.update([said], 2).readings[0].is_new


def test_a_reversal_said_twice_is_not_new_twice() -> None:
    """A reworded reversal repeats the reversal, even though it reverses something else that was said."""
    meter = NoveltyMeter(DEFAULT)
    meter.update(["Enable retries for the payment client", "Disable retries for the payment client"], 1)
    again = meter.update(["Disable the retries for the payment client now"], 2).readings[0]
    assert not again.new_L1
    assert again.nearest is not None
    assert again.nearest.text.startswith("disable")


def test_a_repeated_claim_names_the_earlier_one_on_the_wire() -> None:
    """Which one, of which round, and how similar; null where there is none."""
    meter = NoveltyMeter(SPEC)
    first = meter.update(["The cache is cold"], 1)
    again = meter.update(["the cache is cold."], 2)
    assert [reading.to_dict()["nearest"] for reading in first.readings] == [None]
    assert [reading.to_dict()["nearest"] for reading in again.readings] == [
        {"text": "the cache is cold", "round": 1, "similarity": 1.0}
    ]


def test_explaining_names_the_nearest_claim_of_a_new_one() -> None:
    """With explain, a new claim knows what it is nearest to and by how much; without, it does not."""
    said = ["the cache hides stale rows", "the cache is too small"]
    plain = NoveltyMeter(SPEC).update(said, 1).readings[1]
    explained = NoveltyMeter(SPEC, explain=True).update(said, 1).readings[1]
    assert plain.is_new
    assert plain.nearest is None
    assert explained.nearest is not None
    assert (explained.nearest.text, explained.nearest.round) == ("the cache hides stale rows", 1)
    assert explained.nearest.similarity == 0.25


@pytest.mark.parametrize(
    "line",
    [
        "Step {}: check the cache and restart service {}.",
        "The worker handles item {} of the nightly batch without errors.",
        "I decided to keep option a{} instead of b{}.",
        "We will use the following query {}.",
    ],
)
def test_alike_claims_are_compared_a_bounded_number_of_times(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice as many claims take about twice the contrasts, also where each contradicts all the others."""
    calls = 0

    def counted(here: str, there: str) -> Contrast | None:
        nonlocal calls
        calls += 1
        return contrast(here, there)

    monkeypatch.setattr("ebbtide.convergence.novelty.contrast", counted)
    by_size = []
    for size in (100, 200, 400):
        calls, meter = 0, NoveltyMeter(DEFAULT)
        novelty = meter.update([line.format(number, number) for number in range(size)], 1)
        by_size.append(calls)
        assert novelty.crowded > size // 4
    assert by_size[2] <= 400 * 8
    assert by_size[2] <= 2.5 * by_size[1] <= 6.25 * by_size[0]


def test_a_numbered_item_that_comes_again_is_found_among_hundreds() -> None:
    """Reworded, each item of a long list repeats the one of its number, and no other."""
    meter = NoveltyMeter(DEFAULT)
    meter.update([f"Step {n}: check the cache and restart service {n}." for n in range(300)], 1)
    again = meter.update([f"Step {n}: check the cache, then restart service {n}" for n in range(300)], 2)
    assert again.new_L1 == 0


def test_claims_over_the_bound_are_counted_and_not_read() -> None:
    """A round that states too many claims says how many were left out; a repeat within it is none."""
    claims = [f"{number} rows of table t{number * 7}" for number in range(600)]
    novelty = NoveltyMeter(SPEC).update([*claims, claims[0]], 1)
    assert (novelty.total_claims, novelty.claims, novelty.left_out) == (601, 512, 88)
    assert novelty.to_dict()["claims_left_out"] == 88
    assert "claims_left_out" not in NoveltyMeter(SPEC).update(["one claim"], 1).to_dict()
