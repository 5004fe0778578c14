"""Four rules that refuse a record that is not fit to be kept, whatever its source.

Source: decision quality gate, layer 3 (clauses Q08 to Q12).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ebbtide.decisions.assessment import Layer, RuleFired
from ebbtide.decisions.candidate import Candidate, ConfidenceSource, Stakes
from ebbtide.decisions.gate.evidence import score
from ebbtide.decisions.gate.spec_rules import (
    CHAT_PATTERN,
    CHAT_START,
    DEFAULT_CONFIDENCE,
    ERROR_MESSAGE,
    ERROR_TEMPLATE,
    TOO_SHORT,
)
from ebbtide.decisions.gate.talk_rules import SOCIAL
from ebbtide.decisions.gate.wording import Wording
from ebbtide.profile import Profile
from ebbtide.profile.decisions import GateRules
from ebbtide.text.contrast.words import FUNCTION_WORDS

_HIGH = (Stakes.HIGH, Stakes.CRITICAL)
_QUOTED = re.compile(r"\"[^\"\n]*\"|`[^`\n]*`|(?<!\w)'[^'\n]*'(?!\w)")
_ASIDE = 2  # words beside chat that decide nothing: "great work on the release"
_CHAT = "Chat, and nothing decided"
_ERROR = re.compile(
    r"(?:[\w',]+ ){0,6}?encountered an (?:unexpected |internal )?error (?:while |when |in )?processing"
    r" (?:your|the|this) request\b"
)
_ABOUT_ERRORS = re.compile(
    r"\b(?:show|display|return|say|log|print|replace|drop|remove|hide|add|use|instead|when|whenever|if|message|text|string)\b"
)


def validate_decision_quality(decision: Candidate) -> tuple[bool, str | None]:
    """Checks by the spec's own rules that a decision is fit to be kept, and returns the reason if it is not.

    The first of the four rules that fires gives the reason. `ebbtide.decisions.gate.assess.assess`
    reports all of them, and has another profile.

    Args:
        decision: Its description, confidence, confidence source and stakes are read.

    Source: decision quality gate, layer 3 (clause Q12).

    >>> validate_decision_quality(Candidate(description="On it!"))
    (False, 'Description too short (<20 chars)')
    >>> validate_decision_quality(Candidate(description="Use PostgreSQL for the job queue"))
    (True, None)
    """
    fired = strict_rules(decision, Profile.SPEC.decisions)
    return (False, fired[0].reason) if fired else (True, None)


def strict_rules(decision: Candidate, rules: GateRules) -> tuple[RuleFired, ...]:
    """The rules that fire, each of which refuses the record."""
    description = decision.description
    fired = []
    if len(description.strip()) < rules.short_below:
        fired.append(_fired("quality.too-short", TOO_SHORT))
    if _is_default(decision, rules, derived=True):
        fired.append(_fired("quality.default-confidence", DEFAULT_CONFIDENCE))
    if start := CHAT_START.match(description):
        fired.append(_fired("quality.chat-start", CHAT_PATTERN, start.group().strip()))
    if ERROR_TEMPLATE in description.lower():
        fired.append(_fired("quality.error-template", ERROR_MESSAGE, ERROR_TEMPLATE))
    return tuple(fired)


def weighted_rules(
    candidate: Candidate,
    wording: Wording,
    noise: Sequence[RuleFired],
    choice: Sequence[RuleFired],
    rules: GateRules,
) -> tuple[RuleFired, ...]:
    """The same four rules, each with a look at what else the record says.

    A short text is kept where it has content, decides something, or anything stands behind it; a confidence
    is the default unless somebody stated or derived it; an opening of chat refuses what goes on as chat; the
    error template has to be what the text says, not what it is about. Chat that decides nothing is refused.

    Args:
        candidate: The record.
        wording: Its description.
        noise: The evidence of noise in the description.
        choice: The evidence of a choice in the record.
        rules: The thresholds.
    """
    fired = []
    if _is_too_short(candidate, wording, rules) and score(choice) < rules.refuse_at:
        fired.append(_fired("quality.too-short", TOO_SHORT))
    if _is_default(candidate, rules, derived=False):
        fired.append(_fired("quality.default-confidence", DEFAULT_CONFIDENCE))
    start = CHAT_START.match(wording.text)
    if start is not None:
        rest = wording.content - len(start.group().split())
        if score(noise) - score(choice) >= rules.refuse_at or (
            not choice and rest < (rules.short_words or 2)
        ):
            fired.append(_fired("quality.chat-start", CHAT_PATTERN, start.group().strip()))
    elif _is_chat(candidate, wording, noise, choice, rules):
        fired.append(_fired("quality.chat", _CHAT, wording.text))
    if phrase := _error_clause(wording):
        fired.append(_fired("quality.error-template", ERROR_MESSAGE, phrase))
    return tuple(fired)


def _is_too_short(candidate: Candidate, wording: Wording, rules: GateRules) -> bool:
    if wording.words <= FUNCTION_WORDS:
        return True
    if len(wording.text) >= rules.short_below or wording.width >= rules.short_below:
        return False
    if candidate.options or candidate.reasons or candidate.assumptions:
        return False
    return rules.short_words is None or wording.content < rules.short_words


def _is_chat(
    candidate: Candidate,
    wording: Wording,
    noise: Sequence[RuleFired],
    choice: Sequence[RuleFired],
    rules: GateRules,
) -> bool:
    """Returns True if a text greets, thanks, praises or approves, and says next to nothing besides."""
    if candidate.options or candidate.reasons or candidate.assumptions:
        return False
    besides = wording.beside(SOCIAL)
    if not besides:
        return True
    chat = score([rule for rule in noise if rule.id.startswith("chat.")])
    return not choice and besides <= _ASIDE and chat >= rules.refuse_at


def _is_default(decision: Candidate, rules: GateRules, *, derived: bool) -> bool:
    if decision.confidence != rules.default_confidence or decision.stakes not in _HIGH:
        return False
    source = decision.confidence_source
    return source in (None, ConfidenceSource.DEFAULT) or (derived and source is ConfidenceSource.DERIVED)


def _error_clause(wording: Wording) -> str | None:
    if "encountered" not in wording.words:
        return None
    for start, end, _ in wording.sentences:
        clause = _ERROR.match(_QUOTED.sub(" ", wording.text[start:end]))
        if clause and not _ABOUT_ERRORS.search(clause.group()):
            return clause.group()
    return None


def _fired(name: str, reason: str, phrase: str = "") -> RuleFired:
    return RuleFired(id=name, layer=Layer.QUALITY, reason=reason, phrase=phrase, weight=1.0, decides=True)
