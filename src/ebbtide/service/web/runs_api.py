"""Answers questions about the runs, and about a recorded run that a request brings."""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from ebbtide.checking import check
from ebbtide.claims.sentences import claims_line, correction
from ebbtide.clock import time_zone
from ebbtide.errors import StoreError
from ebbtide.service.runs.listing import (
    RunFilter,
    RunOrder,
    SpendingBy,
    find_run,
    list_runs,
    spending,
)
from ebbtide.service.runs.moments import moment
from ebbtide.service.runs.run_report import report, report_claims, summary
from ebbtide.service.runs.waste import keep_waste
from ebbtide.service.web.answers import (
    BudgetsAnswer,
    ClaimsAnswer,
    NowAnswer,
    RunFields,
    RunList,
    SpendingAnswer,
    VerdictAnswer,
)
from ebbtide.service.web.problems import PlainJson, ProblemError
from ebbtide.service.web.service import Heavy, Here, Look, Name, RunId, Service, name_field
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.run_options import RunOptions

router = APIRouter(tags=["what is known"])
recorded_router = APIRouter(tags=["recorded runs"])

_REPORT_POLICY: Final = (
    "frame-ancestors 'self'"  # the page itself names its script and styles by their hashes
)

Since = Annotated[
    str | None,
    Query(max_length=40, description="24h, 7d, 2w, a day, or seconds since 1970.", examples=["7d"]),
]


class ReportWords(BaseModel):
    """The words with which a run is about to end."""

    text: str = Field(min_length=1, description="In English.", examples=["All 212 tests pass. Pushed."])


@router.get("/v1/runs", response_model=RunList)
async def runs(  # noqa: PLR0917 - a parameter of the query each
    here: Here,
    look: Look,
    standing: Annotated[
        str | None, Query(max_length=60, description="One action, or several.", examples=["stop,escalate"])
    ] = None,
    since: Since = None,
    project: Annotated[Name | None, name_field("Of this project alone.")] = None,
    agent: Annotated[Name | None, name_field("Of this agent alone.")] = None,
    text: Annotated[
        str | None, Query(max_length=200, description="With these letters in id, project, agent or reason.")
    ] = None,
    order: Annotated[RunOrder, Query(description="What comes first.")] = RunOrder.LATEST,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many at most.")] = 100,
    cursor: Annotated[
        str | None, Query(max_length=200, description="`next_cursor` of the page before.")
    ] = None,
) -> PlainJson:
    """List runs."""
    wanted_runs = RunFilter(
        standing=_actions(standing),
        since=None if since is None else moment(since, time.time()),
        project=project,
        agent=agent,
        text=text or None,
        order=order,
        limit=limit,
        cursor=cursor,
    )
    await here.flushed()
    rows, next_cursor = await look(partial(list_runs, here.runs.database, wanted_runs))
    return PlainJson({"runs": rows, "next_cursor": next_cursor})


@router.get("/v1/runs/{run_id}", response_model=RunFields)
async def run(here: Here, look: Look, run_id: RunId) -> PlainJson:
    """Show one run."""
    await here.flushed()
    row = await look(partial(find_run, here.runs.database, run_id))
    if row is None:
        await here.require(run_id)
    return PlainJson(row)


@router.get("/v1/runs/{run_id}/verdict", response_model=VerdictAnswer)
async def run_verdict(here: Here, run_id: RunId) -> PlainJson:
    """Say what holds of a run; unlike a check it hands over no note."""
    await here.require(run_id)
    await here.fetch(run_id)
    return PlainJson({"run_id": run_id, "verdict": here.verdict_fields(here.runs.verdict(run_id))})


@router.get("/v1/runs/{run_id}/summary")
async def run_summary(here: Here, heavy: Heavy, run_id: RunId) -> PlainJson:
    """Sum up a run so far, as `ebbtide check --json` does."""
    await here.require(run_id)
    settings = here.settings
    make = partial(summary, redact=settings.redact, silent_after_s=settings.silent_after_s)
    result = await heavy(partial(make, here.runs, run_id))
    return PlainJson(result.to_dict())


@router.get("/v1/runs/{run_id}/report.html", response_class=HTMLResponse)
async def run_report(here: Here, heavy: Heavy, run_id: RunId) -> HTMLResponse:
    """Show the report of a run, as `ebbtide check --html` writes it."""
    await here.require(run_id)
    page = await heavy(partial(_report, here, run_id))
    await here.flushed()
    await here.publish_runs([run_id])  # what it has wasted is known now
    return HTMLResponse(page, headers={"Content-Security-Policy": _REPORT_POLICY})


