"""Snapshots of what a supervisor knows, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ebbtide.codec import Record
from ebbtide.convergence.signal import Signal
from ebbtide.divergence.snapshot import MonitorSnapshot
from ebbtide.supervision.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSnapshot:
    """The conversation of one chain as it is now.

    Args:
        turns: Turns of its model, and calls that stand for one.
        rounds: Rounds that were read; those that no verdict can depend on are not.
        low_run: Rounds in a row that brought nothing new.
        signal: What the convergence engine said last; None where no round was read.
        cut_texts: Turns of more than 100,000 characters: their beginning and end are read.
        claims_left_out: Claims that were not read, in rounds that state more than 512 different ones.
    """

    chain_id: str
    turns: int
    rounds: int
    low_run: int
    signal: Signal | None
    cut_texts: int = 0
    claims_left_out: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisorSnapshot(Record):
    """A run as it is now.

    Args:
        verdict: The highest that holds.
        active: All that hold.
        events: Events so far, over all chains.
        conversations: One a chain, the one that was silent longest first.
        calls: What the loop monitor knows.
        degraded: Events that could not be read in full, or at all.
        last_fault: What was wrong with one of the latest of them.
    """

    _SCHEMA: ClassVar = 1

    verdict: Verdict
    active: tuple[Verdict, ...]
    events: int
    conversations: tuple[ConversationSnapshot, ...]
    calls: MonitorSnapshot
    degraded: int
    last_fault: str | None
