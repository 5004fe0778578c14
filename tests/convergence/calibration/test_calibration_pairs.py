"""Thresholds against labelled pairs whose best threshold is known."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from ebbtide.convergence.calibration.confusion import Confusion
from ebbtide.convergence.calibration.labelled import LabelledPair
from ebbtide.convergence.calibration.pairs import (
    GroupPrecision,
    MeasureReport,
    PairCalibration,
    calibrate_pairs,
)
from ebbtide.errors import ConfigError
from ebbtide.profile import Profile
from ebbtide.rate import Rate

WORDS = [f"{left}o{right}am" for left in "bdfgklmnp" for right in "bdgklmp"]  # no words of any rule


def pair(shared: int, *, of: int, same: bool, group: str, seed: int) -> LabelledPair:
    """Two texts of ten words each side that share some: Jaccard is shared / of."""
    words = random.Random(seed).sample(WORDS, of)  # noqa: S311 - the same each time
    middle = shared + (of - shared) // 2
    return LabelledPair(
        a=" ".join(words[:middle]),
        b=" ".join([*words[:shared], *words[middle:]]),
        same=same,
        group=group,
    )


def pairs(n: int = 40, groups: int = 4) -> list[LabelledPair]:
    """`n` pairs of either kind: the same from a Jaccard of 0.4 on, different up to 0.3."""
    found = []
    for number in range(n):
        group = f"topic {number % groups}"
        found.append(pair(4 + number % 5, of=10, same=True, group=group, seed=number))
        found.append(pair(number % 4, of=10, same=False, group=group, seed=1000 + number))
    return found


def report(result: PairCalibration, name: str) -> MeasureReport:
    return next(measure for measure in result.measures if measure.name == name)


@pytest.mark.clause("B07")
def test_better_threshold_is_found_and_held_out() -> None:
    """Where 0.4 separates the labels, 0.6 is reported with what it misses, and 0.4 is proposed."""
    result = calibrate_pairs(pairs())
    found = report(result, "L1 stems")
    assert found.current == Confusion(hits=24, misses=16, rejections=40)
    assert (found.average_precision, found.area_under_roc) == (1.0, 1.0)
    assert found.fit is not None
    assert found.fit.threshold == found.proposed == 0.4
    assert found.fit.held_out == Confusion(hits=40, rejections=40)
    assert found.fit.fold_thresholds == (0.4, 0.4, 0.4, 0.4)
    assert result.fitted is not None
    assert result.fitted.novelty.jaccard_at_least == 0.4
    assert result.fitted.novelty.cosine_at_least == Profile.DEFAULT.novelty.cosine_at_least


def test_what_the_profile_does_not_use_is_not_changed() -> None:
    """Words are measured beside stems, but a profile that compares stems gets no threshold for words."""
    result = calibrate_pairs(pairs())
    words = report(result, "L1 words")
    assert words.setting is None
    assert words.proposed is None
    assert "would be better, but the profile compares in another way" in words.verdict
    assert report(calibrate_pairs(pairs(), Profile.SPEC), "L1 words").proposed == 0.4


@pytest.mark.clause("B07")
@pytest.mark.parametrize("n", [1, 29])
def test_too_few_labels_fit_nothing(n: int) -> None:
    """Below 30 labels of either kind agreement is told, but nothing is fitted or proposed."""
    result = calibrate_pairs(pairs(n))
    found = report(result, "L1 stems")
    assert found.current.agreement.total == 2 * n
    assert (found.fit, found.proposed, result.fitted) == (None, None, None)
    assert f"nothing fitted: {n} the same and {n} not, it takes 30 of each" in found.verdict


def test_one_group_fits_nothing() -> None:
    """Where nothing can be held out, nothing is fitted."""
    result = calibrate_pairs(pairs(groups=1))
    assert result.fitted is None
    assert "all are of one group" in report(result, "L1 stems").verdict


def test_labels_that_similarity_cannot_tell_keep_the_threshold() -> None:
    """Where similarity says nothing about the label, the current threshold stays."""
    coin = random.Random(5)  # noqa: S311 - the same each time
    unrelated = [
        pair(1 + number % 8, of=10, same=coin.random() < 0.3, group=str(number % 8), seed=number)
        for number in range(300)
    ]
    result = calibrate_pairs(unrelated)
    assert result.fitted is None
    assert all(found.proposed is None for found in result.measures)


def test_group_with_its_own_ways_shows_in_what_is_held_out() -> None:
    """A threshold that only fits the groups it was fitted on is not proposed."""
    left = [pair(8, of=10, same=True, group="left", seed=n) for n in range(40)]
    left += [pair(6, of=10, same=False, group="left", seed=100 + n) for n in range(40)]
    right = [pair(3, of=10, same=True, group="right", seed=200 + n) for n in range(40)]
    right += [pair(1, of=10, same=False, group="right", seed=300 + n) for n in range(40)]
    found = report(calibrate_pairs([*left, *right]), "L1 stems")
    assert found.fit is not None
    assert found.fit.fitted_on.f1 > 0.75
    assert found.fit.held_out.f1 < 0.55
    assert found.fit.fold_thresholds == (0.3, 0.8)
    assert found.proposed is None
    assert "stays" in found.verdict


def test_threshold_that_is_mostly_wrong_is_not_taken() -> None:
    """With a precision of 0.5 asked for, a better F1 at a lower precision is not proposed; at 0 it is."""
    many = [pair(2, of=10, same=number % 4 == 0, group=str(number % 5), seed=number) for number in range(400)]
    few = [pair(5, of=10, same=True, group=str(number % 5), seed=1000 + number) for number in range(20)]
    assert report(calibrate_pairs([*many, *few]), "L1 stems").proposed == 0.5
    assert report(calibrate_pairs([*many, *few], precision_at_least=0), "L1 stems").proposed == 0.2


@pytest.mark.parametrize(("profile", "hits", "false_alarms"), [(Profile.DEFAULT, 1, 0), (Profile.SPEC, 1, 1)])
def test_contrast_guard_counts_as_in_the_meter(profile: Profile, hits: int, false_alarms: int) -> None:
    """A reversal is not the same at any threshold where the profile has the guard."""
    labelled = [
        LabelledPair(a="Enable the retries now", b="Disable the retries now", same=False, group="x"),
        LabelledPair(a="Enable the retries now", b="Enable retries now", same=True, group="x"),
    ]
    found = report(calibrate_pairs(labelled, profile), f"L1 {profile.novelty.tokens}")
    assert (found.current.hits, found.current.false_alarms) == (hits, false_alarms)


class Angles:
    """Texts that end in a number of degrees, as directions."""

    model = "angles"
    dimensions = 2

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        degrees = np.radians([float(text.split()[-1]) for text in texts])
        return np.stack([np.cos(degrees), np.sin(degrees)], axis=1).astype(np.float32)


def test_cosine_is_measured_where_there_is_an_embedder() -> None:
    """L2 is there with an embedder only, with its own threshold."""
    labelled = [
        LabelledPair(
            a=f"{n} at 0",
            b=f"{n} at {30 + n % 5 if n % 2 else 60 + n % 5}",
            same=bool(n % 2),
            group=str(n % 7),
        )
        for n in range(80)
    ]
    result = calibrate_pairs(labelled, embedder=Angles(), profile=Profile.SPEC)
    found = report(result, "L2")
    assert found.current.f1 == 1.0
    assert found.verdict.startswith("0.82 stays")
    assert result.semantic == Angles().model
    assert [measure.name for measure in calibrate_pairs(labelled).measures] == ["L1 words", "L1 stems"]


def test_any_threshold_can_be_asked() -> None:
    """What a threshold does is read off the curve, above, between and below its points."""
    found = report(calibrate_pairs(pairs()), "L1 stems")
    scores = [0.1 * (4 + n % 5) for n in range(40)] + [0.1 * (n % 4) for n in range(40)]
    labels = [True] * 40 + [False] * 40
    for threshold in (0.05, 0.35, 0.45, 0.61, 1.0):
        assert found.at(threshold) == Confusion.at(threshold, scores, labels)


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_share_out_of_range(share: float) -> None:
    """A precision is a share."""
    with pytest.raises(ConfigError, match="precision_at_least"):
        calibrate_pairs(pairs(1), precision_at_least=share)


def test_nothing_to_measure() -> None:
    """No pairs are no calibration."""
    with pytest.raises(ConfigError, match="no labelled pairs"):
        calibrate_pairs([])


def test_weakest_group_is_told() -> None:
    """A threshold that is right on the whole may be wrong in one group; small groups do not count."""

    def alike(group: str, right: int, wrong: int) -> list[LabelledPair]:
        labels = [True] * right + [False] * wrong
        return [
            LabelledPair(a=f"tea {group} {at}", b=f"tea {group} {at}", same=same, group=group)
            for at, same in enumerate(labels)
        ]

    def weakest(*items: list[LabelledPair]) -> GroupPrecision | None:
        return calibrate_pairs([pair for part in items for pair in part]).measures[0].weakest

    group = weakest(alike("good", 30, 0), alike("bad", 3, 9), alike("few", 0, 9))
    assert group == GroupPrecision(group="bad", precision=Rate(hits=3, total=12))
    assert weakest(alike("few", 0, 9)) is None
