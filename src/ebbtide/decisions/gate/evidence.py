"""Evidence in a text for noise and for a choice, each piece with its weight.

Weights are evidence: from the profile's `refuse_at` on a wording of noise refuses a candidate that nothing
speaks for; a weak one, of 0.5, does not. They are chosen, not fitted; `benchmarks/quality/gate.py` prints
what each of them does.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ebbtide.decisions.assessment import Layer, RuleFired
from ebbtide.decisions.candidate import Candidate
from ebbtide.decisions.gate.choice_rules import CHOICES
from ebbtide.decisions.gate.finding_rules import FINDINGS
from ebbtide.decisions.gate.report_rules import REPORTS
from ebbtide.decisions.gate.shapes import choice_shapes, noise_shapes
from ebbtide.decisions.gate.talk_rules import TALK
from ebbtide.decisions.gate.wording import Wording
from ebbtide.text.phrase_table import PhraseTable

#: What is no decision, chat, narration, findings, reports and status lines; and behind it what is one.
WORDINGS = PhraseTable((*TALK, *FINDINGS, *REPORTS, *CHOICES), lower=True)
_CHOICES = frozenset(rule.id for rule in CHOICES)
_WEAK = 0.5  # a weight up to which a sign of a choice, such as "because", stands in any text
#: "Let's run the tests": beside a call an agent says so to itself.
LETS = "choice.lets"
#: What such signs come to where there are no others.
WEAK_CHOICE = 0.25
_SHOWN = 80  # characters of a phrase


class GateEvidence(NamedTuple):
    """The evidence in the words and the shape of a text, each rule once."""

    noise: tuple[RuleFired, ...]
    choice: tuple[RuleFired, ...]


def evidence_in(wording: Wording) -> GateEvidence:
    """The evidence of noise and that of a choice, in the order of the rules."""
    noise, choice = [], []
    for rule, phrase, _, _ in WORDINGS.matches(wording.text, wording.keys, wording.sentences):
        if rule.id in _CHOICES:
            choice.append(_fired(rule.id, rule.reason, phrase, -rule.weight))
        else:
            noise.append(_fired(rule.id, rule.reason, phrase, rule.weight))
    for shape, phrase in noise_shapes(wording):
        noise.append(_fired(shape.id, shape.reason, phrase, shape.weight))
    for shape, phrase in choice_shapes(wording):
        choice.append(_fired(shape.id, shape.reason, phrase, -shape.weight))
    return GateEvidence(tuple(noise), tuple(choice))


def choice_of(candidate: Candidate, evidence: Sequence[GateEvidence]) -> tuple[RuleFired, ...]:
    """The evidence of a choice, in the words of a candidate and beside them, each rule once."""
    fired: dict[str, RuleFired] = {}
    for one in evidence:
        for rule in one.choice:
            fired.setdefault(rule.id, rule)
    if len(candidate.options) > 1:
        fired["choice.options"] = _OPTIONS
    if candidate.reasons and any(reason.text.strip() for reason in candidate.reasons):
        fired["choice.reasons"] = _REASONS
    return tuple(fired.values())


def score(evidence: Sequence[RuleFired]) -> float:
    """Sums up the evidence: 0 or more.

    Words for a choice that are all weak come to next to nothing, however many there are. What stands beside
    the words, options and reasons, counts as it is.
    """
    words = facts = 0.0
    weak = True
    for rule in evidence:
        if rule.phrase:
            words += abs(rule.weight)
            weak = weak and -_WEAK <= rule.weight < 0
        else:
            facts += abs(rule.weight)
    return facts + (min(words, WEAK_CHOICE) if weak else words)


# The same few words fire a rule again and again.
@lru_cache(maxsize=1 << 12)
def _fired(name: str, reason: str, phrase: str, weight: float) -> RuleFired:
    return RuleFired(id=name, layer=Layer.INFORMATIONAL, reason=reason, phrase=phrase[:_SHOWN], weight=weight)


_OPTIONS = _fired("choice.options", "It names what was weighed", "", -1.0)
_REASONS = _fired("choice.reasons", "It gives reasons", "", -0.5)
