"""Snapshots of what a monitor knows, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ebbtide.budget.tally import UNITS, usd
from ebbtide.codec import Record
from ebbtide.divergence.loop_registry import Loop
from ebbtide.divergence.loop_state import LoopState
from ebbtide.profile.loop_kinds import LoopKind


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSnapshot:
    """One loop as it is now.

    Args:
        id: As in its signals.
        kind: What was found.
        reports: How often it was reported.
        goes_on: Whether its next call would go on with it.
        copies: What its rule counts, so far.
        relapses: Times that it had ended and come back.
        tools: Names of the calls of one turn.
        first_event: Number of its first event.
        last_event: Number of its latest event.
    """

    id: str
    kind: LoopKind
    reports: int
    goes_on: bool
    copies: int
    relapses: int
    tools: tuple[str, ...]
    first_event: int
    last_event: int

    @classmethod
    def of(cls, chain: LoopState, loop: Loop) -> LoopSnapshot:
        """The loop of a chain as it is now."""
        return cls(
            id=loop.key.hex(),
            kind=loop.kind,
            reports=loop.reports,
            goes_on=chain.goes_on(loop),
            copies=loop.count,
            relapses=loop.relapses,
            tools=loop.tools,
            first_event=loop.first_event,
            last_event=loop.last_event,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainSnapshot:
    """One chain as it is now.

    Args:
        chain_id: The chain.
        calls: Calls that were counted.
        calls_since_news: Of those, the ones since the last new result.
        cost_usd: Spent so far; None where no cost was stated.
        tokens: Tokens of all classes so far; None where none were stated.
        usd_last_hour: Spent over the last hour of the chain's own clock.
        unreadable: Calls whose arguments or answer could not be read; they match nothing.
        spend_faults: Costs and token counts that were no numbers, negative or infinite; they count as
            unknown.
        loops: The loops that are remembered.
    """

    chain_id: str
    calls: int
    calls_since_news: int
    cost_usd: float | None
    tokens: int | None
    usd_last_hour: float
    unreadable: int
    spend_faults: int
    loops: tuple[LoopSnapshot, ...]

    @classmethod
    def of(cls, chain: LoopState) -> ChainSnapshot:
        """The chain as the monitor knows it."""
        return cls(
            chain_id=chain.name,
            calls=chain.repetition.calls,
            calls_since_news=chain.repetition.calls - chain.repetition.answers.latest_news,
            cost_usd=usd(chain.tally.cost),
            tokens=chain.tally.tokens,
            usd_last_hour=chain.spend.windows[-1].cost / UNITS,
            unreadable=chain.unreadable,
            spend_faults=chain.tally.faults,
            loops=tuple(LoopSnapshot.of(chain, loop) for loop in chain.registry.loops.values()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorSnapshot(Record):
    """A session as it is now.

    Args:
        chains: Its chains, the one that was silent longest first.
        degraded: Events that could not be read in full, or at all.
        last_fault: What was wrong with the latest of them.
        duplicates: Events that were recorded twice, and counted once.
        dropped_chains: Chains that made room for others.
    """

    _SCHEMA: ClassVar = 1

    chains: tuple[ChainSnapshot, ...]
    degraded: int
    last_fault: str | None
    duplicates: int
    dropped_chains: int
