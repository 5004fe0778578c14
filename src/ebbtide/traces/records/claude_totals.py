"""Totals that lines of Claude Code state of a whole session: its cost, or tokens and cost by model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ebbtide.events.usage import Usage
from ebbtide.traces.records.calls_once import raise_to
from ebbtide.traces.records.fields import dollars, identifier, mapping
from ebbtide.traces.records.provider_usage import usage_named

#: The counts of a model's usage in a result.
_COUNTS: Final = ("inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")


def take_total(totals: dict[str, dict[str, Usage]], line: Mapping[str, Any]) -> None:
    """Take a line of type ``cost-state`` or ``result``: each stands for the whole session up to it.

    Args:
        totals: What was stated before, by the id of the session and by model, `""` for all of them.
        line: The line.
    """
    session = identifier(line.get("sessionId") or line.get("session_id")) or ""
    models = totals.setdefault(session, {})
    for usage in _totals_of(line):
        raise_to(models.setdefault(usage.model or "", Usage(model=usage.model)), usage)


def _totals_of(value: Mapping[str, Any]) -> list[Usage]:
    """Returns what a line states of its whole session, by model.

    The cost of the whole counts where models do not share it among themselves, and then alone: the tokens of
    a session file are those of its lines, and those of sub-agents may be in other files.
    """
    if value.get("type") == "cost-state":
        cost = dollars(value.get("totalCostUSD"))
        return [] if cost is None else [Usage(cost_usd=cost)]
    models = {name: mapping(usage) for name, usage in mapping(value.get("modelUsage")).items()}
    cost = dollars(value.get("total_cost_usd"))
    if not models:
        return [] if cost is None else [Usage(cost_usd=cost)]
    rows = []
    for name, usage in models.items():
        row = usage_named(usage, *_COUNTS)
        row.model, row.cost_usd = name, dollars(usage.get("costUSD"))
        rows.append(row)
    unpriced = [row for row in rows if row.cost_usd is None]
    if len(unpriced) == 1 and cost is not None:
        unpriced[0].cost_usd = max(0.0, cost - sum(row.cost_usd or 0.0 for row in rows))
    elif unpriced and cost is not None:
        rows.append(Usage(cost_usd=cost))
    return rows
