"""How a finding is said to a person, and what a model is told."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ebbtide.budget.limit_alerts import LimitState, Near
from ebbtide.budget.limits import LimitKind
from ebbtide.divergence.detectors.spend import dollars
from ebbtide.divergence.signals import Level, LoopKind, Signal
from ebbtide.supervision.joint import Burn
from ebbtide.supervision.summary.run_summary import RunFinding, Spending
from ebbtide.supervision.verdict import Action, Cause, Verdict

_NAMED = 3  # tools of one turn that are named
_TOOL = 40  # characters of a tool's name

_IN_TURN = "{tools} in turn, {n} times, same answers"
_SAID = {
    LoopKind.REPEAT: "{tools} {n} times in a row, same arguments, same answer",
    LoopKind.CYCLE: _IN_TURN,
    LoopKind.NO_PROGRESS: "{tools} {n} times with other calls in between, same arguments, same answer",
    LoopKind.FAILING_CALL: "{tools} sent {n} times unchanged, failing every time",
    LoopKind.SAME_ERROR: "{tools} failed {n} times in a row with the same errors",
    LoopKind.FAILING_TOOL: "{tools} failed {n} times in a row",
    LoopKind.SAME_ANSWER: "{tools} {n} times in a row, other arguments, same answer",
    LoopKind.NEAR_DUPLICATE: "{tools} {n} times in a row, nearly the same arguments, same answer",
    LoopKind.GROWING_CALL: "{tools} {n} times in a row, each call the one before and more",
    LoopKind.SWEEP: "{tools} read the same pages from the start again, {n} pages",
    LoopKind.COVERED_RANGE: "{tools} read {n} times what had been read before",
    LoopKind.MONOTONY: "{n} calls that brought nothing new",
    LoopKind.HANDOFF_CYCLE: "the work was handed round in a circle {n} times",
    LoopKind.ACROSS_CHAINS: "{tools} in several agents' runs, {n} times, same answer",
    LoopKind.MONOLOGUE: "the same message {n} times in a row, nothing done in between",
    LoopKind.CHANTING: "a text that ends in {n} copies of itself",
    LoopKind.CONDENSATION: "the context was condensed {n} times in a row, nothing done in between",
    LoopKind.SPEND_RATE: "money left faster than allowed",
    LoopKind.BUDGET_END: "the budget was about to end",
    LoopKind.SPEND_WITHOUT_NEWS: "spending went on and nothing new came",
}
SPENDING = frozenset({LoopKind.SPEND_RATE, LoopKind.BUDGET_END, LoopKind.SPEND_WITHOUT_NEWS})

NO_ANSWERS = "no answers known"
_SAME = re.compile(r"same answers?$")
_UNKNOWN_NUDGE = "The same calls were made again and again."

_LIMITS = {
    LimitKind.COST_USD: "the money",
    LimitKind.TOKENS: "the tokens",
    LimitKind.STEPS: "the steps",
    LimitKind.LLM_CALLS: "the model calls",
    LimitKind.TOOL_CALLS: "the tool calls",
    LimitKind.RETRIES: "the retries",
    LimitKind.WALL_S: "the time",
}


def listed(names: Sequence[str]) -> str:
    """A few names in a sentence.

    >>> listed(["search", "open", "search"]), listed("abcde")
    ('search and open', 'a, b, c and 2 more')
    """
    shown = [name if len(name) <= _TOOL else f"{name[: _TOOL - 1]}\u2026" for name in dict.fromkeys(names)]
    if len(shown) > _NAMED + 1:
        return f"{', '.join(shown[:_NAMED])} and {len(shown) - _NAMED} more"
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def loop(
    kind: LoopKind, tools: Sequence[str], copies: int, evidence: str = "", *, answers: bool = True
) -> str:
    """What a loop was, its size in it.

    Args:
        kind: What was found.
        tools: Names of the calls of one turn.
        copies: What its rule counts.
        evidence: What was measured, where it is spending.
        answers: Whether the answers of the calls are known: what is not known is not the same.

    >>> loop(LoopKind.CYCLE, ("search_web", "open_page"), 11)
    'search_web and open_page in turn, 11 times, same answers'
    >>> loop(LoopKind.REPEAT, ("ls",), 3, answers=False)
    'ls 3 times in a row, same arguments, no answers known'
    """
    said = _SAID[kind].format(tools=listed(tools) or "a call", n=f"{copies:,}")
    if not answers:
        said = _SAME.sub(NO_ANSWERS, said)
    return f"{said}: {evidence}" if kind in SPENDING and evidence else said


def loop_verdict(signal: Signal, *, goes_on: bool, answers: bool = True) -> str:
    """Why a loop is told, or ends the run."""
    said = loop(signal.kind, signal.tools, signal.copies, signal.evidence, answers=answers)
    if not goes_on:
        return f"{said}."
    return f"{said}: it {'came back' if signal.relapses else 'went on'} after it had been told."


def loop_nudge(signal: Signal, *, answers: bool = True) -> str:
    """What the model is told about a loop."""
    said = (signal if signal.level is Level.HINT else replace(signal, level=Level.HINT)).message
    if answers or not _SAME.search(_SAID[signal.kind]):
        return said
    return f"{_UNKNOWN_NUDGE} {said.partition('. ')[2]}"


def limit(state: LimitState) -> str:
    """How near a limit is."""
    name = _LIMITS[state.kind]
    if state.near is Near.WARN:
        return f"{min(state.value / state.limit, 1):.0%} of {name} are used ({size(state)})."
    if state.near is Near.LAST:
        left = "no call of a tool is" if state.kind is LimitKind.TOOL_CALLS else "one more model call is"
        return f"{left} left before {name} run out ({size(state)})."
    return f"{name} ran out ({size(state)})."


def size(state: LimitState) -> str:
    """What was taken of a limit.

    >>> size(LimitState(LimitKind.COST_USD, Near.WARN, 1.5, 2.0))
    '$1.50 of $2.00'
    """
    if state.kind is LimitKind.COST_USD:
        return f"{dollars(state.value)} of {dollars(state.limit)}"
    unit = " s" if state.kind is LimitKind.WALL_S else ""
    return f"{state.value:,.0f} of {state.limit:,.0f}{unit}"


def limit_nudge(state: LimitState) -> str:
    """What the model is told when a limit is near."""
    if state.near is Near.WARN:
        return f"{limit(state).capitalize()} Come to a result: say what is known and what is missing."
    return "This is the last call: answer now, without tools, with what there is, and say what is missing."


LAST_CALL = "This is the last call: give the result as it stands, without tools, and say what is missing."


def rounds(dry: int, *, ready: bool) -> str:
    """What a dry stretch of rounds means."""
    brought = f"{dry:,} rounds in a row brought nothing new"
    if not ready:
        return f"{brought}, and there is no result to act on: more of the same will not help."
    return f"{brought}: the result is as ready as it gets."


def joint(found: Burn) -> str:
    """What was spent while nothing came of it."""
    parts = []
    if found.calls:
        parts.append(f"{found.calls:,} call{'s' * (found.calls != 1)}")
    if found.low_rounds:
        parts.append(f"{found.low_rounds:,} round{'s' * (found.low_rounds != 1)}")
    what = " and ".join(parts) or "nothing done"
    return f"{what} without anything new while spending went on: {found.measure}"


#: What to do about what is no loop.
ADVICE = {
    Cause.LIMIT: "Allow more, or have it come to a result earlier.",
    Cause.CONVERGENCE: "Ask a person, or change the agents, the prompt or the scope.",
    Cause.JOINT: "Look at what the money is spent on, and change course.",
}

JOINT_NUDGE = (
    "Money is being spent and nothing new has come for a while. Sum up what is known, then change course, or "
    "say what is missing and finish."
)


def unit(spent: Spending) -> str:
    """What the events of a run are called: calls, where there is nothing else."""
    return "calls" if spent.events == spent.tool_calls else "events"


def place(found: RunFinding, events: str = "events") -> str:
    """Where a finding is: "events 31-52"."""
    if found.first_event == found.last_event:
        return f"{events.removesuffix('s')} {found.first_event:,}"
    return f"{events} {found.first_event:,}-{found.last_event:,}"


def price(cost_usd: float | None, tokens: int | None) -> str:
    """What something cost: money where it is known, else tokens, else nothing.

    >>> price(1.84, 9000), price(None, 9000), price(0.004, None), price(None, None)
    ('$1.84', '9,000 tokens', '$0.004', '')
    """
    if cost_usd is not None:
        return dollars(cost_usd)
    return "" if tokens is None else f"{tokens:,} token{'s' * (tokens != 1)}"


def without_measure(verdict: Verdict) -> tuple[str, str]:
    """The sentence of a finding, and what was measured: beside a finding stands what it cost.

    >>> without_measure(Verdict(cause=Cause.JOINT, reason="9 calls without anything new: $1.40 since then."))
    ('9 calls without anything new', '$1.40 since then')
    """
    reason = verdict.reason.rstrip(".")
    if verdict.cause is not Cause.JOINT:
        return reason, ""
    said, _, measure = reason.partition(": ")
    return said, measure


def came_back(sentence: str, returns: int) -> str:
    """A finding that ended and came back.

    >>> came_back("2 rounds in a row brought nothing new", 237)
    '2 rounds in a row brought nothing new; it came back 237 times'
    """
    times = "once" if returns == 1 else f"{returns:,} times"
    return f"{sentence}; it came back {times}" if returns else sentence


def finding(found: RunFinding, events: str = "events") -> str:
    """A finding in one line: where, what, and what it cost."""
    cost = price(found.cost_usd, found.tokens)
    return f"{place(found, events)}: {found.sentence}{', ' if cost else ''}{cost}"


def _calm(spent: Spending) -> str:
    if not spent.events:
        return "There is no event."
    number = f"{spent.events:,} {unit(spent)}" if spent.events != 1 else "One event"
    return f"{number}: no loop, no limit passed, nothing spent for nothing."


def verdict_of_run(
    highest: Verdict,
    findings: Sequence[RunFinding],
    spent: Spending,
) -> Verdict:
    """The verdict about a run that is over, its reason told from the end.

    Args:
        highest: The highest that was said.
        findings: What was found.
        spent: What the run took.
    """
    if highest.action is Action.ALLOW:
        return replace(highest, reason=_calm(spent))
    behind = next(
        (
            found
            for found in findings
            if (found.id == highest.signal_id if highest.signal_id else found.kind == highest.kind)
            and found.chain_id == (highest.chain_id or "")
        ),
        None,
    )
    if behind is None or highest.signal_id is None:
        return highest
    cost = price(behind.cost_usd, behind.tokens)
    size = f" ({place(behind, unit(spent))}{', ' if cost else ''}{cost})"
    return replace(highest, reason=f"{behind.sentence}{size}.")
