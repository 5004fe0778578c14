"""The gate before the decision log: is this a decision, and is the record fit to be kept?

Layer 1 asks about the turn that a candidate came from, layer 3 about the record. Layer 2, duplicates, needs
the log and is `ebbtide.decisions.repeats.duplicates`. Nothing here acts: who asks decides what a refusal
means.

Source: decision quality gate, layers 1 and 3 (clauses Q01 to Q05, Q08 to Q12).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ebbtide.decisions.assessment import Assessment, RuleFired
from ebbtide.decisions.candidate import Candidate, Source, TurnContext
from ebbtide.decisions.gate.evidence import LETS, WEAK_CHOICE, choice_of, evidence_in, score
from ebbtide.decisions.gate.informational import LONG, NO_CHOICE, QUOTED, SAYS_MUCH, informational
from ebbtide.decisions.gate.quality import strict_rules, weighted_rules
from ebbtide.decisions.gate.wording import Wording
from ebbtide.errors import expect
from ebbtide.profile import Profile


def assess(
    candidate: Candidate, context: TurnContext | None = None, profile: Profile = Profile.DEFAULT
) -> Assessment:
    """Weighs what speaks against a candidate and what for it, and says whether it is worth keeping.

    Every rule is asked. Layer 1 is not asked of an explicit record: somebody recorded it on purpose (clause
    Q05). The time is linear in the length of the texts; only their beginnings are read for phrases.

    Args:
        candidate: What may be a decision.
        context: The turn that it came from. None takes its description for the turn, as far as words go.
        profile: `Profile.SPEC` refuses by each rule alone; the default weighs noise against choice, and a
            model that was trained on labels of your own beside them, where the profile names one.

    Raises:
        ConfigError: The trained model cannot be used.
        SemanticError: There is a trained model, and the extra ``semantic`` is not installed.

    >>> assess(Candidate(description="Let me check the logs first.")).keep
    False
    >>> assess(Candidate(description="I'll use SQLite here because there is one writer.")).keep
    True
    """
    expect("candidate", candidate, Candidate)
    expect("context", context, TurnContext, optional=True)
    expect("profile", profile, Profile)
    rules = profile.decisions
    turn = None if candidate.source is Source.EXPLICIT else context
    from_turn = candidate.source is not Source.EXPLICIT
    if not rules.weighs:
        text = candidate.description if turn is None else turn.text
        first = informational(text, turn, rules) if from_turn else ()
        return _by_letter((*first, *strict_rules(candidate, rules)), profile)
    record = Wording.of(candidate.description)
    evidence = [evidence_in(record)]
    is_quoted = turn is not None and _is_quoted(candidate, turn)
    if turn is not None and not is_quoted and turn.text != candidate.description:
        evidence.append(evidence_in(Wording.of(turn.text)))
    noise = evidence[0].noise
    choice = choice_of(candidate, evidence)
    if turn is not None and turn.tool_results:
        choice = tuple(rule for rule in choice if rule.id != LETS)
    third = weighted_rules(candidate, record, noise, choice, rules)
    for_it = score(choice)
    if not from_turn:
        return _assessment((), choice, for_it, third, profile)
    first = () if turn is None or is_quoted else informational(candidate.description, turn, rules)
    if for_it <= WEAK_CHOICE:
        if is_quoted:
            first = (*first, replace(QUOTED, weight=rules.quoted_noise))
        elif turn is not None and turn.tool_results:
            first = (*first, NO_CHOICE)
        elif len(record.text) >= SAYS_MUCH:
            first = (*first, LONG)
    if len(evidence) > 1:
        ids = {rule.id for rule in noise}
        noise = (*noise, *(rule for rule in evidence[1].noise if rule.id not in ids))
    assessment = _assessment((*noise, *first), choice, for_it, third, profile)
    if rules.model is None:
        return assessment
    from ebbtide.decisions.learning.learned_rule import with_labels

    return with_labels(candidate.description, assessment, rules.model)


def _is_quoted(candidate: Candidate, turn: TurnContext) -> bool:
    """Returns True if a candidate is only a part of its turn: the other parts are no evidence about it."""
    text = candidate.description.strip()
    return len(text) < len(turn.text.strip()) and text in turn.text


def _by_letter(fired: Sequence[RuleFired], profile: Profile) -> Assessment:
    return Assessment(
        keep=not fired,
        primary=fired[0] if fired else None,
        rules=tuple(fired),
        noise=float(len(fired)),
        choice=0.0,
        threshold=1.0,
        profile=profile.name,
    )


def _assessment(
    noise: Sequence[RuleFired],
    choice: Sequence[RuleFired],
    for_it: float,
    third: Sequence[RuleFired],
    profile: Profile,
) -> Assessment:
    threshold = profile.decisions.refuse_at
    against = score(noise)
    weighs_enough = against - for_it >= threshold
    refusing = (*(noise if weighs_enough else ()), *third)
    return Assessment(
        keep=not refusing,
        primary=refusing[0] if refusing else None,
        rules=(*noise, *choice, *third),
        noise=against,
        choice=for_it,
        threshold=threshold,
        profile=profile.name,
    )
