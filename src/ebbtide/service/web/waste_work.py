"""What the runs have wasted is found one run after the other, while the service runs."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Final

from ebbtide.errors import EbbtideError
from ebbtide.service.runs.listing import find_runs
from ebbtide.service.runs.waste import look_for_waste
from ebbtide.service.web.service import Service

_log = logging.getLogger(__name__)
_REST_S: Final = 1.0  # where all are known


async def find_waste(here: Service) -> None:
    """Find it, and tell who listens; runs that are stuck do not wait for the others."""
    await asyncio.gather(_find(here, is_stuck=True), _find(here, is_stuck=False))


async def _find(here: Service, *, is_stuck: bool) -> None:
    while True:
        run_id = None
        try:
            run_id = await asyncio.to_thread(look_for_waste, here.runs, time.time(), is_stuck=is_stuck)
            for row in await asyncio.to_thread(find_runs, here.runs.database, [run_id] if run_id else []):
                here.news.publish("run", row)
        except EbbtideError as error:
            _log.error("what a run has wasted was not found: %s", error)
        if run_id is None:
            await asyncio.sleep(_REST_S)
