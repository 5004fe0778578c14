"""Spend per second of one chain.

Source: divergence spec, sections 6.1 to 6.6 (clauses V01 to V05).
"""

from __future__ import annotations

from typing import Any

from ebbtide.errors import ConfigError, shown

LEAST_S = 0.001  #: a chain younger than this has no rate


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
