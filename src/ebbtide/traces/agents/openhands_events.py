"""What events of OpenHands of both versions need: their run, and the totals that they tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.events.event import Call
from ebbtide.traces.records.accounts import CLASSES
from ebbtide.traces.records.fields import count, dollars, items, mapping
from ebbtide.traces.records.joining import OpenCalls, Seen
from ebbtide.traces.records.token_classes import openai_classes


class RunEvents:
    """The state of one run.

    Args:
        chain: Its chain.
    """

    def __init__(self, chain: str) -> None:
        self.calls = OpenCalls()
        self.ts: float | None = None
        self._chain = chain
        self._responses = Seen()

    def call(self, name: str, **fields: Any) -> Call:
        """An event of this run, at its present time."""
        return Call(**{"name": name, "chain_id": self._chain, "ts": self.ts, **fields})

    def known(self, **fields: Any) -> dict[str, Any]:
        """What is known of a call when its answer is there."""
        return fields if self.ts is None else {**fields, "ts": self.ts}


def totals_of(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """The cost and the tokens of a run so far; what is not told is absent."""
    usage = metrics.get("accumulated_token_usage")
    found: dict[str, Any] = {**openai_classes(usage)} if usage else _summed(metrics.get("token_usages"))
    found["cost_usd"] = dollars(metrics.get("accumulated_cost"))
    return {key: value for key, value in found.items() if value is not None}


def _summed(usages: object) -> dict[str, Any]:
    """The sum over model calls, which early versions tell of one by one."""
    known = [openai_classes(usage) for usage in items(usages) if mapping(usage)]
    return {key: sum(count(usage.get(key)) or 0 for usage in known) for key in CLASSES} if known else {}
