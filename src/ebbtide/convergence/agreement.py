"""Effect of a round on what was said before it: it changes it, accepts it, or says it again.

Source: rubric, section 5 (clause B04). This is the cheap rule, for every round; `llm_rounds` asks a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ebbtide.convergence.novelty import RoundNovelty
from ebbtide.events.transcript import Round
from ebbtide.text.pattern_words import words_in
from ebbtide.text.phrase_table import PhraseTable
from ebbtide.text.phrases import anywhere, at_clause, at_start


class Agreement(StrEnum):
    """Effect of a round on what came before."""

    MODIFY = "modify"  #: brings changes
    ENDORSE = "endorse"  #: agrees, with small additions at the most
    REPHRASE = "rephrase"  #: says it again


CHANGE = PhraseTable(
    (
        anywhere(
            "change.disagree",
            r"disagree|not convinced|i doubt|objection|that(?:'s| is) (?:not right|wrong)",
        ),
        anywhere(
            "change.instead",
            r"instead|rather than|on second thought|let(?:'s| us) change|replace|drop",
        ),
        at_clause("change.but", r"but|however|although|except that|on the other hand"),
        anywhere(
            "change.correct",
            r"correction|i was wrong|scratch that|revised?|rework(?:ed)?|counter-?proposal",
        ),
    )
)
ENDORSEMENT = PhraseTable(
    (
        at_clause(
            "endorse.agree",
            r"agreed?|i (?:fully |totally )?agree|i concur|same here|as you (?:say|said)",
        ),
        at_start("endorse.yes", r"yes|yep|exactly|right|correct|ok(?:ay)?|sure|fine|done"),
        anywhere(
            "endorse.good",
            r"(?:sounds|looks) good|lgtm|works for me|good (?:point|idea|plan|call)|makes sense"
            r"|approved?|no objections?|\+1",
        ),
    )
)
_SMALL_ADDITION = 0.34  # share of new claims up to which an agreeing round only adds to what it accepts


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementReading:
    """Effect of a round, and the rule that read it so.

    Args:
        new_share: New claims over all claims of the round; None where it has none.
    """

    label: Agreement
    rule: str
    new_share: float | None


def read_agreement(item: Round, novelty: RoundNovelty) -> AgreementReading:
    """Reads the effect of a round from its novelty, its reversals and its wording.

    Args:
        item: A round that is not the first.
    """
    text = item.text or ". ".join((*item.claims, *item.decisions, item.summary or ""))
    share = novelty.new_claims / novelty.claims if novelty.claims else None
    words = words_in(text)
    change, endorsement = CHANGE.first(text, words), ENDORSEMENT.first(text, words)

    def reading(label: Agreement, rule: str) -> AgreementReading:
        return AgreementReading(label=label, rule=rule, new_share=None if share is None else round(share, 6))

    if any(claim.contrast is not None for claim in novelty.readings):
        return reading(Agreement.MODIFY, "reversal")
    if change is not None and novelty.new_claims:
        return reading(Agreement.MODIFY, change.rule.id)
    small = novelty.new_claims <= 1 if endorsement else (share or 0) <= _SMALL_ADDITION
    if not small:
        return reading(Agreement.MODIFY, "new-claims")
    if endorsement is not None:
        return reading(Agreement.ENDORSE, endorsement.rule.id)
    if novelty.new_claims:
        return reading(Agreement.ENDORSE, "small-addition")
    return reading(Agreement.REPHRASE, "nothing-new")
