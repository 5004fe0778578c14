"""What the loop monitor says: one signal a loop and level."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Level(StrEnum):
    """How serious it is, and so what to do."""

    HINT = "hint"  #: tell the model
    BLOCK = "block"  #: refuse the calls that belong to the loop
    STOP = "stop"  #: end the run


LEVELS = tuple(Level)


class LoopKind(StrEnum):
    """What was found."""

    REPEAT = "repeat"  #: one call with one answer, again and again
    CYCLE = "cycle"  #: several calls with their answers, in turn
    NO_PROGRESS = "no_progress"  #: one call with one answer, others between
    FAILING_CALL = "failing_call"  #: one call fails, in whatever words
    SAME_ERROR = "same_error"  #: one tool fails with errors that it gave before, whatever the arguments
    FAILING_TOOL = "failing_tool"  #: one tool fails, whatever the arguments and the error
    SAME_ANSWER = "same_answer"  #: one tool says one thing, whatever it is asked
    NEAR_DUPLICATE = "near_duplicate"  #: calls that barely differ, and one answer
    GROWING_CALL = "growing_call"  #: each call is the one before and something more
    SWEEP = "sweep"  #: pages read to the end, and again from the start
    COVERED_RANGE = "covered_range"  #: ranges that were read already, cut in other ways
    MONOTONY = "monotony"  #: hardly anything but known calls with known answers
    HANDOFF_CYCLE = "handoff_cycle"  #: agents hand the work round in a circle
    ACROSS_CHAINS = "across_chains"  #: several chains of a session do the same
    MONOLOGUE = "monologue"  #: the model says the same again
    CHANTING = "chanting"  #: a text that ends in copies of itself
    CONDENSATION = "condensation"  #: the context is condensed again and again
    SPEND_RATE = "spend_rate"  #: money or tokens leave too fast
    BUDGET_END = "budget_end"  #: at this rate the budget ends soon
    SPEND_WITHOUT_NEWS = "spend_without_news"  #: money leaves and nothing new comes


_ADVICE = {
    LoopKind.REPEAT: "The same call gave the same answer again: it will not change by asking.",
    LoopKind.CYCLE: "The same calls gave the same answers in turn, several times over.",
    LoopKind.NO_PROGRESS: "This call keeps giving the same answer, and nothing done in between changed it.",
    LoopKind.FAILING_CALL: "This call keeps failing: sending it again unchanged will not help.",
    LoopKind.SAME_ERROR: "This tool fails in the same way whatever the arguments.",
    LoopKind.FAILING_TOOL: "This tool keeps failing, one way or another.",
    LoopKind.SAME_ANSWER: "This tool gives the same answer whatever it is asked.",
    LoopKind.NEAR_DUPLICATE: "These calls barely differ, and their answer does not.",
    LoopKind.GROWING_CALL: "Each call repeats the one before and appends to it.",
    LoopKind.SWEEP: "These pages were read to the end before, with the same content.",
    LoopKind.COVERED_RANGE: "These ranges lie inside what was read before.",
    LoopKind.MONOTONY: "The last calls brought nothing that was not known.",
    LoopKind.HANDOFF_CYCLE: "The work goes round between agents without getting on.",
    LoopKind.ACROSS_CHAINS: "Several runs of this session repeat the same call with the same answer.",
    LoopKind.MONOLOGUE: "The same message again, and nothing done in between.",
    LoopKind.CHANTING: "The text ends in copies of itself.",
    LoopKind.CONDENSATION: "The context is condensed again and again with nothing done in between.",
    LoopKind.SPEND_RATE: "Spending is faster than allowed.",
    LoopKind.BUDGET_END: "At this rate the budget ends soon.",
    LoopKind.SPEND_WITHOUT_NEWS: "Spending goes on and nothing new has come.",
}
_ACTION = {
    Level.HINT: "Try something else, or say what is missing and finish.",
    Level.BLOCK: "Calls of this loop should be refused now.",
    Level.STOP: "The run should end.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A loop, or spending, at a level that was not told yet.

    Args:
        id: The same for the same loop in the same chain, also in another process.
        kind: What was found.
        level: What to do about it.
        chain_id: The chain.
        tools: Names of the calls of one turn, in order.
        period: Calls in one turn; None where there are no turns.
        copies: Turns so far, or what else the rule counts.
        threshold: Count from which the rule speaks.
        calls: Calls that belong to it.
        relapses: Times that it had ended and come back.
        first_event: Number of its first event in the chain.
        last_event: Number of its last event so far.
        cost_usd: Spent between the two; None where no cost was told.
        tokens: Tokens of all classes between the two; None where none were told.
        evidence: The latest call, cut, or the measured value.
    """

    id: str
    kind: LoopKind
    level: Level
    chain_id: str
    tools: tuple[str, ...] = ()
    period: int | None = None
    copies: int
    threshold: float
    calls: int
    relapses: int = 0
    first_event: int
    last_event: int
    cost_usd: float | None = None
    tokens: int | None = None
    evidence: str = ""

    @property
    def message(self) -> str:
        """What to tell the model or a person, in two sentences."""
        return f"{_ADVICE[self.kind]} {_ACTION[self.level]}"

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "schema": 1,
            "id": self.id,
            "kind": self.kind.value,
            "level": self.level.value,
            "chain_id": self.chain_id,
            "tools": list(self.tools),
            "period": self.period,
            "copies": self.copies,
            "threshold": self.threshold,
            "calls": self.calls,
            "relapses": self.relapses,
            "first_event": self.first_event,
            "last_event": self.last_event,
            "cost_usd": self.cost_usd,
            "tokens": self.tokens,
            "evidence": self.evidence,
            "message": self.message,
        }
