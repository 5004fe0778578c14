"""Facts as sentences for people and nudges for models: the last step of every verdict and finding."""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide.budget.limit_alerts import LimitAlert, Nearness
from ebbtide.budget.limits import LimitKind, uncounted
from ebbtide.budget.tally import dollars
from ebbtide.divergence.detector_table import LOOPS, is_for_person
from ebbtide.divergence.signals import SPENDING, LoopSignal, Unit
from ebbtide.profile.loop_kinds import LoopKind
from ebbtide.supervision.facts import (
    BudgetFacts,
    BurnFacts,
    DryRoundFacts,
    Facts,
    LimitFacts,
    LoopFacts,
    PersonFacts,
)

_NAMED = 3  # tools of one turn that are named
_TOOL = 40  # characters of a tool's name

_STATED = "as the agent reports it"
_UNKNOWN_NUDGE = "The same calls were made again and again."
_WAY_OUT = "Try something else, or say what is missing and finish."

_LIMITS = {
    LimitKind.COST_USD: "cost",
    LimitKind.TOKENS: "token",
    LimitKind.STEPS: "step",
    LimitKind.LLM_CALLS: "model call",
    LimitKind.TOOL_CALLS: "tool call",
    LimitKind.RETRIES: "retry",
    LimitKind.WALL_S: "time",
    LimitKind.MAX_AGENTS: "agent",
    LimitKind.MAX_DEPTH: "agent depth",
}
_LAST_CALL = "This is the last call. Give the result as it is, without tools, and say what is missing."
_LAST_CALL_OF_LIMIT = (
    "This is the last call. Answer now, without tools, with what there is, and say what is missing."
)
_BURN_NUDGE = (
    "Money is being spent, and there has been nothing new for a while. Sum up what is known, then change "
    "course, or say what is missing and finish."
)


def listed(names: Sequence[str]) -> str:
    """A few names in a sentence.

    >>> listed(["search", "open", "search"]), listed("abcde")
    ('search and open', 'a, b, c and 2 more')
    """
    labels = [name if len(name) <= _TOOL else f"{name[: _TOOL - 1]}\u2026" for name in dict.fromkeys(names)]
    if len(labels) > _NAMED + 1:
        return f"{', '.join(labels[:_NAMED])} and {len(labels) - _NAMED} more"
    return " and ".join(filter(None, (", ".join(labels[:-1]), *labels[-1:])))


def amount(quantity: Unit, value: float) -> str:
    """An amount with its unit.

    >>> amount(Unit.USD, 0.5), amount(Unit.TOKENS, 1200)
    ('$0.50', '1,200 tokens')
    """
    return dollars(value) if quantity is Unit.USD else f"{value:,.0f} {quantity.value}"


def reason(facts: Facts) -> str:
    """Why something is done about it: a sentence without its full stop."""
    if isinstance(facts, LoopFacts):
        signal = facts.signal
        text = loop(signal, signal.copies, answers_known=facts.answers_known)
        if signal.kind in SPENDING:
            text = f"{text}: {evidence(signal)}"
        if not facts.goes_on:
            return text
        what = "spending" if signal.kind in SPENDING else "loop"
        return f"{text}; the {what} {'came back' if signal.relapses else 'continued'} after the first warning"
    if isinstance(facts, LimitFacts):
        return _limit(facts.alert)
    if isinstance(facts, BudgetFacts):
        return facts.refusal.sentence.removesuffix(".")
    if isinstance(facts, DryRoundFacts):
        stretch = f"{facts.rounds:,} rounds in a row brought nothing new"
        if facts.ready:
            return f"{stretch}: the result is ready"
        return f"{stretch}, and nothing says that it is finished: more of the same will not help"
    if isinstance(facts, PersonFacts):
        return f"A person ended the run{': ' if facts.reason else ''}{facts.reason.rstrip('.')}"
    return f"{burn(facts)}: {_burn_measure(facts)}"


def nudge(facts: Facts) -> str:
    """The text about it for the model, or for the person who alone can mend it."""
    if isinstance(facts, LoopFacts):
        row = LOOPS[facts.signal.kind]
        if is_for_person(row.kind):
            return row.nudge
        proof = facts.answers_known or "{same}" not in row.sentence
        return f"{row.nudge if proof else _UNKNOWN_NUDGE} {_WAY_OUT}"
    if isinstance(facts, LimitFacts):
        if facts.alert.nearness is not Nearness.WARN:
            return _LAST_CALL_OF_LIMIT
        usage = _limit(facts.alert)
        usage = f"{usage[0].upper()}{usage[1:]}"
        if facts.alert.kind in (LimitKind.MAX_AGENTS, LimitKind.MAX_DEPTH):
            return f"{usage}. Use the results of the existing agents before you start another agent."
        return f"{usage}. Finish with a result: say what is known and what is missing."
    return _LAST_CALL if isinstance(facts, DryRoundFacts) else _BURN_NUDGE


