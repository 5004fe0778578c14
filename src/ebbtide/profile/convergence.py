"""Thresholds of the convergence engine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from ebbtide.checks import flag, member, number, share, whole
from ebbtide.errors import ConfigError


class TokenForm(StrEnum):
    """Form of the tokens on which the similarity of two claims is computed."""

    WORDS = "words"  #: white-space separated words of the normal form, as in the novelty spec, 2.1
    STEMS = "stems"  #: words without punctuation and endings: "running tests," is "run test"


class LowBy(StrEnum):
    """Yardstick for the new claims of a round, by which it is low."""

    PEAK = "peak"  #: the most that any round so far brought, as in the novelty spec, 2.2 and 2.3
    OWN = "own"  #: all claims of the round itself


@dataclass(frozen=True, slots=True, kw_only=True)
class NoveltyRules:
    """Thresholds for a new claim and a low round.

    Args:
        jaccard_at_least: Token Jaccard from which a claim is a paraphrase, over 0 to 1.
        tokens: Form of the tokens of the Jaccard.
        cosine_at_least: Cosine of embeddings from which a claim is a paraphrase, where the semantic level is
            on; None takes the one that is known for the model.
        contrast_guard: A claim that reverses a seen one is new, whatever its similarity.
        high_above: Novelty rate above which a round is HIGH.
        low_by: Yardstick for the new claims of a round.
        low_below: Share of new claims below which a round is low: of the peak, or of its own claims.
        low_rounds: Consecutive low rounds (k) before novelty is LOW.
        questions_count: A round that only asks, and asks something new, is not low.
        thin_below: Different claims said so far below which LOW takes one low round more.

    Source: novelty spec, 2.1 to 2.4; `low_by` and the last two are ours, and off in the SPEC profile.
    """

    jaccard_at_least: float = 0.6
    tokens: TokenForm = TokenForm.WORDS
    cosine_at_least: float | None = None
    contrast_guard: bool = False
    high_above: float = 0.5
    low_by: LowBy = LowBy.PEAK
    low_below: float = 0.15
    low_rounds: int = 2
    questions_count: bool = False
    thin_below: int = 0

    def __post_init__(self) -> None:
        for name in ("jaccard_at_least", "high_above", "low_below"):
            share(name, getattr(self, name))
        if self.cosine_at_least is not None:
            share("cosine_at_least", self.cosine_at_least)
        if self.jaccard_at_least == 0:
            raise ConfigError("jaccard_at_least = 0: every claim would repeat every other; expected more")
        if self.low_below > self.high_above:
            raise ConfigError(f"low_below = {self.low_below} is above high_above = {self.high_above}")
        object.__setattr__(self, "tokens", member("tokens", self.tokens, TokenForm))
        object.__setattr__(self, "low_by", member("low_by", self.low_by, LowBy))
        flag("contrast_guard", self.contrast_guard)
        flag("questions_count", self.questions_count)
        whole("low_rounds", self.low_rounds, 1)
        whole("thin_below", self.thin_below, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadinessRules:
    """Thresholds for a round that is ready to be acted on.

    Args:
        next_actions_weight: Share of the next-actions score. The three shares add up to 1.
        open_questions_weight: Share of the open-questions score.
        blockers_weight: Share of the blocker score.
        high_at_least: Readiness from which a round is HIGH.
        medium_at_least: Readiness from which a round is MEDIUM.

    Source: novelty spec, 3.1 to 3.4.
    """

    next_actions_weight: float = 0.5
    open_questions_weight: float = 0.3
    blockers_weight: float = 0.2
    high_at_least: float = 0.7
    medium_at_least: float = 0.4

    def __post_init__(self) -> None:
        weights = ("next_actions_weight", "open_questions_weight", "blockers_weight")
        for name in (*weights, "high_at_least", "medium_at_least"):
            share(name, getattr(self, name))
        total = math.fsum(getattr(self, name) for name in weights)
        if not math.isclose(total, 1.0, abs_tol=1e-9):
            raise ConfigError(f"the readiness weights add up to {total:g}: expected 1")
        if self.medium_at_least > self.high_at_least:
            raise ConfigError(
                f"medium_at_least = {self.medium_at_least} is above high_at_least = {self.high_at_least}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRules:
    """Thresholds from which low novelty means stop.

    Args:
        stuck_rounds: Low rounds in a row, none of them ready, after which a person is asked.
        stable_at_least: Cosine of consecutive rounds from which they say the same; used where the semantic
            level is on.
        needs_witness: SHIP only where something says that the work is finished, or there are next actions and
            nothing is open, and nothing failed since.

    Source: novelty spec, 4.2; rubric, composite stopping rule. The last is ours, and off in the SPEC profile.
    """

    stuck_rounds: int = 3
    stable_at_least: float = 0.8
    needs_witness: bool = False

    def __post_init__(self) -> None:
        whole("stuck_rounds", self.stuck_rounds, 1)
        share("stable_at_least", self.stable_at_least)
        flag("needs_witness", self.needs_witness)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsensusRules:
    """Thresholds for the answers of several agents to decide whether to go on.

    A circle is one turn of each of them.

    Args:
        counts: Agreement and stable disagreement change the signal.
        unanimous_rounds: Circles in a row, with the same answer of everybody, that make a SHIP.
        at_once_from: Agents from which one circle is enough, where each states its answer as one; 0 never.
        disagreement_rounds: Circles in a row in which nobody moves and they disagree that make an ESCALATE.

    Source: ours; off in the SPEC profile. Measured by ``benchmarks.quality.consensus``.
    """

    counts: bool = False
    unanimous_rounds: int = 2
    at_once_from: int = 3
    disagreement_rounds: int = 3

    def __post_init__(self) -> None:
        flag("counts", self.counts)
        whole("unanimous_rounds", self.unanimous_rounds, 1)
        whole("at_once_from", self.at_once_from, 0)
        whole("disagreement_rounds", self.disagreement_rounds, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class GamingRules:
    """Thresholds for a round whose shape looks like an attempt to keep the meter running.

    Args:
        inflation_ratio_below: New claims / all claims of a round below which the rest is padding.
        inflation_claims: Claims in a round from which it is large enough for either rule to matter.
        spike_factor: A round this many times larger than the median of the rounds before is a spike.

    Source: novelty spec, 5.2. The spec gives the ratio; the other two are ours.
    """

    inflation_ratio_below: float = 0.1
    inflation_claims: int = 5
    spike_factor: float = 3.0

    def __post_init__(self) -> None:
        share("inflation_ratio_below", self.inflation_ratio_below)
        whole("inflation_claims", self.inflation_claims, 1)
        number("spike_factor", self.spike_factor, above=1, expected="a number above 1")
