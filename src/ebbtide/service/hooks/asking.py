"""Asks the service on this machine, as the client does, and waits a little longer."""

from __future__ import annotations

import json
import time
from typing import Any

from ebbtide.service.hooks.hook_client import exchange


def ask_status(*, wait_s: float = 2.0) -> dict[str, Any] | None:
    """Returns the status of the service; None where none answers."""
    content = exchange("GET", "/status", b"", time.monotonic() + wait_s)
    try:
        value = None if content is None else json.loads(content)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
