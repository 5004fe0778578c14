"""Tools about runs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, cast

from pydantic import Field

from ebbtide.adapters.hooks.codecs import CODECS
from ebbtide.checking import check
from ebbtide.claims.claim import ClaimCheck
from ebbtide.claims.sentences import claims_line
from ebbtide.codec import from_wire
from ebbtide.errors import ConfigError
from ebbtide.service.client import ServiceClient
from ebbtide.service.mcp.desk import Desk
from ebbtide.service.mcp.tool_answers import (
    ActAnswer,
    BudgetRow,
    ClaimRow,
    Explanation,
    FindingRow,
    ReportAnswer,
    RunRow,
    RunRows,
    SpendingRow,
    SpendingRows,
    StuckAnswer,
    StuckRuns,
)
from ebbtide.service.service_error import ServiceError
from ebbtide.supervision import wording
from ebbtide.supervision.facts import LoopFacts
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.verdict import Verdict

_Row = TypeVar("_Row")

_CALLER: Final = "mcp"
_BUDGETS = 20  # those that an answer has
_MOST_FINDINGS: Final = 10
_GIVE_UP: Final = "Stop here. Say what is missing, and ask the person."

RunName = Annotated[
    str, Field(min_length=1, max_length=200, description="The run_id, or the session id of a coding agent.")
]
OwnRun = Annotated[
    str | None, Field(max_length=200, description="Your run_id or session id; null: the run heard of last.")
]


def stuck_now(desk: Desk) -> StuckRuns:
    """Lists the agent runs that are stuck right now, and what they cost. Ask this first."""
    with desk.connect() as service:
        answer = service.now()
    return StuckRuns(
        sentence=answer["sentence"],
        stuck=_rows(answer["stuck"]),
        silent=_rows(answer["silent"]),
        connect=answer["connect"],
    )


def list_runs(  # noqa: PLR0917 - a field of the schema each
    desk: Desk,
    standing: Annotated[
        str | None, Field(description="One action or several, such as stop,escalate; null for all.")
    ] = None,
    since: Annotated[str | None, Field(description="Heard of since: 24h, 7d, or a day.")] = "7d",
    project: str | None = None,
    agent: str | None = None,
    limit: Annotated[int, Field(ge=1, le=200)] = 20,
) -> RunRows:
    """List agent runs with verdict and cost, the worst first."""
    filters = {"standing": standing, "since": since, "project": project, "agent": agent}
    with desk.connect() as service:
        set_filters = {key: value for key, value in filters.items() if value is not None}
        rows = _rows(islice(service.runs(**set_filters, order="worst", limit=limit + 1), limit + 1))
    return RunRows(runs=rows[:limit], more=len(rows) > limit)


def explain_run(desk: Desk, run_id: RunName) -> Explanation:
    """Explains the state of a run: findings with evidence, how it ended, where its money went."""
    with desk.connect() as service:
        row = _run(service, run_id)
        return explanation(service.summary(row["run_id"]), stop_reason=row["stop_reason"])


def am_i_stuck(desk: Desk, run_id: OwnRun = None) -> StuckAnswer:
    """For you, the agent: are you going in circles? With the evidence, and what to do instead.

    Call it when a step failed twice, or when you are about to try the same thing again.
    """
    with desk.connect() as service:
        row = _own_run(service, run_id)
        verdict = service.verdict(row["run_id"])
    stuck = verdict.action is not Action.ALLOW
    return StuckAnswer(
        run_id=row["run_id"],
        is_guess=run_id is None,
        stuck=stuck,
        action=verdict.action.value,
        answer=f"Yes. {verdict.reason}" if stuck else "No. Nothing was found against this run.",
        evidence=_evidence(verdict),
        do_differently=_instead(verdict),
        events=row["events"],
        cost_usd=row["cost_usd"],
    )


def is_my_report_true(
    desk: Desk,
    text: Annotated[
        str, Field(min_length=1, max_length=20_000, description="What you are about to say, in English.")
    ],
    run_id: OwnRun = None,
) -> ReportAnswer:
    """For you, the agent: is what you are about to say true? Its claims, held against what you did.

    Call it before you report that tests pass, or that something is committed, pushed or done.
    """
    with desk.connect() as service:
        name = _own_run(service, run_id)["run_id"]
        answer = service.claims(name, text)
    return ReportAnswer(
        run_id=name,
        is_guess=run_id is None,
        answer=answer["line"] or "It claims nothing that the record of your run could show.",
        correct=answer["correct"],
        claims=[_shaped(ClaimRow, item) for item in answer["claims"]],
    )


def spending(
    desk: Desk,
    by: Literal["day", "project", "agent", "user", "model"] = "day",
    since: Annotated[str, Field(description="24h, 7d, 2w, or a day such as 2026-11-01.")] = "7d",
    timezone: Annotated[
        str | None,
        Field(description="Zone in which days begin, such as Europe/Berlin; null: the service's own."),
    ] = None,
) -> SpendingRows:
    """Lists the cost of agent runs by day, project, agent, user or model, and the rest of their budgets."""
    with desk.connect() as service:
        groups = [
            cast("SpendingRow", group) for group in service.spending(by, since=since, timezone=timezone)
        ]
        rows = service.budgets()
    costs = [group["cost_usd"] for group in groups]
    prices = [cost for cost in costs if cost is not None]
    return SpendingRows(
        by=by,
        since=since,
        cost_usd=sum(prices) if prices or not groups else None,
        groups=groups,
        budgets=[_shaped(BudgetRow, row) for row in rows[:_BUDGETS]],
    )


def check_trace_file(
    desk: Desk, path: Annotated[str, Field(description="A trace or a session file on this machine.")]
) -> Explanation:
    """Check a recorded agent run for loops, waste and how it ended. Nothing of it is kept."""
    return explanation(check(Path(path), RunOptions(redact=desk.redact)).to_dict())


def check_trace_text(
    desk: Desk, content: Annotated[str, Field(min_length=1, description="The text of a trace file.")]
) -> Explanation:
    """Check a recorded agent run for loops, waste and how it ended. Nothing of it is kept."""
    with desk.connect() as service:
        return explanation(service.check_trace(content.encode("utf-8", "replace")))


def acknowledge(desk: Desk, run_id: RunName) -> ActAnswer:
    """Let a run go on, since a person has seen what holds. Only when the person told you to."""
    with desk.connect() as service:
        name = _run(service, run_id)["run_id"]
        return _act_answer(name, service.acknowledge(name, by=_CALLER))


def extend(
    desk: Desk,
    run_id: RunName,
    turns: Annotated[int, Field(ge=1, le=1000, description="Turns of the model.")] = 10,
) -> ActAnswer:
    """Let a run go on for some more turns, whatever holds. Only when the person told you to."""
    with desk.connect() as service:
        name = _run(service, run_id)["run_id"]
        return _act_answer(name, service.extend(name, turns, by=_CALLER))


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
        findings=[_shaped(FindingRow, item) for item in findings[:_MOST_FINDINGS]],
        more_findings=max(0, len(findings) - _MOST_FINDINGS),
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


def _shaped(shape: type[_Row], fields: Mapping[str, Any]) -> _Row:
    """Returns those of some fields that a shape has."""
    return cast("_Row", {key: fields[key] for key in shape.__annotations__})


def _own_run(service: ServiceClient, name: str | None) -> dict[str, Any]:
    """The row of the caller's run; without a name, of the run that was heard of last.

    Raises:
        ConfigError: There is no such run.
    """
    if name is not None:
        return _run(service, name)
    row = next(service.runs(limit=1), None)
    if row is None:
        raise ConfigError(
            "no run was heard of yet: `ebbtide hooks install AGENT` has a coding agent report its own"
        )
    return row


def _run(service: ServiceClient, name: str) -> dict[str, Any]:
    """The row of a run, by its id or by the session of a coding agent, whose hooks name it AGENT:SESSION.

    Raises:
        ConfigError: There is no such run.
    """
    for run_id in (name, *(f"{agent}:{name}" for agent in CODECS)):
        try:
            return service.run(run_id)
        except ServiceError as error:
            if error.status != 404:
                raise
    raise ConfigError(f"{name!r:.80}: no such run. list_runs shows which there are")


def _rows(runs: Iterable[Mapping[str, Any]]) -> list[RunRow]:
    now = time.time()
    return [
        cast(
            "RunRow",
            {key: run[key] for key in RunRow.__annotations__ if key in run}
            | {
                "minutes": round((run["latest"] - run["started"]) / 60, 1),
                "silent_minutes": round(max(0.0, now - run["latest"]) / 60, 1),
            },
        )
        for run in runs
    ]


def _evidence(verdict: Verdict) -> str | None:
    facts = verdict.facts
    if isinstance(facts, LoopFacts):
        signal = facts.signal
        return f"events {signal.first_event} to {signal.last_event}: {signal.latest_call or signal.measure}"
    return None if verdict.event is None else f"event {verdict.event}"


def _instead(verdict: Verdict) -> str | None:
    if verdict.facts is None:
        return None
    if verdict.action in (Action.ESCALATE, Action.STOP):
        return _GIVE_UP
    return verdict.nudge or wording.nudge(verdict.facts)


def _act_answer(run_id: str, verdict: Verdict) -> ActAnswer:
    return ActAnswer(run_id=run_id, action=verdict.action.value, reason=verdict.reason)
