"""Stopping rules against labelled conversations whose right stop is known."""

from collections.abc import Sequence

import numpy as np
import pytest

from ebbtide.convergence.calibration.labelled import LabelledTranscript
from ebbtide.convergence.calibration.stops import StopAgreement, calibrate_stops
from ebbtide.convergence.signal import Signal
from ebbtide.errors import ConfigError
from ebbtide.events.transcript import Round, Transcript
from ebbtide.profile import Profile

COLOURS = ["amber", "black", "coral", "denim", "ebony", "flax", "green"]


def conversation(fresh: int, stale: int, **labels: object) -> LabelledTranscript:
    """`fresh` rounds with two new claims each, then `stale` ones that repeat the first."""
    said = [(f"{colour} doors were painted", f"{colour} roofs leak") for colour in COLOURS[:fresh]]
    rounds = [
        Round(number=number, claims=claims, next_actions=("Run make test",))
        for number, claims in enumerate([*said, *[said[0]] * stale], start=1)
    ]
    return LabelledTranscript.of(Transcript(conversation_id="doors", rounds=tuple(rounds)), labels)


@pytest.mark.clause("B07")
def test_people_who_stop_a_round_earlier() -> None:
    """Where people stop at the first stale round, one low round is proposed instead of two."""
    items = [conversation(2 + n % 3, 3, stop_round=3 + n % 3) for n in range(30)]
    result = calibrate_stops(items)
    assert (result.stops, result.goes) == (30, 90)
    assert (result.current.stop_round.hits, result.current.late.hits, result.current.near.hits) == (0, 30, 30)
    assert result.fit is not None
    assert result.fit.low_rounds == 1
    assert result.fit.held_out.stop_round.hits == 30
    assert len(result.fit.fold_settings) == 10
    assert result.fitted is not None
    assert result.fitted.novelty.low_rounds == 1
    assert result.fitted.novelty.low_below == Profile.DEFAULT.novelty.low_below
    assert "low_rounds 1" in result.verdict


@pytest.mark.clause("B07")
def test_profile_that_is_right_stays() -> None:
    """Where the current settings agree with every label, nothing is proposed."""
    items = [conversation(2 + n % 3, 3, stop_round=4 + n % 3) for n in range(30)]
    result = calibrate_stops(items)
    assert result.current.stop_round.hits == 30
    assert result.fitted is None
    assert "stay" in result.verdict


def test_too_few_labels_fit_nothing() -> None:
    """Below 30 labels that say stop, or that say go on, agreement is told and nothing is fitted."""
    items = [conversation(3, 2, stop_round=4) for _ in range(29)]
    result = calibrate_stops(items)
    assert result.current.stop_round.total == 29
    assert (result.fit, result.fitted) == (None, None)
    assert (
        result.verdict == "nothing fitted: 29 labels say stop and 87 continue; at least 30 of each are needed"
    )
    assert calibrate_stops([conversation(1, 0, stop_round=1)] * 30).fit is None


@pytest.mark.parametrize(
    ("fresh", "stale", "labels", "expected"),
    [
        (3, 2, {"signal": "SHIP"}, (1, 1, 0, 0)),
        (3, 1, {"signal": "SHIP"}, (0, 1, 0, 0)),
        (3, 1, {"signal": "CONTINUE"}, (1, 1, 0, 0)),
        (3, 2, {"stop_round": 5}, (0, 0, 1, 1)),
        (3, 3, {"stop_round": 6}, (0, 0, 0, 1)),
        (3, 1, {"stop_round": 4}, (0, 0, 0, 1)),
        (3, 2, {"signal": "ESCALATE", "stop_round": 4}, (0, 1, 0, 1)),
    ],
)
def test_agreement(
    fresh: int, stale: int, labels: dict[str, object], expected: tuple[int, int, int, int]
) -> None:
    """The last signal and the first stop are compared with what was labelled, and with nothing else."""
    found = calibrate_stops([conversation(fresh, stale, **labels)]).current
    assert (found.signal.hits, found.signal.total, found.stop_round.hits, found.stop_round.total) == expected


def test_early_and_late_are_told_apart() -> None:
    """A stop before the labelled round is early, one after it or none at all is late."""
    items = [
        conversation(3, 3, stop_round=6),
        conversation(3, 3, stop_round=4),
        conversation(3, 1, stop_round=2),
    ]
    found = calibrate_stops(items).current
    assert (found.early.hits, found.late.hits, found.near.hits) == (1, 2, 2)


class OneMeaning:
    """Everything means the same."""

    model = "one-meaning"
    dimensions = 2

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.tile(np.float32([1, 0]), (len(texts), 1))


def test_meaning_counts_where_there_is_an_embedder() -> None:
    """With an embedder the meter has its semantic level: here nothing is new after the first claim."""
    items = [conversation(5, 0, stop_round=4)]
    assert calibrate_stops(items).current.late.hits == 1
    assert calibrate_stops(items, embedder=OneMeaning()).current.stop_round.hits == 1


def test_nothing_labelled_agrees_with_nothing() -> None:
    """Counts of no outcomes are counts of 0, and no transcripts are no calibration."""
    assert StopAgreement.of([]).labels == 0
    assert conversation(1, 0, signal="CONTINUE").signal is Signal.CONTINUE
    with pytest.raises(ConfigError, match="no labelled transcripts"):
        calibrate_stops([])
