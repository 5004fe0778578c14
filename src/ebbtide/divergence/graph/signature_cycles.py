"""Cycles of several signatures: A, B, A, B, A, B.

Source: divergence spec, section 5 (clause D10).
"""

from __future__ import annotations

from collections import deque
from typing import Any

from ebbtide.divergence.cycles import CycleDetector
from ebbtide.divergence.graph.execution_node import NodeSignature

_TURNS = 3  # Two are what section 7.3 calls harmless.


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
