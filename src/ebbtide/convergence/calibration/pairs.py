"""Thresholds of similarity against pairs that people labelled: how right they are, and which would be better.

Whatever is fitted is tried on groups that it was not fitted on, and only that is held up as its quality.

Source: rubric, calibration status (clause B07).
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ebbtide.codec import Record
from ebbtide.convergence.calibration.confusion import Confusion
from ebbtide.convergence.calibration.curves import (
    CurvePoint,
    area_under_roc,
    average_precision,
    threshold_curve,
)
from ebbtide.convergence.calibration.labelled import LabelledPair
from ebbtide.convergence.calibration.threshold_fit import Fit, fit_threshold, too_little_to_fit
from ebbtide.convergence.novelty import claim_tokens
from ebbtide.convergence.semantic import cosine_at_least
from ebbtide.errors import ConfigError
from ebbtide.profile import Profile
from ebbtide.profile.convergence import NoveltyRules, TokenForm
from ebbtide.rate import Rate
from ebbtide.text.contrast.guard import contrast
from ebbtide.text.embedding.vectors import Embedder
from ebbtide.text.jaccard_index import jaccard
from ebbtide.text.normal_form import normal_form

_NEVER = 0.0  # the similarity of a pair that the guard keeps apart: below every threshold
_GROUP_PAIRS = 10  # called the same in a group, from which its precision says something
_GRID = tuple(step / 20 for step in range(2, 20))  # 0.10, 0.15 ... 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPrecision(Record):
    """The precision of a threshold in one group of pairs."""

    group: str
    precision: Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureReport:
    """One way to compare claims, against the labels.

    Args:
        name: "L1 words", "L1 stems" or "L2".
        setting: The threshold in `NoveltyRules`; None where the profile does not compare in this way.
        threshold: Its current value.
        current: What that does.
        weakest: The group in which it is right least often, of those where it calls ten pairs or more the
            same; None where there is none. An interval over pairs does not show how much groups differ.
        curve: What every other threshold does.
        average_precision: Area under precision over recall; None where no pair says the same.
        area_under_roc: Chance that a pair that says the same scores higher than one that does not.
        fit: The fitted threshold; None where none could be fitted.
        verdict: What is proposed, or why nothing is.
        proposed: The threshold to write into a profile; None where the current one should stay.
    """

    name: str
    setting: str | None
    threshold: float
    current: Confusion
    weakest: GroupPrecision | None
    curve: tuple[CurvePoint, ...]
    average_precision: float | None
    area_under_roc: float | None
    fit: Fit | None
    verdict: str
    proposed: float | None

    def at(self, threshold: float) -> Confusion:
        """Returns the confusion at a threshold."""
        total = self.curve[-1]
        above = [point for point in self.curve if point.threshold >= threshold]
        yes, hits = (above[-1].yes, above[-1].hits) if above else (0, 0)
        return Confusion(
            hits=hits,
            false_alarms=yes - hits,
            misses=total.hits - hits,
            rejections=total.yes - total.hits - yes + hits,
        )

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "measure": self.name,
            "setting": self.setting and f"novelty.{self.setting}",
            "threshold": self.threshold,
            "current": self.current.to_dict(),
            "weakest_group": self.weakest and self.weakest.to_dict(),
            "average_precision": _rounded(self.average_precision),
            "area_under_roc": _rounded(self.area_under_roc),
            "by_threshold": [{"threshold": step, **_short(self.at(step))} for step in _GRID],
            "fit": self.fit.to_dict() if self.fit else None,
            "proposed": self.proposed,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCalibration(Record):
    """Labelled pairs against the thresholds of a profile.

    Args:
        pairs: How many there were.
        same: Those that say the same.
        groups: Groups among them.
        precision_at_least: What a fitted threshold had to reach.
        semantic: The model of L2, for which its threshold holds; None where L2 was left out.
        measures: One report a measure.
        fitted: The profile with the proposed thresholds; None where none is proposed.
    """

    _WIRE: ClassVar = "kind profile=profile.name pairs same groups precision_at_least semantic measures"
    kind: ClassVar = "pairs"

    profile: Profile
    pairs: int
    same: int
    groups: int
    precision_at_least: float
    semantic: str | None
    measures: tuple[MeasureReport, ...]
    fitted: Profile | None


def calibrate_pairs(
    pairs: Sequence[LabelledPair],
    profile: Profile = Profile.DEFAULT,
    *,
    embedder: Embedder | None = None,
    precision_at_least: float = 0.5,
) -> PairCalibration:
    """Measure the thresholds of `profile` on labelled pairs, and fit better ones.

    Args:
        pairs: At least one. Pairs that the profile's contrast guard keeps apart are never the same, as in
            the meter.
        embedder: Gives L2; None leaves L2 out.
        precision_at_least: A fitted threshold is the one of the best F1 among those where at least this
            share of what they call the same is labelled so, 0 to 1. At 0 it is F1 alone, which can favour a
            threshold that is wrong more often than right.

    Raises:
        ConfigError: There are no pairs, or the share is out of range.
        SemanticError: The embedder failed.
    """
    if not pairs:
        raise ConfigError("there are no labelled pairs")
    if not 0 <= precision_at_least <= 1:
        raise ConfigError(f"precision_at_least = {precision_at_least!r}: expected a number from 0 to 1")
    reports = tuple(
        _report(measure, pairs, precision_at_least) for measure in _measures(pairs, profile.novelty, embedder)
    )
    changes: dict[str, Any] = {
        report.setting: report.proposed for report in reports if report.setting and report.proposed
    }
    rules = dataclasses.replace(profile.novelty, **changes)
    return PairCalibration(
        profile=profile,
        pairs=len(pairs),
        same=sum(pair.same for pair in pairs),
        groups=len({pair.group for pair in pairs}),
        precision_at_least=precision_at_least,
        semantic=embedder.model if embedder is not None else None,
        measures=reports,
        fitted=dataclasses.replace(profile, novelty=rules) if changes else None,
    )


class _Measure(NamedTuple):
    name: str
    setting: str | None
    threshold: float
    scores: list[float]


def _measures(
    pairs: Sequence[LabelledPair], rules: NoveltyRules, embedder: Embedder | None
) -> Iterator[_Measure]:
    texts = [(pair.a, pair.b) for pair in pairs]
    apart = [rules.contrast_guard and _is_contrasted(a, b) for a, b in texts]

    def guarded(scores: Sequence[float]) -> list[float]:
        return [_NEVER if is_apart else score for score, is_apart in zip(scores, apart, strict=True)]

    for tokens in TokenForm:
        setting = "jaccard_at_least" if tokens is rules.tokens else None
        scores = guarded(jaccard_similarities(texts, tokens))
        yield _Measure(f"L1 {tokens}", setting, rules.jaccard_at_least, scores)
    if embedder is not None:
        scores = guarded(cosine_similarities(texts, embedder))
        yield _Measure("L2", "cosine_at_least", cosine_at_least(rules, embedder.model), scores)


def _report(measure: _Measure, pairs: Sequence[LabelledPair], precision_at_least: float) -> MeasureReport:
    name, setting, threshold, scores = measure
    labels, groups = [pair.same for pair in pairs], [pair.group for pair in pairs]
    current = Confusion.at(threshold, scores, labels)
    curve = threshold_curve(scores, labels)
    too_little = too_little_to_fit(labels, groups)
    fit = None if too_little else fit_threshold(scores, labels, groups, precision_at_least=precision_at_least)
    proposed = None
    precision = fit.held_out.precision.value or 0.0 if fit else 0.0
    if fit is None:
        verdict = too_little or f"nothing fitted: no threshold has a precision of {precision_at_least:g}"
    elif precision < precision_at_least:
        verdict = (
            f"{threshold:g} stays: held out, the fitted {fit.threshold:g} has a precision of {precision:.2f}"
        )
    elif fit.held_out.f1 <= current.f1:
        verdict = (
            f"{threshold:g} stays: held out, the fitted {fit.threshold:g} has an F1 of {fit.held_out.f1:.2f}"
        )
    elif setting is None:
        verdict = f"{fit.threshold:g} would be better, but the profile compares in another way"
    else:
        proposed = fit.threshold
        verdict = f"{threshold:g} becomes {proposed:g}"
    return MeasureReport(
        name=name,
        setting=setting,
        threshold=threshold,
        current=current,
        weakest=_weakest_group(threshold, scores, labels, groups),
        curve=curve,
        average_precision=average_precision(curve),
        area_under_roc=area_under_roc(curve),
        fit=fit,
        verdict=verdict,
        proposed=proposed,
    )


def _weakest_group(
    threshold: float, scores: Sequence[float], labels: Sequence[bool], groups: Sequence[str]
) -> GroupPrecision | None:
    alike: dict[str, list[bool]] = defaultdict(list)
    for score, label, group in zip(scores, labels, groups, strict=True):
        if score >= threshold:
            alike[group].append(label)
    rates = [
        GroupPrecision(group=group, precision=Rate(hits=sum(hits), total=len(hits)))
        for group, hits in alike.items()
        if len(hits) >= _GROUP_PAIRS
    ]
    return min(rates, key=lambda item: (item.precision.value or 0.0, -item.precision.total), default=None)


def _short(confusion: Confusion) -> dict[str, float | None]:
    return {
        "precision": _rounded(confusion.precision.value),
        "recall": _rounded(confusion.recall.value),
        "f1": _rounded(confusion.f1),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def jaccard_similarities(pairs: Sequence[tuple[str, str]], tokens: TokenForm) -> list[float]:
    """The Jaccard similarity of each pair, 0 to 1; equal normal forms are 1."""
    return [_jaccard(normal_form(a), normal_form(b), tokens) for a, b in pairs]


def cosine_similarities(pairs: Sequence[tuple[str, str]], embedder: Embedder) -> list[float]:
    """The cosine of each pair, -1 to 1.

    Raises:
        SemanticError: The texts cannot be embedded.
    """
    left = embedder.embed([normal_form(a) for a, _ in pairs])
    right = embedder.embed([normal_form(b) for _, b in pairs])
    return [float(cosine) for cosine in (left * right).sum(axis=1)]


def _is_contrasted(a: str, b: str) -> bool:
    """Returns True if the contrast guard keeps the two apart."""
    return contrast(normal_form(a), normal_form(b)) is not None


def _jaccard(a: str, b: str, tokens: TokenForm) -> float:
    return 1.0 if a == b else jaccard(claim_tokens(a, tokens), claim_tokens(b, tokens))
