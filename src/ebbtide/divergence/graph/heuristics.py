"""Heuristics of the execution graph: the same call in a row, cycles of calls, spending too fast.

Source: divergence spec, sections 2, 3, 5 and 6.1 to 6.6 (clauses D02 to D04, D07, D10, V01 to V05).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable, Mapping
from typing import Any

from ebbtide.divergence.cycles import CycleDetector
from ebbtide.divergence.graph.execution_node import NodeSignature
from ebbtide.errors import ConfigError, expect, shown

RING = 8  #: signatures that are kept; a threshold above it can never be reached
THRESHOLDS: Mapping[str, int] = {"tool": 3, "llm": 5, "system": 999}
_OTHER_KINDS = 999
_TURNS = 3  # Two are what section 7.3 calls harmless.
LEAST_S = 0.001  #: a chain younger than this has no rate


class ConsecutiveRepeats:
    """Counts how often the newest signature stands at the tail of the last eight.

    Args:
        thresholds: Repeats from which a kind is suspect, 1 or more, over the defaults `THRESHOLDS`; a kind
            that is in neither needs 999, which eight signatures cannot hold.

    >>> repeats = ConsecutiveRepeats()
    >>> [repeats.push(("tool", name)) for name in "abbbb"]
    [0, 0, 0, 3, 4]
    """

    def __init__(self, thresholds: Mapping[str, int] | None = None) -> None:
        expect("thresholds", thresholds, Mapping, optional=True)
        for kind, least in (thresholds or {}).items():
            if isinstance(least, bool) or not isinstance(least, int) or least < 1:
                raise ConfigError(
                    f"thresholds[{shown(kind)}] = {shown(least)}: expected a whole number, 1 or more"
                )
        self._thresholds = {**THRESHOLDS, **(thresholds or {})}
        self.ring: deque[NodeSignature] = deque(maxlen=RING)
        self._last: NodeSignature | None = None
        self._count = 0

    def push(self, signature: NodeSignature) -> int:
        """Add a signature; how often it stands at the tail where that reaches the threshold, else 0."""
        # A count gives what a search through the ring would, at a tenth of the time.
        if signature == self._last:
            if self._count < RING:
                self._count += 1
        else:
            self._last = signature
            self._count = 1
        self.ring.append(signature)
        return self._count if self._count >= self._thresholds.get(signature[0], _OTHER_KINDS) else 0

    @staticmethod
    def event(signature: NodeSignature, repeats: int, chain_id: str) -> dict[str, Any]:
        """The event for a signature that was pushed."""
        return {
            "event_type": "divergence_suspected",
            "severity": "warn",
            "signature": list(signature),
            "repeat_count": repeats,
            "chain_id": chain_id,
        }


class SignatureCycles:
    """Reports a cycle when its third full turn ends.

    Args:
        max_period: Longest cycle that is found.

    >>> cycles = SignatureCycles(8)
    >>> [cycles.push(("tool", name)) for name in "ababab"][-1]
    (('tool', 'a'), ('tool', 'b'))
    """

    def __init__(self, max_period: int) -> None:
        self._detector = CycleDetector(max_period=max_period, copies=_TURNS)
        self._recent: deque[NodeSignature] = deque(maxlen=max_period)
        self._period: int | None = None

    def push(self, signature: NodeSignature) -> tuple[NodeSignature, ...] | None:
        """Add a signature; the cycle whose third turn it ends, begun at its smallest rotation, or None.

        A signature that follows itself is no cycle: consecutive repeats are another heuristic's.
        """
        self._recent.append(signature)
        before, self._period = self._period, self._detector.push(signature)
        period = self._period
        if period is None or period in (1, before):
            return None
        turn = tuple(self._recent)[-period:]
        return min(turn[start:] + turn[:start] for start in range(period))

    @staticmethod
    def event(cycle: tuple[NodeSignature, ...], chain_id: str) -> dict[str, Any]:
        """The event for a cycle."""
        return {
            "event_type": "cycle_suspected",
            "severity": "warn",
            "signatures": [list(signature) for signature in cycle],
            "period": len(cycle),
            "repeat_count": _TURNS,
            "chain_id": chain_id,
        }


class ChainRates:
    """Total cost and total output tokens over the age of the chain; each alarm is given once.

    Args:
        chain_id: Goes into the events.
        cost_per_s: USD a second above which the cost alarm is due. 0 makes every cost due, inf none.
        tokens_per_s: Output tokens a second above which the token alarm is due; likewise.

    Raises:
        ConfigError: A threshold is negative or not a number.
    """

    def __init__(self, chain_id: str, cost_per_s: float, tokens_per_s: float) -> None:
        self._chain_id = chain_id
        self._cost_per_s = _threshold("cost_rate_threshold_usd_per_sec", cost_per_s)
        self._tokens_per_s = _threshold("token_velocity_threshold", tokens_per_s)
        self._cost_due = self._tokens_due = True
        self.cost_usd = 0.0
        self.tokens_out = 0

    def add(
        self, cost_usd: float | None, tokens_out: int | None, elapsed_s: float, node_id: str
    ) -> list[dict[str, Any]] | None:
        """Count what a node took, and give the events that are due now; None where there are none."""
        if cost_usd is not None:
            self.cost_usd += cost_usd
        if tokens_out is not None:
            self.tokens_out += tokens_out
        if elapsed_s < LEAST_S:
            return None
        events = []
        if self._cost_due and self.cost_usd / elapsed_s > self._cost_per_s:
            self._cost_due = False
            event = self._event("COST_RATE_EXCEEDED", node_id, self._cost_per_s)
            events.append({**event, "cost_rate": self.cost_usd / elapsed_s})
        if self._tokens_due and self.tokens_out / elapsed_s > self._tokens_per_s:
            self._tokens_due = False
            event = self._event("TOKEN_VELOCITY_EXCEEDED", node_id, self._tokens_per_s)
            events.append({**event, "token_velocity": self.tokens_out / elapsed_s})
        return events

    def _event(self, event_type: str, node_id: str, threshold: float) -> dict[str, Any]:
        return {
            "event_type": event_type,
            "severity": "warn",
            "threshold": threshold,
            "node_id": node_id,
            "chain_id": self._chain_id,
        }


def _threshold(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise ConfigError(
            f"{name} = {shown(value)}: expected a number, 0 or more; float('inf') switches it off"
        )
    return value


class Emitted:
    """Memory of what was reported already.

    Args:
        most: Things that are remembered; the oldest is forgotten for one more. None remembers all.
    """

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._recent: OrderedDict[Hashable, None] = OrderedDict()

    def first(self, thing: Hashable) -> bool:
        """True where `thing` was not reported before; from now on it was."""
        if thing in self._recent:
            return False
        self._recent[thing] = None
        if self._most is not None and len(self._recent) > self._most:
            self._recent.popitem(last=False)
        return True
