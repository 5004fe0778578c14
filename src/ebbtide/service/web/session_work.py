"""The sessions of this machine's coding agents are watched in a thread of their own."""

from __future__ import annotations

import asyncio
import os
import threading

from ebbtide.service.sessions.session_watch import SessionWatch, keep_watching
from ebbtide.service.web.service import Service


async def watch_sessions(here: Service) -> None:
    """Watch them until the service ends."""
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
