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

_NOVELTY = "novelty_rate", "novelty_rate_L0", "novelty_rate_L1"
_NEW = "claims", "total_claims", "new_claims", "new_claims_L0", "new_claims_L1"
_SEMANTIC = "new_claims_L2", "novelty_rate_L2", "semantic_similarity", "agent_similarity"
_LEFT_OUT = "claims_left_out", "claims_crowded", "characters_left_out"
_READINESS_PARTS = "next_actions_score", "open_questions_score", "blocker_score"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundReading:
    """Reading of one round by the meter.

    Args:
        agent: The speaker, if one agent spoke.
        agreement: Effect on what was said before; None for the first round.
        stability: Similarity in meaning to the round before; None without the semantic level.
        consensus: Positions of the agents, if the round completes a circle of agents with answers.
        flags: Signs of gaming in it.
    """

    number: int
    agent: str | None
    novelty: RoundNovelty
    readiness: RoundReadiness
    recommendation: Recommendation
    agreement: AgreementReading | None
    stability: Stability | None
    consensus: ConsensusReading | None
    flags: tuple[GamingFlag, ...]


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
    new_claims_L2: int | None = None
    novelty_rate_L2: float | None = None
    semantic_similarity: float | None
    agent_similarity: float | None
    claims_left_out: int = 0
    claims_crowded: int = 0
    characters_left_out: int = 0

    @classmethod
    def of(cls, item: Round, reading: RoundReading) -> RoundSummary:
        """Returns the numbers of a round that was read."""
        novelty, recommendation = reading.novelty, reading.recommendation
        agreement, stability = reading.agreement, reading.stability
        numbers: dict[str, Any] = {**novelty.to_dict(), **reading.readiness.detail()}
        del numbers["new_claims"]  # follows from those of the levels
        return cls(
            **numbers,
            round=item.number,
            agent=item.agent,
            total_claims=novelty.total_claims,
            novelty_classification=recommendation.novelty.value,
            open_questions=len(item.open_questions),
            next_actions=len(item.next_actions),
            action_readiness=reading.readiness.readiness,
            readiness_classification=reading.readiness.classification.value,
            signal=recommendation.signal.value,
            agreement=agreement.label.value if agreement else None,
            agreement_rule=agreement.rule if agreement else None,
            semantic_similarity=stability.rounds if stability else None,
            agent_similarity=stability.agents if stability else None,
            characters_left_out=item.left_out,
        )

    @property
    def new_claims(self) -> int:
        """New claims at the level that found the fewest."""
        new_claims = (self.new_claims_L0, self.new_claims_L1, self.new_claims_L2)
        return min(new for new in new_claims if new is not None)

    def novelty(self) -> dict[str, Any]:
        """Returns its entry in ``novelty_by_round``."""
        return {
            **self._fields("round", "agent", *_NEW, *_NOVELTY, "novelty_classification"),
            "structural_agreement": self.agreement,
            **self._fields("agreement_rule", "signal"),
            **self._fields(*(_SEMANTIC if self.novelty_rate_L2 is not None else ())),
            **self._fields(*(name for name in _LEFT_OUT if getattr(self, name))),
        }

    def readiness(self) -> dict[str, Any]:
        """Returns its entry in ``readiness_by_round``: the trajectory of readiness."""
        counts = "open_questions", "next_actions", "readiness_classification"
        return self._fields("round", "action_readiness", *_READINESS_PARTS, *counts)

    def components(self) -> dict[str, Any]:
        """Returns the ``components`` of the score after it."""
        return {
            **self._fields(*_NOVELTY, "action_readiness"),
            "action_readiness_detail": self._fields(*_READINESS_PARTS),
            "semantic_similarity": self.semantic_similarity,
            "structural_agreement": self.agreement,
            **self._fields(
                *(("novelty_rate_L2", "agent_similarity") if self.novelty_rate_L2 is not None else ())
            ),
        }

    def _fields(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvergenceScore:
    """Standing of a conversation after its latest round.

    Args:
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
        wire = {
            "score": self.score,
            "components": self.latest.components(),
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
