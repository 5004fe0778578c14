"""Runs that nobody heard of for long are deleted, which the audit tells."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Final

from ebbtide.errors import StoreError
from ebbtide.service.runs.run_database import PersonAct
from ebbtide.service.web.service import Service

_log = logging.getLogger(__name__)
_EVERY_S: Final = 3600.0
_DAY_S: Final = 86_400.0
_JUMP_S: Final = 3600.0  # by which a clock that is set runs ahead of one that counts


async def erase_old_runs(here: Service) -> None:
    """Delete them at the start, and once an hour; not while the clock has just jumped."""
    days = here.settings.keep_days
    offset = _offset()
    while days is not None:
        before, offset = offset, _offset()
        if abs(offset - before) < _JUMP_S:
            try:
                await _erase(here, time.time() - days * _DAY_S, f"silent for {days:g} days")
            except StoreError as error:
                _log.error("old runs were not deleted: %s", error)
        else:
            _log.warning("the clock was set by %.0f s: old runs are deleted in an hour", offset - before)
        await asyncio.sleep(_EVERY_S)


async def _erase(here: Service, since: float, detail: str) -> None:
    database = here.runs.database
    for run_id in await asyncio.to_thread(database.silent_since, since):
        async with here.turn(run_id):
            if await asyncio.to_thread(database.silent_since, since, run_id):
                act = PersonAct(act="expire", run_id=run_id, caller="service", detail=detail)
                await asyncio.to_thread(here.runs.erase, act)


def _offset() -> float:
    return time.time() - time.monotonic()
