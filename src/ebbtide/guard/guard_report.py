"""Report of a run: its calls, and what it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ebbtide.budget.account import Spent
from ebbtide.errors import RunHalted


class Outcome(StrEnum):
    """Ending of a call."""

    SUCCESS = "success"
    FAILURE = "failure"
    HALTED = "halted"  #: not let through, cancelled, or a stream that was not read to its end


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call that has ended.

    Args:
        kind: "llm", "tool", or what it was called.
        name: The model or tool that was called.
        result: The returned value, or the name of the raised error; None for a stream, whose reader has them.
    """

    kind: str
    name: str
    outcome: Outcome
    result: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """Report of a run so far.

    Args:
        spent: Amounts that it took.
        calls: Its latest calls, oldest first.
        halted: The reason why no more calls are let through; None while they are.
        unknown_prices: Models whose cost nobody knows, and how many of their calls were counted without it.
        faults: Counts of failures that the run does not notice, by place: ``graph``, ``supervisor``,
            ``pipeline``, ``prices``, ``usage``, ``at_most``, ``text``, ``budgets``.
        last_fault: The latest of them, in words.
    """

    chain_id: str
    spent: Spent
    calls: tuple[CallRecord, ...]
    halted: RunHalted | None
    unknown_prices: Mapping[str, int]
    faults: Mapping[str, int]
    last_fault: str | None

    @property
    def degraded(self) -> bool:
        """True if part of the watching failed, so that warnings may be missing."""
        return bool(self.faults)

    @property
    def results(self) -> tuple[Any, ...]:
        """Results of the latest calls, those that failed left out."""
        return tuple(
            call.result for call in self.calls if call.outcome is Outcome.SUCCESS and call.result is not None
        )