def loop(signal: LoopSignal, copies: int, *, answers_known: bool = True) -> str:
    """Returns what a loop was, in words, with its size in it.

    Args:
        answers_known: Whether the answers of its calls are known: what is not known is not the same.
    """
    text = LOOPS[signal.kind].sentence
    if signal.kind is LoopKind.CYCLE and len(set(signal.tools)) == 1:
        text = f"{{tools}} with {signal.period} different arguments in turn, {{n}} times, {{same}} results"
    if not answers_known:
        text = text.replace("{same} results", "results unknown").replace("{same} result", "results unknown")
    text = text.format(tools=listed(signal.tools) or "a call", n=f"{copies:,}", same="same")
    return f"{text}, {_STATED}" if signal.is_stated else text


def evidence(signal: LoopSignal) -> str:
    """Returns what was measured, or the latest call."""
    measure = signal.measure
    if measure is None:
        return signal.latest_call
    size = amount(measure.quantity, measure.value)
    match signal.kind:
        case LoopKind.SPEND_RATE:
            minutes = (measure.span_s or 0) / 60
            return f"{size} in {minutes:.0f} min, above {amount(measure.quantity, measure.limit)}"
        case LoopKind.BUDGET_END:
            share = f"{size} of {amount(measure.quantity, measure.limit)}"
            return f"{share} spent; at this rate the rest lasts {measure.span_s or 0:,.0f} s"
        case LoopKind.SPEND_WITHOUT_NEWS:
            return f"{size} since the last new result, above {amount(measure.quantity, measure.limit)}"
        case LoopKind.MONOTONY if measure.quantity is Unit.BITS:
            return f"{measure.value:.2f} bits over {signal.copies} calls, below {measure.limit:g}"
        case LoopKind.MONOTONY:
            return f"{size} since the last new result"
        case LoopKind.MISSED_WAKE_UP:
            return f"nothing happened for {measure.value / 60:,.0f} minutes after its time"
        case LoopKind.CHANTING:
            return f"{signal.copies:,} copies of {signal.period} words"
    return size


def burn(facts: BurnFacts) -> str:
    """Returns the number of calls and rounds without any progress, in words."""
    parts = []
    if facts.calls:
        parts.append(f"{facts.calls:,} call{'s' * (facts.calls != 1)}")
    if facts.rounds:
        parts.append(f"{facts.rounds:,} round{'s' * (facts.rounds != 1)}")
    return f"{' and '.join(parts)} brought no new result" if parts else "no new result"


def _burn_measure(facts: BurnFacts) -> str:
    measure = facts.measure
    size = amount(measure.quantity, measure.value)
    if measure.span_s is not None:
        return f"{size} in the last hour"
    rest = "" if facts.remaining is None else f", {amount(measure.quantity, facts.remaining)} left"
    return f"{size} since the last new result{rest}"


def measured(facts: Facts) -> str:
    """Returns what was measured besides the sentence; empty where the sentence says it all."""
    if isinstance(facts, LoopFacts):
        return evidence(facts.signal)
    return _burn_measure(facts) if isinstance(facts, BurnFacts) else ""


def advice(facts: Facts) -> str:
    """Returns what a person may do about it, where there is nothing to say to the model."""
    if isinstance(facts, LimitFacts):
        if facts.alert.missing is not None:
            return ""  # its sentence says what to pass
        return "Raise the limit, or have the run finish earlier."
    if isinstance(facts, BudgetFacts):
        return ""  # likewise
    if isinstance(facts, DryRoundFacts):
        return "Ask a person, or change the agents, the prompt or the scope."
    return "Look at what the money is spent on, and change course."


def _limit(alert: LimitAlert) -> str:
    """Returns how near a limit is, in words."""
    if alert.missing is not None:
        return uncounted(alert.kind, alert.limit, alert.missing, alert.subject).removesuffix(".")
    name = _LIMITS[alert.kind]
    if alert.nearness is Nearness.WARN:
        return f"{min(alert.value / alert.limit, 1):.0%} of the {name} limit used ({limit_size(alert)})"
    if alert.nearness is Nearness.LAST:
        next_call = "no tool call is" if alert.kind is LimitKind.TOOL_CALLS else "one more model call is"
        return f"{next_call} left before the {name} limit ({limit_size(alert)})"
    passed = "exceeded" if alert.value > alert.limit else "reached"
    return f"{name} limit {passed} ({limit_size(alert)})"


def limit_size(alert: LimitAlert) -> str:
    """Returns what was taken of a limit.

    >>> limit_size(LimitAlert(LimitKind.COST_USD, Nearness.WARN, 1.5, 2.0))
    '$1.50 of $2.00'
    """
    if alert.kind is LimitKind.COST_USD:
        return f"{dollars(alert.value)} of {dollars(alert.limit)}"
    unit = " s" if alert.kind is LimitKind.WALL_S else ""
    return f"{alert.value:,.0f} of {alert.limit:,.0f}{unit}"
