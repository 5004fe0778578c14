"""Compares the meter's stops with conversations for which people said when to stop, or with which signal.

What is fitted is when a round is low and how many low rounds it takes; everything else is the profile's.

Source: rubric, calibration status (clause B07).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ebbtide.codec import Record
from ebbtide.convergence.calibration.labelled import LabelledTranscript
from ebbtide.convergence.calibration.threshold_fit import LEAST_LABELS, fold_numbers
from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.convergence.signal import Signal
from ebbtide.errors import ConfigError
from ebbtide.profile import Profile
from ebbtide.profile.convergence import NoveltyRules
from ebbtide.rate import Rate
from ebbtide.text.embedding.vectors import Embedder

LOW_ROUNDS = (1, 2, 3, 4)
LOW_BELOW = (0.05, 0.1, 0.15, 0.2, 0.3, 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopOutcome:
    """The meter's result on one labelled conversation.

    Args:
        signal: Whether the last signal is the labelled one; None where there is no such label.
        late_by: Rounds from the labelled stop to the first SHIP or ESCALATE, negative where that comes too
            early. A conversation that is never stopped counts as stopped one round after its last. None
            where there is no such label.
    """

    signal: bool | None
    late_by: int | None

    @property
    def agreed(self) -> int:
        """Labels that it got right."""
        return (self.signal is True) + (self.late_by == 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopAgreement(Record):
    """Agreement with the labels over many conversations.

    Args:
        signal: Last signals that are the labelled ones.
        stop_round: First stops that come at the labelled round.
        near: First stops that come at most one round from it.
        early: First stops that come before it.
        late: First stops that come after it, or never.
    """

    signal: Rate
    stop_round: Rate
    near: Rate
    early: Rate
    late: Rate

    @classmethod
    def of(cls, outcomes: Sequence[StopOutcome]) -> StopAgreement:
        """The counts."""
        signals = [outcome.signal for outcome in outcomes if outcome.signal is not None]
        delays = [outcome.late_by for outcome in outcomes if outcome.late_by is not None]
        n = len(delays)
        return cls(
            signal=Rate(hits=sum(signals), total=len(signals)),
            stop_round=Rate(hits=delays.count(0), total=n),
            near=Rate(hits=sum(abs(delay) <= 1 for delay in delays), total=n),
            early=Rate(hits=sum(delay < 0 for delay in delays), total=n),
            late=Rate(hits=sum(delay > 0 for delay in delays), total=n),
        )

    @property
    def agreed(self) -> int:
        """Labels that were got right."""
        return self.signal.hits + self.stop_round.hits

    @property
    def labels(self) -> int:
        """Labels that there are."""
        return self.signal.total + self.stop_round.total


@dataclass(frozen=True, slots=True, kw_only=True)
class StopFit(Record):
    """Settings that were fitted, and what they are worth.

    Args:
        low_below: Fitted on every conversation.
        low_rounds: Likewise.
        fitted_on: What they do there; better than can be expected of new conversations.
        held_out: What the settings of each fold do on the conversations that they were not fitted on.
        fold_settings: ``low_below`` and ``low_rounds`` of each fold.
    """

    low_below: float
    low_rounds: int
    fitted_on: StopAgreement
    held_out: StopAgreement
    fold_settings: tuple[tuple[float, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StopCalibration(Record):
    """Labelled conversations against the stopping rule of a profile.

    Args:
        transcripts: How many there were.
        stops: Labels that say stop.
        goes: Labels that say go on: the signal CONTINUE, and each round before a labelled stop.
        current: What the profile does.
        fit: The fitted settings; None where none could be fitted.
        verdict: What is proposed, or why nothing is.
        fitted: The profile with the proposed settings; None where the current ones should stay.
    """

    _WIRE: ClassVar = """
        kind profile=profile.name transcripts stop_labels=stops go_on_labels=goes
        low_below=profile.novelty.low_below low_rounds=profile.novelty.low_rounds current fit
        verdict
    """
    kind: ClassVar = "transcripts"

    profile: Profile
    transcripts: int
    stops: int
    goes: int
    current: StopAgreement
    fit: StopFit | None
    verdict: str
    fitted: Profile | None


def calibrate_stops(
    items: Sequence[LabelledTranscript],
    profile: Profile = Profile.DEFAULT,
    *,
    embedder: Embedder | None = None,
    track: Callable[[Sequence[Profile]], Iterator[Profile]] = iter,
) -> StopCalibration:
    """Measure when `profile` stops on labelled conversations, and fit when it should.

    Every setting is tried by running the meter itself, so this takes as long as scoring all conversations 25
    times.

    Args:
        items: At least one.
        embedder: Turns the semantic level on.
        track: Passes the profiles through while they are tried; may show progress.

    Raises:
        ConfigError: There are no transcripts.
        SemanticError: The embedder failed.
    """
    if not items:
        raise ConfigError("there are no labelled transcripts")
    current = StopAgreement.of([_outcome(item, profile, embedder) for item in items])
    stops = sum(item.signal in (Signal.SHIP, Signal.ESCALATE) for item in items)
    stops += sum(item.stop_round is not None for item in items)
    goes = sum(item.signal is Signal.CONTINUE for item in items)
    goes += sum(item.stop_round - 1 for item in items if item.stop_round)
    fit = fitted = None
    rarer = min(stops, goes)
    if rarer < LEAST_LABELS:
        verdict = (
            f"nothing fitted: {stops} labels say stop and {goes} continue; at least {LEAST_LABELS} "
            "of each are needed"
        )
    else:
        fit = _fit(items, profile, embedder, track)
        if fit.held_out.agreed > current.agreed:
            rules = dataclasses.replace(profile.novelty, low_below=fit.low_below, low_rounds=fit.low_rounds)
            fitted = dataclasses.replace(profile, novelty=rules)
            verdict = f"low_below becomes {fit.low_below:g} and low_rounds {fit.low_rounds}"
        else:
            verdict = (
                f"low_below and low_rounds stay: held out, the fitted ones agree with {fit.held_out.agreed} "
                f"labels, the current ones with {current.agreed}"
            )
    return StopCalibration(
        profile=profile,
        transcripts=len(items),
        stops=stops,
        goes=goes,
        current=current,
        fit=fit,
        verdict=verdict,
        fitted=fitted,
    )


def _fit(
    items: Sequence[LabelledTranscript],
    profile: Profile,
    embedder: Embedder | None,
    track: Callable[[Sequence[Profile]], Iterator[Profile]],
) -> StopFit:
    profiles = [dataclasses.replace(profile, novelty=rules) for rules in _settings(profile.novelty)]
    outcomes = {
        (tried.novelty.low_below, tried.novelty.low_rounds): [
            _outcome(item, tried, embedder) for item in items
        ]
        for tried in track(profiles)
    }
    # A conversation is its own group: at least 30 labels of either kind come from several.
    folds = fold_numbers([str(number) for number in range(len(items))]) or ()
    chosen: list[tuple[float, int]] = []
    held_out: list[StopOutcome] = []
    for fold in range(max(folds) + 1):
        inside = [number for number, other in enumerate(folds) if other != fold]
        chosen.append(_best(outcomes, inside))
        held_out += [outcomes[chosen[-1]][number] for number, other in enumerate(folds) if other == fold]
    best = _best(outcomes, range(len(items)))
    return StopFit(
        low_below=best[0],
        low_rounds=best[1],
        fitted_on=StopAgreement.of(outcomes[best]),
        held_out=StopAgreement.of(held_out),
        fold_settings=tuple(chosen),
    )


def _settings(rules: NoveltyRules) -> list[NoveltyRules]:
    """Returns the settings to try: the current one first, then those that differ least before the rest."""
    now = (rules.low_below, rules.low_rounds)
    tried = {
        now,
        *(
            (below, rounds)
            for below in (*LOW_BELOW, now[0])
            for rounds in LOW_ROUNDS
            if below <= rules.high_above
        ),
    }

    def distance(setting: tuple[float, int]) -> tuple[int, float, int]:
        changed = sum(value != before for value, before in zip(setting, now, strict=True))
        return (changed, abs(setting[0] - now[0]), abs(setting[1] - now[1]))

    ordered = sorted(sorted(tried), key=distance)
    return [dataclasses.replace(rules, low_below=below, low_rounds=rounds) for below, rounds in ordered]


def _best(outcomes: dict[tuple[float, int], list[StopOutcome]], among: Sequence[int]) -> tuple[float, int]:
    """The setting that agrees with the most labels, then that errs by the fewest rounds, then the first."""

    def worth(setting: tuple[float, int]) -> tuple[int, int]:
        here = [outcomes[setting][number] for number in among]
        return (sum(item.agreed for item in here), -sum(abs(item.late_by or 0) for item in here))

    return max(outcomes, key=worth)


def _outcome(item: LabelledTranscript, profile: Profile, embedder: Embedder | None) -> StopOutcome:
    meter = ConvergenceMeter(profile, embedder=embedder)
    rounds = item.transcript.rounds
    signals = [
        reading.recommendation.signal for round_ in rounds if (reading := meter.update(round_)) is not None
    ]
    stops = (number for number, signal in enumerate(signals, start=1) if signal is not Signal.CONTINUE)
    first_stop = next(stops, len(rounds) + 1)
    return StopOutcome(
        signal=None if item.signal is None else signals[-1] is item.signal,
        late_by=None if item.stop_round is None else first_stop - item.stop_round,
    )
