"""What a monitor knows, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ebbtide.divergence.ladder import Loop
from ebbtide.divergence.signals import LEVELS, Level, LoopKind
from ebbtide.divergence.watch import ChainWatch


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSnapshot:
    """One loop as it stands.

    Args:
        id: As in its signals.
        kind: What was found.
        level: The level that it has come to.
        goes_on: Whether its next call would go on with it.
        copies: What its rule counts, so far.
        relapses: Times that it had ended and come back.
        tools: Names of the calls of one turn.
        first_event: Number of its first event.
        last_event: Number of its latest event.
    """

    id: str
    kind: LoopKind
    level: Level
    goes_on: bool
    copies: int
    relapses: int
    tools: tuple[str, ...]
    first_event: int
    last_event: int

    @classmethod
    def of(cls, watch: ChainWatch, loop: Loop) -> LoopSnapshot:
        """The loop of a chain as it stands."""
        return cls(
            id=loop.key.hex(),
            kind=loop.kind,
            level=LEVELS[loop.level],
            goes_on=watch.goes_on(loop),
            copies=loop.count,
            relapses=loop.relapses,
            tools=loop.tools,
            first_event=loop.first_event,
            last_event=loop.last_event,
        )

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "id": self.id,
            "kind": self.kind.value,
            "level": self.level.value,
            "goes_on": self.goes_on,
            "copies": self.copies,
            "relapses": self.relapses,
            "tools": list(self.tools),
            "first_event": self.first_event,
            "last_event": self.last_event,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainSnapshot:
    """One chain as it stands.

    Args:
        chain_id: The chain.
        calls: Calls that were counted.
        calls_since_news: Of those, the ones since the last new answer.
        cost_usd: Spent so far; None where no cost was told.
        tokens: Tokens of all classes so far; None where none were told.
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
    def of(cls, watch: ChainWatch) -> ChainSnapshot:
        """The chain as its watch knows it."""
        return cls(
            chain_id=watch.name,
            calls=watch.repetition.calls,
            calls_since_news=watch.repetition.calls - watch.repetition.answers.news,
            cost_usd=watch.spend.cost_usd,
            tokens=watch.spend.tokens,
            usd_last_hour=watch.spend.windows[-1].cost_usd,
            unreadable=watch.unreadable,
            spend_faults=watch.spend.faults,
            loops=tuple(LoopSnapshot.of(watch, loop) for loop in watch.ladder.loops.values()),
        )

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "chain_id": self.chain_id,
            "calls": self.calls,
            "calls_since_news": self.calls_since_news,
            "cost_usd": self.cost_usd,
            "tokens": self.tokens,
            "usd_last_hour": self.usd_last_hour,
            "unreadable": self.unreadable,
            "spend_faults": self.spend_faults,
            "loops": [loop.to_dict() for loop in self.loops],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorSnapshot:
    """A session as it stands.

    Args:
        chains: Its chains, the one that was silent longest first.
        degraded: Events that could not be read in full, or at all.
        last_fault: What was wrong with the latest of them.
        duplicates: Events that were told twice, and counted once.
        dropped_chains: Chains that made room for others.
    """

    chains: tuple[ChainSnapshot, ...]
    degraded: int
    last_fault: str | None
    duplicates: int
    dropped_chains: int

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "schema": 1,
            "chains": [chain.to_dict() for chain in self.chains],
            "degraded": self.degraded,
            "last_fault": self.last_fault,
            "duplicates": self.duplicates,
            "dropped_chains": self.dropped_chains,
        }
