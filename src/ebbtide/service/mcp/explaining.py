"""A summary of a run, cut to what a model needs of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from ebbtide.claims.claim import ClaimCheck
from ebbtide.claims.sentences import claims_line
from ebbtide.codec import from_wire
from ebbtide.service.mcp.tool_answers import Explanation, FindingRow

_MOST: Final = 10


def explanation(summary: Mapping[str, Any], *, stop_reason: str | None = None) -> Explanation:
    """Explains the outcome of a run.

    Args:
        summary: As `RunSummary.to_dict`.
        stop_reason: What the person said who ended it; None where nobody did.
    """
    spent, bill, findings = summary["spent"], summary.get("bill"), summary["findings"]
    return Explanation(
        source=summary["source"],
        headline=summary["headline"],
        course=summary["course"],
        action=summary["verdict"]["action"],
        reason=summary["reason"],
        findings=[
            cast("FindingRow", {key: item[key] for key in FindingRow.__annotations__})
            for item in findings[:_MOST]
        ],
        more_findings=max(0, len(findings) - _MOST),
        ending=summary["ending"]["text"] or summary["ending"]["ending"],
        events=spent["events"],
        tool_calls=spent["tool_calls"],
        model_calls=spent["llm_calls"],
        cost_usd=spent["cost_usd"],
        wasted_usd=None if bill is None else bill["wasted"]["cost_usd"],
        money=None if bill is None else bill["sentence"],
        claims=claims_line([from_wire(ClaimCheck, item) for item in summary["claims"]]),
        stop_reason=stop_reason,
    )
