"""Runs that the database could not tell of while it was away are read as soon as it is back."""

from __future__ import annotations

import asyncio
from typing import Final

from ebbtide.service.web.service import Service

_EVERY_S: Final = 1.0


async def read_again(here: Service) -> None:
    """Look whether there are any, and read them."""
    while True:
        await asyncio.sleep(_EVERY_S)
        await asyncio.to_thread(here.runs.read_again)
