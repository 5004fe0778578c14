"""The same signature several times in a row.

Source: divergence spec, sections 2 and 3 (clauses D02 to D04, D07).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable, Mapping
from typing import Any

from ebbtide.divergence.graph.execution_node import NodeSignature
from ebbtide.errors import ConfigError, expect, shown

RING = 8  #: signatures that are kept; a threshold above it can never be reached
THRESHOLDS: Mapping[str, int] = {"tool": 3, "llm": 5, "system": 999}
_OTHER_KINDS = 999


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
