"""Work that the service does beside requests: looks for waste, follows sessions, deletes old runs."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from functools import partial
from typing import Final

from ebbtide.errors import EbbtideError, StoreError
from ebbtide.service.runs.run_database import PersonAct
from ebbtide.service.runs.waste import look_for_waste
from ebbtide.service.sessions.session_watch import SessionWatch, keep_watching
from ebbtide.service.sessions.shipped_sessions import ShippedSessions
from ebbtide.service.web.service import Service

_log = logging.getLogger(__name__)
_EVERY_S: Final = 3600.0
_DAY_S: Final = 86_400.0
_JUMP_S: Final = 3600.0  # by which a clock that is set runs ahead of one that counts


async def erase_old_runs(here: Service) -> None:
    """Delete runs that nobody heard of for long, at the start and once an hour; not after a clock's jump."""
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


async def watch_sessions(here: Service) -> None:
    """Watch the sessions of this machine until the service ends."""
    if not here.settings.sessions:
        return
    end = threading.Event()
    watch = SessionWatch(here.runs, os.environ)
    thread = threading.Thread(
        target=keep_watching, args=(watch, end.wait), name="ebbtide-sessions", daemon=True
    )
    thread.start()
    try:
        await asyncio.Event().wait()
    finally:
        end.set()
        await asyncio.to_thread(thread.join)


_UNREAD_EVERY_S: Final = 1.0


async def read_again(here: Service) -> None:
    """Look whether there are runs whose past could not be read, and read them."""
    while True:
        await asyncio.sleep(_UNREAD_EVERY_S)
        await asyncio.to_thread(here.runs.read_again)


_REST_S: Final = 1.0  # where all are known


async def find_waste(here: Service) -> None:
    """Find what runs have wasted, and tell who listens; stuck ones do not wait for the others."""
    await asyncio.gather(_find(here, is_stuck=True), _find(here, is_stuck=False))


async def _find(here: Service, *, is_stuck: bool) -> None:
    while True:
        run_id = None
        try:
            look = partial(look_for_waste, is_stuck=is_stuck, silent_after_s=here.settings.silent_after_s)
            run_id = await asyncio.to_thread(look, here.runs, time.time())
            await here.publish_runs([run_id] if run_id else [])
        except EbbtideError as error:
            _log.error("what a run has wasted was not found: %s", error)
        if run_id is None:
            await asyncio.sleep(_REST_S)


_SHIPPED_FIRST_S: Final = 2.0  # then twice as long each time, while the sessions are read for the first time
_SHIPPED_EVERY_S: Final = 30.0


async def find_shipped(here: Service) -> None:
    """Find what sessions of this machine shipped, and tell who listens."""
    if not here.settings.sessions:
        return
    sessions = ShippedSessions(here.runs.database, redact=here.settings.redact)
    rest_s = _SHIPPED_FIRST_S
    while True:
        try:
            await here.publish_runs(await asyncio.to_thread(sessions.look, time.time()))
        except (EbbtideError, OSError) as error:
            _log.error("what sessions shipped was not found: %s", error)
        await asyncio.sleep(rest_s)
        rest_s = min(2 * rest_s, _SHIPPED_EVERY_S)
