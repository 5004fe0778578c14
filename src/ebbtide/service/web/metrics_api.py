"""What the service counts, as Prometheus reads it."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from ebbtide.service.web.service import Here

router = APIRouter(tags=["the service"])


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(here: Here) -> PlainTextResponse:
    """Show what the service counts, in the text format of Prometheus."""
    text = await asyncio.to_thread(here.metrics.text)
    return PlainTextResponse(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)
