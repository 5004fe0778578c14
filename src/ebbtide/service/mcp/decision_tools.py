"""Tools about decisions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field

from ebbtide import Decision, DecisionAnswer, Deliberation
from ebbtide.service.mcp.desk import Desk
from ebbtide.service.mcp.tool_answers import DecisionRow, DecisionRows, GateAnswer


def record_decision(  # noqa: PLR0917 - a field of the schema each
    desk: Desk,
    text: Annotated[str, Field(min_length=1, max_length=4000, description="What is decided.")],
    reasons: Annotated[list[str] | None, Field(description="Why, one reason each.")] = None,
    options: Annotated[list[str] | None, Field(description="What else was possible.")] = None,
    agent: Annotated[str | None, Field(max_length=200, description="Who decides: your name.")] = None,
    session: Annotated[str | None, Field(max_length=200, description="Your session id.")] = None,
) -> GateAnswer:
    """Put a decision into the team's log. A quality gate answers whether it was kept, and why not."""
    with desk.open_log() as log:
        answer = Deliberation(log).record_decision(
            text,
            agent_id=agent or log.agent or "agent",
            session=session,
            reasons=tuple(reasons or ()),
            options=tuple(options or ()),
        )
    duplicate = answer.duplicate
    return GateAnswer(
        verdict=answer.verdict.value,
        id=answer.id,
        reason=answer.reason,
        same_as=duplicate.of if duplicate is not None and duplicate.is_duplicate else None,
        reverses=list(answer.reversals),
        next_step=_next_step(answer),
    )


def find_decisions(
    desk: Desk,
    words: Annotated[str | None, Field(description="What it is about; null: the latest ones.")] = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 10,
) -> DecisionRows:
    """Finds decisions that were taken before, and why. Look here before you decide something anew."""
    with desk.open_log() as log:
        if words is None or not words.strip():
            decisions = list(log.list(limit=limit).decisions)
        else:
            decisions = [hit.decision for hit in log.search(words, limit=limit)]
    return DecisionRows(decisions=[_row(decision) for decision in decisions])


def _row(decision: Decision) -> DecisionRow:
    at = decision.settled_at
    return DecisionRow(
        id=decision.id,
        text=decision.candidate.description,
        status=decision.status.value,
        reasons=[reason.text for reason in decision.candidate.reasons],
        agent=decision.scope.agent,
        day=None if at is None else datetime.fromtimestamp(at, UTC).date().isoformat(),
    )


def _next_step(answer: DecisionAnswer) -> str | None:
    match answer.verdict.value:
        case "duplicate":
            return "It was decided before: go by that one. To take it back, record what replaces it and why."
        case "quarantined":
            return "Say what is decided and why in one plain sentence, and record that; or leave it."
        case "kept" if answer.reversals:
            return "It may take back an earlier decision: tell the person so."
    return None
