"""Reports that the service is there, to whoever watches over it."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from ebbtide import __version__
from ebbtide.service.web.answers import HealthAnswer
from ebbtide.service.web.problems import PlainJson
from ebbtide.service.web.service import Here

router = APIRouter(tags=["the service"])


@router.get("/healthz", response_model=HealthAnswer)
async def health(here: Here) -> PlainJson:
    """Say that the service is up, and what has failed; no token is wanted."""
    alerts = {f"alerts_{name}": number for name, number in here.alerts.failures.items() if number}
    return PlainJson(
        {
            "status": "ok",
            "version": __version__,
            "runs_at_hand": len(here.runs),
            "readers": len(here.news),
            "faults": {**here.runs.faults, **alerts},
        }
    )


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(here: Here) -> PlainTextResponse:
    """Show what the service counts, in the text format of Prometheus."""
    text = await asyncio.to_thread(here.metrics.text)
    return PlainTextResponse(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)
