"""Reports that the service is there, to whoever watches over it."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from ebbtide import __version__
from ebbtide.service.client import token_proof
from ebbtide.service.web.answers import HealthAnswer
from ebbtide.service.web.problems import PlainJson
from ebbtide.service.web.service import Here

router = APIRouter(tags=["the service"])


@router.get("/healthz", response_model=HealthAnswer)
async def health(
    here: Here,
    nonce: Annotated[
        str | None,
        Query(min_length=16, max_length=128, description="What the service is to prove with its token."),
    ] = None,
) -> PlainJson:
    """Say that the service is up, and what has failed; no token is wanted.

    To a nonce it shows that it knows the token: the HMAC (SHA-256) of the nonce. So who is about to
    send the token sees that nobody else listens there.
    """
    token = here.settings.token
    alerts = {f"alerts_{name}": number for name, number in here.alerts.failures.items() if number}
    return PlainJson(
        {
            "status": "ok",
            "version": __version__,
            "runs_at_hand": len(here.runs),
            "readers": len(here.news),
            "faults": {**here.runs.faults, **alerts},
            "proof": None if nonce is None or token is None else token_proof(token, nonce),
        }
    )


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(here: Here) -> PlainTextResponse:
    """Show what the service counts, in the text format of Prometheus."""
    text = await asyncio.to_thread(here.metrics.text)
    return PlainTextResponse(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)
