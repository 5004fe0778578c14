"""Signal from agreement and disagreement: ship what all hold, ask a person if nobody moves.

Source: ours; see docs/convergence.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from ebbtide.convergence.answers import CONCLUSION_RULES
from ebbtide.convergence.consensus import ConsensusReading, Position
from ebbtide.convergence.signal import Signal
from ebbtide.convergence.witness import Witness, WitnessKind
from ebbtide.profile.convergence import ConsensusRules


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsensusSignal:
    """Signal that rests on the positions of the agents.

    Args:
        signal: SHIP or ESCALATE.
        rationale: The positions, in words.
    """

    signal: Signal
    rule: str
    rationale: str
    hint: str

    @property
    def witness(self) -> Witness | None:
        """Reason for the SHIP; None if it is none."""
        if self.signal is not Signal.SHIP:
            return None
        return Witness(kind=WitnessKind.CONSENSUS, rule=self.rule, text=self.rationale)


def consensus_signal(reading: ConsensusReading, rules: ConsensusRules) -> ConsensusSignal | None:
    """Returns the signal of the positions after a circle; None if they decide nothing.

    Args:
        rules: Circles that it takes.
    """
    if not rules.counts:
        return None
    first = reading.positions[0]
    at_once = 0 < rules.at_once_from <= len(first.agents) and first.rule not in CONCLUSION_RULES
    if reading.unanimous and (at_once or reading.unanimous_rounds >= rules.unanimous_rounds):
        unmoved = " and nobody changed it" if reading.unchanged else ""
        return ConsensusSignal(
            signal=Signal.SHIP,
            rule=reading.rule,
            rationale=f"All {len(first.agents)} agents answer \u201c{first.answer}\u201d{unmoved}.",
            hint="All agree. Ship the answer and verify it: agents can agree on a wrong one.",
        )
    stuck = reading.disagreement_rounds >= rules.disagreement_rounds
    if stuck or (len(reading.positions) > 1 and reading.old_rounds >= rules.disagreement_rounds):
        sides = "; ".join(map(_side, reading.positions[:2]))
        what = (
            f"Nobody moved for {reading.disagreement_rounds} circles"
            if stuck
            else f"For {reading.old_rounds} circles the same answers go round"
        )
        return ConsensusSignal(
            signal=Signal.ESCALATE,
            rule="consensus.stable-disagreement" if stuck else "consensus.going-round",
            rationale=f"{what}: {sides}.",
            hint="More rounds will not settle it. Let a person decide between the positions.",
        )
    return None


def still_open() -> ConsensusSignal:
    """Returns the signal while agents give answers, and neither agree nor stay apart."""
    return ConsensusSignal(
        signal=Signal.CONTINUE,
        rule="consensus.open",
        rationale="The agents give answers, and neither all agree nor stay apart.",
        hint="Run another round; it ends when all give one answer, or nobody moves any more.",
    )


def _side(position: Position) -> str:
    reason = f" (\u201c{position.claim}\u201d)" if position.claim else ""
    return f"{', '.join(position.agents)} answer \u201c{position.answer}\u201d{reason}"
