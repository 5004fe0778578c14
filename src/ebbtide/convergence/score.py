"""The score of a conversation, and its wire form.

Source: novelty spec, 4.3 and 6.3 (clauses S06, S07); rubric, section 2 (clause B02).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ebbtide.convergence.agreement import AgreementReading
from ebbtide.convergence.composite import Composite
from ebbtide.convergence.consensus import ConsensusReading
from ebbtide.convergence.gaming import GamingFlag
from ebbtide.convergence.novelty import RoundNovelty
from ebbtide.convergence.readiness import RoundReadiness
from ebbtide.convergence.recommendation import Recommendation
from ebbtide.convergence.stability import Stability
from ebbtide.events.transcript import Round


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSummary:
    """Numbers of one round; the names are those of its wire form. Rates and scores are 0 to 1.

    >>> from ebbtide import ConvergenceMeter, Round
    >>> meter = ConvergenceMeter()
    >>> _ = meter.update(Round(number=1, claims=("The cache is cold.",)))
    >>> meter.score().latest.novelty_rate
    1.0
    """

    round: int
    agent: str | None
    total_claims: int
    claims: int
    new_claims_L0: int
    new_claims_L1: int
    novelty_rate: float
    novelty_rate_L0: float
    novelty_rate_L1: float
    novelty_classification: str
    open_questions: int
    next_actions: int
    action_readiness: float
    next_actions_score: float
    open_questions_score: float
    blocker_score: float
    readiness_classification: str
    signal: str
    agreement: str | None
    agreement_rule: str | None
    new_claims_L2: int | None
    novelty_rate_L2: float | None
    semantic_similarity: float | None
    agent_similarity: float | None
    claims_left_out: int = 0
    claims_crowded: int = 0
    characters_left_out: int = 0

    @classmethod
    def of(
        cls,
        item: Round,
        *,
        novelty: RoundNovelty,
        readiness: RoundReadiness,
        recommendation: Recommendation,
        agreement: AgreementReading | None,
        stability: Stability | None,
    ) -> RoundSummary:
        """Returns the numbers of a round that was assessed."""
        rate_l2 = novelty.rate_L2
        return cls(
            round=item.number,
            agent=item.agent,
            total_claims=novelty.total_claims,
            claims=novelty.claims,
            new_claims_L0=novelty.new_L0,
            new_claims_L1=novelty.new_L1,
            novelty_rate=round(novelty.rate, 6),
            novelty_rate_L0=round(novelty.rate_L0, 6),
            novelty_rate_L1=round(novelty.rate_L1, 6),
            novelty_classification=recommendation.novelty.value,
            open_questions=len(item.open_questions),
            next_actions=len(item.next_actions),
            action_readiness=readiness.readiness,
            next_actions_score=readiness.next_actions_score,
            open_questions_score=readiness.open_questions_score,
            blocker_score=readiness.blocker_score,
            readiness_classification=readiness.classification.value,
            signal=recommendation.signal.value,
            agreement=agreement.label.value if agreement else None,
            agreement_rule=agreement.rule if agreement else None,
            new_claims_L2=novelty.new_L2,
            novelty_rate_L2=None if rate_l2 is None else round(rate_l2, 6),
            semantic_similarity=stability.rounds if stability else None,
            agent_similarity=stability.agents if stability else None,
            claims_left_out=novelty.left_out,
            claims_crowded=novelty.crowded,
            characters_left_out=item.left_out,
        )

    @property
    def new_claims(self) -> int:
        """New claims at the level that found the fewest."""
        new_claims = (self.new_claims_L0, self.new_claims_L1, self.new_claims_L2)
        return min(new for new in new_claims if new is not None)

    def novelty(self) -> dict[str, Any]:
        """Returns its entry in ``novelty_by_round``."""
        wire: dict[str, Any] = {
            "round": self.round,
            "agent": self.agent,
            "claims": self.claims,
            "total_claims": self.total_claims,
            "new_claims": self.new_claims,
            "new_claims_L0": self.new_claims_L0,
            "new_claims_L1": self.new_claims_L1,
            "novelty_rate": self.novelty_rate,
            "novelty_rate_L0": self.novelty_rate_L0,
            "novelty_rate_L1": self.novelty_rate_L1,
            "novelty_classification": self.novelty_classification,
            "structural_agreement": self.agreement,
            "agreement_rule": self.agreement_rule,
            "signal": self.signal,
        }
        if self.novelty_rate_L2 is not None:
            wire["new_claims_L2"] = self.new_claims_L2
            wire["novelty_rate_L2"] = self.novelty_rate_L2
            wire["semantic_similarity"] = self.semantic_similarity
            wire["agent_similarity"] = self.agent_similarity
        for name in ("claims_left_out", "claims_crowded", "characters_left_out"):
            if getattr(self, name):
                wire[name] = getattr(self, name)
        return wire

    def readiness(self) -> dict[str, Any]:
        """Returns its entry in ``readiness_by_round``: the trajectory of readiness."""
        return {
            "round": self.round,
            "action_readiness": self.action_readiness,
            **self.readiness_detail(),
            "open_questions": self.open_questions,
            "next_actions": self.next_actions,
            "readiness_classification": self.readiness_classification,
        }

    def readiness_detail(self) -> dict[str, float]:
        """Scores of the three parts of readiness."""
        return {
            "next_actions_score": self.next_actions_score,
            "open_questions_score": self.open_questions_score,
            "blocker_score": self.blocker_score,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvergenceScore:
    """Standing of a conversation after its latest round.

    Args:
        profile: Name of the profile that was used.
        rounds: The numbers of each round, the latest last.
        flags: Signs of gaming, in any round.
        composite: Counts of rounds for which the conditions of the composite rule held.
        semantic: Model of the semantic level; None if it was off.
        consensus: Positions after the latest circle of agents; None if fewer than two gave an answer that can
            be read.
    """

    profile: str
    rounds: tuple[RoundSummary, ...]
    recommendation: Recommendation
    flags: tuple[GamingFlag, ...]
    composite: Composite
    semantic: str | None
    consensus: ConsensusReading | None = None

    @property
    def latest(self) -> RoundSummary:
        """The numbers of the latest round; nothing older counts."""
        return self.rounds[-1]

    @property
    def score(self) -> float:
        """Share of the latest round that is not new, 1 - its novelty rate: 0 all new, 1 nothing new."""
        return round(1.0 - self.latest.novelty_rate, 6)

    def to_dict(self) -> dict[str, Any]:
        """Returns the output object of the novelty spec, 4.3, with keys of our own added."""
        latest = self.latest
        components: dict[str, Any] = {
            "novelty_rate": latest.novelty_rate,
            "novelty_rate_L0": latest.novelty_rate_L0,
            "novelty_rate_L1": latest.novelty_rate_L1,
            "action_readiness": latest.action_readiness,
            "action_readiness_detail": latest.readiness_detail(),
            "semantic_similarity": latest.semantic_similarity,
            "structural_agreement": latest.agreement,
        }
        if latest.novelty_rate_L2 is not None:
            components["novelty_rate_L2"] = latest.novelty_rate_L2
            components["agent_similarity"] = latest.agent_similarity
        wire = {
            "score": self.score,
            "components": components,
            "novelty_by_round": [item.novelty() for item in self.rounds],
            "readiness_by_round": [item.readiness() for item in self.rounds],
            "stop_recommendation": self.recommendation.to_dict(),
            "composite_rule": self.composite.to_dict(),
            "flags": [flag.to_dict() for flag in self.flags],
            "hint": self.recommendation.hint,
            "profile": self.profile,
            "semantic": self.semantic,
        }
        if self.consensus:
            wire["consensus"] = self.consensus.to_dict()
        return wire