@router.post("/v1/runs/{run_id}/claims", response_model=ClaimsAnswer, tags=["runs that report"])
async def claims(here: Here, run_id: RunId, words: ReportWords) -> PlainJson:
    """Ask whether a report is true before it is said: its claims, held against the run so far.

    It may be asked as often as you like: nothing is kept of it.
    """
    await here.require(run_id)
    await here.flushed()
    checks = await asyncio.to_thread(report_claims, here.runs, run_id, words.text)
    return PlainJson(
        {
            "run_id": run_id,
            "line": claims_line(checks),
            "correct": correction(checks),
            "claims": [check.to_dict() for check in checks],
        }
    )


@router.post("/v1/runs/{run_id}/end", response_model=RunFields, tags=["runs that report"])
async def end(here: Here, look: Look, run_id: RunId) -> PlainJson:
    """Say that a run is over, and hear what it came to. An event that comes later begins it again."""
    await here.require(run_id)
    await asyncio.to_thread(here.runs.end, run_id)
    return await run(here, look, run_id)


@router.get("/v1/now", response_model=NowAnswer)
async def now(here: Here, look: Look) -> PlainJson:
    """Say what is stuck now, in a sentence and run by run."""
    await here.flushed()
    return PlainJson(await look(here.now))


@router.get("/v1/spending", response_model=SpendingAnswer)
async def spent(
    here: Here,
    look: Look,
    by: Annotated[SpendingBy, Query(description="How it is grouped.")] = SpendingBy.DAY,
    since: Since = None,
    timezone: Annotated[
        str | None,
        Query(max_length=60, description="Zone in which days begin; the service's own without it."),
    ] = None,
) -> PlainJson:
    """Say what was spent, and on what."""
    zone = None if timezone is None else time_zone(timezone)
    first = None if since is None else moment(since, time.time(), zone)
    groups = await look(partial(spending, here.runs.database, by, first, zone))
    return PlainJson({"by": by.value, "groups": groups})


def _report(here: Service, run_id: str) -> str:
    """The report of a run, beside which is kept what the run has wasted: somebody looks at it now."""
    settings, row = here.settings, find_run(here.runs.database, run_id)
    outcome = summary(here.runs, run_id, redact=settings.redact, silent_after_s=settings.silent_after_s)
    if row is not None:
        with suppress(StoreError):  # it is looked for again
            keep_waste(here.runs, run_id, row["events"], outcome)
    return report(here.runs, outcome, row, redact=settings.redact, silent_after_s=settings.silent_after_s)


def _actions(words: str | None) -> tuple[Action, ...]:
    try:
        return () if words is None else tuple(map(Action, words.split(",")))
    except ValueError:
        names = ", ".join(Action)
        raise ProblemError(400, f"{words!r:.60}: expected some of {names}", where="standing") from None


@router.get("/v1/budgets", response_model=BudgetsAnswer)
async def budgets(here: Here, look: Look) -> PlainJson:
    """List the budgets: limit, spent, set aside, left, and what it comes to if it goes on so."""
    budgets = here.runs.budgets
    standings = [] if budgets is None else await look(budgets.standings)
    return PlainJson({"budgets": here.masked([standing.to_dict() for standing in standings])})


_TRACE_BODY: Final = {
    "requestBody": {
        "required": True,
        "description": "A trace in any format that `ebbtide formats` lists, compressed or not.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@recorded_router.post("/v1/check", openapi_extra=_TRACE_BODY)
async def check_trace(request: Request, here: Here, heavy: Heavy) -> PlainJson:
    """Check a recorded run, as `ebbtide check --json` does; nothing of it is kept."""
    body = await request.body()
    if not body:
        raise ProblemError(400, "The body is empty.", hint="Send the trace as the body.")
    options = RunOptions(redact=here.settings.redact)
    return PlainJson(await heavy(partial(_recorded_summary, body, options)))


def _recorded_summary(body: bytes, options: RunOptions) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="ebbtide-") as folder:
        path = Path(folder, "trace")
        path.write_bytes(body)
        summary = check(path, options).to_dict()
    return {**summary, "source": "request"}
