"""Shapes of a round that look like an attempt to keep the meter running, or to stop it too early.

A flag is evidence for a reader. None of them changes the signal: the decision matrix already stands against
paraphrase, inflation and premature actions.

Source: novelty spec, section 5 (clauses F01 to F04, F06).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ebbtide.codec import Record
from ebbtide.convergence.novelty import Novelty, RoundNovelty
from ebbtide.convergence.readiness import Readiness, RoundReadiness
from ebbtide.events.transcript import Round
from ebbtide.profile.convergence import GamingRules, NoveltyRules
from ebbtide.text.extraction.turn import extract
from ebbtide.text.normal_form import normal_form


class Gaming(StrEnum):
    """Subjects of flags."""

    PARAPHRASE = "PARAPHRASE"  #: claims that are new in their words only
    CLAIM_INFLATION = "CLAIM_INFLATION"  #: many claims, few of them new
    FAKE_READINESS = "FAKE_READINESS"  #: ready to act while everything is still new
    QUESTION_SUPPRESSION = "QUESTION_SUPPRESSION"  #: questions gone without an answer
    HIDDEN_QUESTION = "HIDDEN_QUESTION"  #: questions outside open_questions
    BLOCKER_EVASION = "BLOCKER_EVASION"  #: something that blocks is put off, not named


@dataclass(frozen=True, slots=True, kw_only=True)
class GamingFlag(Record):
    """One suspicion, with what it rests on.

    Args:
        evidence: The numbers that it rests on, in words.
        texts: The sentences in question, if it is about sentences.
    """

    kind: Gaming
    round: int
    rule: str
    evidence: str
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFacts:
    """Facts on which the flags of a round are raised.

    Args:
        totals_before: Claims of the rounds before, or of the last few of them.
    """

    item: Round
    novelty: RoundNovelty
    novelty_class: Novelty
    readiness: RoundReadiness
    questions_before: Sequence[str]
    totals_before: Sequence[int]

    def flag(self, kind: Gaming, rule: str, evidence: str, texts: Sequence[str] = ()) -> GamingFlag:
        """Returns a flag of this round."""
        return GamingFlag(kind=kind, round=self.item.number, rule=rule, evidence=evidence, texts=tuple(texts))


def find_gaming(facts: RoundFacts, gaming: GamingRules, novelty: NoveltyRules) -> tuple[GamingFlag, ...]:
    """Returns every flag that the round raises."""
    flags = (
        _paraphrase(facts, novelty),
        _inflation(facts, gaming, novelty),
        _fake_readiness(facts),
        _question_suppression(facts),
        _hidden_question(facts),
    )
    return tuple(flag for flag in flags if flag is not None)


def _paraphrase(facts: RoundFacts, rules: NoveltyRules) -> GamingFlag | None:
    latest = facts.novelty
    if latest.rate_L0 < rules.low_below or latest.rate_L1 >= rules.low_below:
        return None
    texts = [reading.text for reading in latest.readings if reading.new_L0 and not reading.new_L1]
    evidence = f"{latest.new_L0} of {latest.claims} claims are new in words, {latest.new_L1} in what they say"
    return facts.flag(Gaming.PARAPHRASE, "paraphrase.new-words-only", evidence, texts)


def _inflation(facts: RoundFacts, gaming: GamingRules, novelty: NoveltyRules) -> GamingFlag | None:
    latest = facts.novelty
    if not facts.totals_before or latest.total_claims < gaming.inflation_claims:
        return None
    usual = sorted(facts.totals_before)[len(facts.totals_before) // 2]
    if (
        latest.new_claims / latest.total_claims < gaming.inflation_ratio_below
        and latest.total_claims >= usual
    ):
        rule = "inflation.ratio"
    elif latest.rate < novelty.low_below and latest.total_claims >= gaming.spike_factor * max(usual, 1):
        rule = "inflation.spike"
    else:
        return None
    evidence = f"{latest.new_claims} of {latest.total_claims} claims are new; usually {usual} claims"
    return facts.flag(Gaming.CLAIM_INFLATION, rule, evidence)


def _fake_readiness(facts: RoundFacts) -> GamingFlag | None:
    if facts.readiness.classification is not Readiness.HIGH or facts.novelty_class is not Novelty.HIGH:
        return None
    if not facts.totals_before:  # everything is new in a first round, whatever it is
        return None
    evidence = f"readiness is {facts.readiness.readiness:g}, novelty still {facts.novelty.rate:.2f}"
    return facts.flag(Gaming.FAKE_READINESS, "readiness.premature", evidence, facts.item.next_actions)


def _question_suppression(facts: RoundFacts) -> GamingFlag | None:
    if not facts.questions_before or facts.item.open_questions or not facts.novelty.new_claims:
        return None
    if facts.item.text is not None:  # a raw turn asks its own questions; it does not list what is open
        return None
    questions = facts.questions_before
    evidence = f"{len(questions)} open before, none now, in a round with new claims"
    return facts.flag(Gaming.QUESTION_SUPPRESSION, "questions.dropped-to-zero", evidence, questions)


def _hidden_question(facts: RoundFacts) -> GamingFlag | None:
    item = facts.item
    if item.text is not None:  # extraction has read it, and listed every question that it found
        return None
    listed = {normal_form(question) for question in item.open_questions}
    texts = (*item.claims, *item.decisions, *item.next_actions, item.summary or "")
    hidden = dict.fromkeys(question for text in texts for question in extract(text).open_questions)
    missing = tuple(question for question in hidden if normal_form(question) not in listed)
    if not missing:
        return None
    evidence = f"{len(missing)} questions are in other fields"
    return facts.flag(Gaming.HIDDEN_QUESTION, "questions.outside-open-questions", evidence, missing)
