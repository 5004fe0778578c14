"""Takes a run's events, and its question what to do before it calls its model."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from functools import partial
from typing import Annotated, Final

from fastapi import APIRouter, Request

from ebbtide.service.runs.run_event import RunEvent, read_lines
from ebbtide.service.runs.run_origin import RunOrigin
from ebbtide.service.web.answers import AdviceAnswer, EventsAnswer
from ebbtide.service.web.problems import PlainJson, ProblemError
from ebbtide.service.web.service import Here, Name, RunId, Service, name_field

router = APIRouter(tags=["runs that report"])

_MOST_LINES: Final = 20_000
_EXAMPLE: Final = (
    '{"seq": 1, "kind": "llm", "model": "claude-sonnet-4-5", "input_tokens": 1200, "output_tokens": 80}\n'
    '{"seq": 2, "kind": "tool", "name": "search", "args": {"q": "invoice 7"}, "result": "none"}\n'
)
_BODY: Final = {
    "requestBody": {
        "required": True,
        "description": "An event a line, as JSON.",
        "content": {"application/x-ndjson": {"schema": {"type": "string"}, "example": _EXAMPLE}},
    }
}

Project = Annotated[Name | None, name_field("The project of the run.")]
AgentName = Annotated[Name | None, name_field("The agent that works.")]
UserName = Annotated[Name | None, name_field("The user for whom it works.")]


@router.post("/v1/runs/{run_id}/events", response_model=EventsAnswer, openapi_extra=_BODY)
async def add_events(  # noqa: PLR0917 - a parameter of the query each
    request: Request,
    here: Here,
    run_id: RunId,
    project: Project = None,
    agent: AgentName = None,
    user: UserName = None,
) -> PlainJson:
    """Add events to a run, and hear what is to be done.

    When this answers, the events are on disk. An event with a `seq` counts once for each `chain_id`, however
    often it is sent: after an error, send the same body again.
    """
    body = await request.body()
    if body.count(b"\n") > _MOST_LINES:
        raise ProblemError(413, f"More than {_MOST_LINES:,} lines.", hint="Send them in parts.")
    events, start = [], time.perf_counter()
    for item in read_lines(body, here.runs.prices, time.time()):
        events.append(item)
        start = await here.checks.pause(start)
    if not events:
        raise ProblemError(400, "There are no events in the body.", hint="Send one event per line, as JSON.")
    async with here.turn(run_id):
        await here.fetch(run_id)
        origin = RunOrigin(project=project, agent=agent, user=user)
        keep = partial(here.runs.append, run_id, events, origin)
        # Who pays for the run may have to be read first.
        future = keep() if here.runs.budgets is None else await asyncio.to_thread(keep)
        places = await asyncio.wrap_future(future)
        await _take(here, run_id, events, places)
        verdict = here.runs.note(run_id)
    repeated = places.count(0)
    return PlainJson(
        {
            "run_id": run_id,
            "events": len(events) - repeated,
            "repeated": repeated,
            "verdict": here.verdict_fields(verdict),
        }
    )


@router.post("/v1/runs/{run_id}/check", response_model=AdviceAnswer)
async def check(
    here: Here,
    run_id: RunId,
    agent: Annotated[Name | None, name_field("Whose model is called, where several work at once.")] = None,
    project: Project = None,
    user: UserName = None,
) -> PlainJson:
    """Ask what to do before the next call of the model.

    A note is handed over once. Where `ask` or `end` says something, do not make the call.

    Where there are budgets, money is set aside for the call: name project and user at the first check.
    """
    start = time.perf_counter()
    with here.checks.one_more():
        await here.fetch(run_id)
        origin = RunOrigin(project=project, user=user)
        ask = partial(here.runs.before_model, run_id, agent=agent, origin=origin)
        advice = ask() if here.runs.budgets is None else await asyncio.to_thread(ask)
        if advice.note is not None:
            await here.runs.handed_over()
    here.metrics.check_seconds.observe(time.perf_counter() - start)
    return PlainJson(
        {
            "run_id": run_id,
            "action": advice.verdict.action.value,
            "note": here.masked(advice.note),
            "without_tools": advice.without_tools,
            "ask": here.masked(advice.ask),
            "end": here.masked(advice.end),
            "verdict": here.verdict_fields(advice.verdict),
        }
    )


async def _take(here: Service, run_id: str, events: list[RunEvent], places: list[int]) -> None:
    """Watch the new ones, a slice at a time in turn with other requests: a check waits for one slice."""
    if here.runs.budgets is not None:  # their store may take long
        await asyncio.to_thread(_take_all, here, run_id, events, places)
        return
    new = deque((item.event, place) for item, place in zip(events, places, strict=True) if place)
    while new:
        async with here.watching:
            start = since = time.perf_counter()
            while new and since == start:
                here.runs.take(run_id, *new.popleft())
                since = await here.checks.pause(start)


def _take_all(here: Service, run_id: str, events: list[RunEvent], places: list[int]) -> None:
    for item, place in zip(events, places, strict=True):
        if place:
            here.runs.take(run_id, item.event, place)
