"""Score of a conversation that a model read, beside the score by the rules.

Source: rubric, v0.2 upgrades (clause B06) and section 5 (clause B04).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ebbtide.convergence.llm_outcome import LlmOutcome, outcome_by_llm
from ebbtide.convergence.llm_rounds import Disagreement, JudgedRound, JudgedSubject, judge_rounds
from ebbtide.convergence.meter import ConvergenceMeter
from ebbtide.convergence.score import ConvergenceScore, RoundReading, RoundSummary
from ebbtide.events.transcript import Round
from ebbtide.text.llm.chat_endpoint import ChatModel

_RULE = "agreement.llm"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedScore:
    """A conversation by a model's reading, and by the rules'.

    Args:
        score: Score by the meter of the rounds as the model reads them; the agreement is the model's.
        readings: Its readings, round by round.
        rounds: Questions to the model, and its answers.
        by_rules: Score by the meter of the rounds as they came.
        outcome: Outcome of the work. The meter goes by its own reading, round by round.
    """

    score: ConvergenceScore
    readings: tuple[RoundReading, ...]
    rounds: tuple[JudgedRound, ...]
    by_rules: ConvergenceScore
    outcome: LlmOutcome

    def disagreements(self) -> Iterator[Disagreement]:
        """Yields what the model and the rules read differently, round by round."""
        for item, judge, rules in self._by_round():
            yield from item.disagreements()
            if item.agreement is not None and item.agreement.agreement is not None:
                yield from _differ(item, JudgedSubject.AGREEMENT, judge.agreement, rules.agreement)
            yield from _differ(item, JudgedSubject.SIGNAL, judge.signal, rules.signal)
        outcome = self.outcome
        if outcome.outcome is not None and outcome.differs:
            yield Disagreement(
                round=self.rounds[-1].item.number,
                about=JudgedSubject.OUTCOME,
                judge=(outcome.outcome.value,),
                rules=(outcome.by_rules.outcome.value,) if outcome.by_rules else (),
            )

    def rounds_to_dict(self) -> list[dict[str, Any]]:
        """Returns both labels of each round, as plain data."""
        wires = []
        for item, judge, rules in self._by_round():
            wire = item.to_dict()
            if "agreement" in wire:
                wire["agreement"]["rules"] = rules.agreement
            wires.append({**wire, "signal": {"judge": judge.signal, "rules": rules.signal}})
        return wires

    def _by_round(self) -> Iterator[tuple[JudgedRound, RoundSummary, RoundSummary]]:
        return zip(self.rounds, self.score.rounds, self.by_rules.rounds, strict=True)


def score_with_llm(
    rounds: Sequence[Round],
    model: ChatModel,
    new_meter: Callable[[], ConvergenceMeter],
    *,
    advance: Callable[[], object] | None = None,
) -> JudgedScore:
    """Has a model read a conversation, and scores what it read.

    Args:
        rounds: At least one, in the order of their numbers.
        model: A model, such as `ChatEndpoint`, which threads may share.
        new_meter: Makes a meter; two are needed.
        advance: Called after each round, and after the outcome.

    Raises:
        ConfigError: The model cannot be asked as it is set up.
        TranscriptError: There are no rounds.
    """
    judged_rounds = judge_rounds(rounds, model, advance=advance)
    outcome = outcome_by_llm(rounds, model)
    if advance is not None:
        advance()
    meter, meter_by_rules = new_meter(), new_meter()
    readings = tuple(reading for item in judged_rounds if (reading := meter.update(item.item)))
    for item in rounds:
        meter_by_rules.update(item)
    score = meter.score()
    summaries = (_with_agreement(*pair) for pair in zip(score.rounds, judged_rounds, strict=True))
    return JudgedScore(
        score=dataclasses.replace(score, rounds=tuple(summaries)),
        readings=readings,
        rounds=judged_rounds,
        by_rules=meter_by_rules.score(),
        outcome=outcome,
    )


def _with_agreement(summary: RoundSummary, item: JudgedRound) -> RoundSummary:
    if item.agreement is None or item.agreement.agreement is None:
        return summary
    return dataclasses.replace(summary, agreement=item.agreement.agreement.value, agreement_rule=_RULE)


def _differ(
    item: JudgedRound, subject: JudgedSubject, judge: str | None, rules: str | None
) -> Iterator[Disagreement]:
    if judge is not None and rules is not None and judge != rules:
        yield Disagreement(round=item.item.number, about=subject, judge=(judge,), rules=(rules,))
