"""The tools for an agent that starts them itself, over standard input and output."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import anyio

from ebbtide.service.background import ensure_service
from ebbtide.service.client import ServiceClient
from ebbtide.service.mcp.desk import Desk
from ebbtide.service.mcp.tool_server import Transport, new_server

if TYPE_CHECKING:
    from ebbtide import DecisionLog

_URL: Final = "http://127.0.0.1:8620"
_ANSWER_S: Final = 120.0


def serve_tools(
    url: str | None,
    token: str | None,
    *,
    open_log: Callable[[], DecisionLog],
    redact: bool = True,
) -> None:
    """Answer an agent until it closes standard input.

    Args:
        url: Where the service is; None takes that of this machine, and starts it where it does not run, as
            soon as a tool needs it.
        token: What it wants to know.
        open_log: Opens the log of decisions, and makes one where there is none.
        redact: Whether keys and passwords are masked in what the tools answer.
    """
    lock = threading.Lock()

    def connect() -> ServiceClient:
        client = ServiceClient(url or _URL, token=token, timeout_s=_ANSWER_S)
        if url is None:
            with lock:
                ensure_service(client, urlsplit(_URL).port or 0)
        return client

    server = new_server(Desk(connect=connect, open_log=open_log, redact=redact), Transport.STDIO)
    server.run("stdio")


def list_tools() -> list[dict[str, Any]]:
    """The tools with their schemas, as a client gets them."""

    def refuse() -> Any:
        raise AssertionError  # nothing is called

    server = new_server(Desk(connect=refuse, open_log=refuse), Transport.STDIO)
    return [tool.model_dump(by_alias=True, exclude_none=True) for tool in anyio.run(server.list_tools)]
