"""Lets a person act on a run: let it go on, end it, delete it. Each act is written down."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from ebbtide.service.runs.listing import audit
from ebbtide.service.runs.run_database import PersonAct
from ebbtide.service.runs.run_event import plain_text
from ebbtide.service.runs.run_origin import RunSource
from ebbtide.service.web.answers import AuditAnswer, VerdictAnswer
from ebbtide.service.web.problems import PlainJson, ProblemError
from ebbtide.service.web.service import Caller, Here, Name, RunId, Service, name_field
from ebbtide.supervision.verdict import Verdict

router = APIRouter(tags=["people"])


class Extension(BaseModel):
    """The further turns that a run may take."""

    turns: int = Field(ge=1, le=100_000, description="Turns of the model.", examples=[10])


class StopOrder(BaseModel):
    """The order to end a run."""

    reason: str = Field("", max_length=500, description="Why.", examples=["It answers the wrong ticket."])


@router.post("/v1/runs/{run_id}/acknowledge", response_model=VerdictAnswer)
async def acknowledge(
    here: Here,
    caller: Caller,
    run_id: RunId,
    agent: Annotated[Name | None, name_field("Of which agent; without it, of all.")] = None,
) -> PlainJson:
    """Let a run go on: you have seen what holds."""
    act = PersonAct(act="acknowledge", run_id=run_id, caller=caller, detail=agent or "")
    await here.require(run_id)
    return _answer(here, run_id, await asyncio.to_thread(here.runs.go_on, act, agent=agent))


@router.post("/v1/runs/{run_id}/extend", response_model=VerdictAnswer)
async def extend(here: Here, caller: Caller, run_id: RunId, extension: Extension) -> PlainJson:
    """Let a run go on for some more turns, whatever holds."""
    act = PersonAct(act="extend", run_id=run_id, caller=caller, detail=f"{extension.turns} turns")
    await here.require(run_id)
    return _answer(here, run_id, await asyncio.to_thread(here.runs.go_on, act, turns=extension.turns))


@router.post("/v1/runs/{run_id}/stop", response_model=VerdictAnswer)
async def stop(here: Here, caller: Caller, run_id: RunId, order: StopOrder | None = None) -> PlainJson:
    """End a run: its next check says so, until somebody acknowledges.

    A run that spans or the file of a session tell of does not ask, so nobody can end it: 409.
    """
    reason = plain_text("" if order is None else here.masked(order.reason))
    await here.require(run_id)
    origin = await asyncio.to_thread(here.runs.database.origin, run_id)
    if origin is not None and not origin.source.can_stop:
        teller = "spans tell" if origin.source is RunSource.SPANS else "the file of its session tells"
        raise ProblemError(
            409, f"{run_id!r:.80}: only {teller} of it, so it cannot be ended from here", where="run_id",
            hint="End its process, or watch it with an adapter or with hooks.",
        )  # fmt: skip
    act = PersonAct(act="stop", run_id=run_id, caller=caller, detail=reason)
    return _answer(here, run_id, await asyncio.to_thread(here.runs.stop, act))


@router.delete("/v1/runs/{run_id}", status_code=204)
async def delete(here: Here, caller: Caller, run_id: RunId) -> Response:
    """Delete a run with all its events; that you did so stays in the audit."""
    await here.require(run_id)
    async with here.turn(run_id):
        await asyncio.to_thread(here.runs.erase, PersonAct(act="delete", run_id=run_id, caller=caller))
    return Response(status_code=204)


@router.get("/v1/audit", response_model=AuditAnswer)
async def audit_entries(
    here: Here,
    run_id: Annotated[Name | None, name_field("Of this run alone.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many at most.")] = 100,
) -> PlainJson:
    """List what people did, the latest first."""
    entries = await asyncio.to_thread(audit, here.runs.database, run_id=run_id, limit=limit)
    return PlainJson({"entries": entries})


def _answer(here: Service, run_id: str, verdict: Verdict) -> PlainJson:
    return PlainJson({"run_id": run_id, "verdict": here.verdict_fields(verdict)})
