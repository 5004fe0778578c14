"""What events of OpenHands of both versions need: their run, and the totals that they report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.events.usage import Usage, possible_part
from ebbtide.traces.records.fields import count, dollars, items, mapping
from ebbtide.traces.records.joining import OpenCalls, Seen
from ebbtide.traces.records.provider_usage import openai_usage, total


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

    @property
    def common(self) -> dict[str, Any]:
        """The chain and the present time, for an event."""
        return {"chain_id": self._chain, "ts": self.ts}

    def timed(self, **fields: Any) -> dict[str, Any]:
        """What is known of a call when its answer is there."""
        return fields if self.ts is None else {**fields, "ts": self.ts}


def totals_of(metrics: Mapping[str, Any]) -> Usage:
    """The cost and the tokens of a run so far."""
    report = metrics.get("accumulated_token_usage")
    # Early versions report model calls one by one.
    calls = [mapping(usage) for usage in items(metrics.get("token_usages")) if mapping(usage)]
    totals = openai_usage(report) if report else total(list(map(openai_usage, calls)))
    if report:
        totals.reasoning_tokens = possible_part(
            count(mapping(report).get("reasoning_tokens")), totals.output_tokens
        )
    totals.cost_usd = dollars(metrics.get("accumulated_cost"))
    return totals
