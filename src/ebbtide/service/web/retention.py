"""Runs that nobody heard of for long are deleted."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Final

from ebbtide.errors import StoreError
from ebbtide.service.web.service import Service

_log = logging.getLogger(__name__)
_EVERY_S: Final = 3600.0
_DAY_S: Final = 86_400.0


async def erase_old_runs(here: Service) -> None:
    """Delete them at the start, and once an hour."""
    days = here.settings.keep_days
    while days is not None:
        try:
            await asyncio.to_thread(here.runs.database.erase_before, time.time() - days * _DAY_S)
        except StoreError as error:
            _log.error("old runs were not deleted: %s", error)
        await asyncio.sleep(_EVERY_S)
