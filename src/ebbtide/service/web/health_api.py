"""Whether the service is there, for whoever watches over it."""

from __future__ import annotations

from fastapi import APIRouter

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
