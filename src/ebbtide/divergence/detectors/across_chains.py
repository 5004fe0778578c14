"""The same call spread over several chains of one session, below every threshold in each of them.

Source: divergence spec, section 5, "Cross-chain divergence" (clause D12).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ebbtide.divergence.loop_registry import Finding
from ebbtide.divergence.signals import LoopKind, Measurement, Unit
from ebbtide.events.identity import Key, key_of
from ebbtide.profile.divergence import LoopRules

_CALLS = 32  # that are followed at once
_CHAINS = 32  # that are distinguished for one call


@dataclass(slots=True)
class Spread:
    """One call with its answer, and the chains that got no further with it."""

    first_event: int
    weights: dict[str, int]
    reported: bool = False


class Chains:
    """Counts, for a call with its answer, the chains that repeated it or failed with it.

    A chain that came twice to the same answer counts in full, one that failed once counts half: chains that
    start alike, and each read the same file once, do not count at all.
    """

    __slots__ = ("_rules", "several", "spreads")

    def __init__(self, rules: LoopRules) -> None:
        self._rules = rules
        self.spreads: dict[Key, Spread] = {}
        self.several = False  # whether the session has more than one chain or run

    def reset(self) -> None:
        """Something has changed."""
        self.spreads.clear()

    def see(
        self, symbol: Key, call: Key, chain: str, name: str, event: int, *, repeated: bool
    ) -> Finding | None:
        """A call came to its known answer again, or failed.

        Args:
            symbol: Key of the call with its answer.
            call: Key of the call.
            chain: The chain.
            name: The tool.
            event: Number of the event in its chain.
            repeated: Whether it came twice; else it failed once.
        """
        least = self._rules.chains
        if least is None:
            return None
        spread = self.spreads.pop(symbol, None)
        if spread is None:
            if len(self.spreads) >= _CALLS:
                del self.spreads[next(iter(self.spreads))]
            spread = Spread(event, {})
        self.spreads[symbol] = spread
        weights = spread.weights
        if len(weights) < _CHAINS or chain in weights:
            weights[chain] = max(weights.get(chain, 0), 2 if repeated else 1)
        count = sum(weights.values()) // 2
        if count < least or len(weights) < least:
            return None
        begins, spread.reported = not spread.reported, True
        return Finding(
            kind=LoopKind.ACROSS_CHAINS,
            key=key_of(LoopKind.ACROSS_CHAINS, symbol),
            count=count,
            at=least,
            calls=sum(weights.values()),
            first_event=spread.first_event,
            begins=begins,
            tools=(name,),
            members=frozenset({call}),
            is_proof=False,
            measure=Measurement(Unit.CHAINS, len(weights), least),
        )

    def to_state(self) -> list[Any]:
        """All that later findings depend on."""
        spreads = [
            [key.hex(), spread.first_event, spread.weights, spread.reported]
            for key, spread in self.spreads.items()
        ]
        return [self.several, spreads]

    def restore(self, state: list[Any]) -> None:
        """Take up what `to_state` gave."""
        self.several, spreads = state
        self.spreads = {
            bytes.fromhex(key): Spread(first, dict(weights), reported)
            for key, first, weights, reported in spreads
        }
