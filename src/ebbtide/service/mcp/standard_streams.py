"""The tools over standard input and output, for an agent that starts them, and with them the service."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import anyio

from ebbtide.service.client import ServiceClient
from ebbtide.service.hooks.state_folder import StateFolder
from ebbtide.service.mcp.desk import Desk
from ebbtide.service.mcp.tool_server import Transport, new_server
from ebbtide.service.service_error import ServiceError

if TYPE_CHECKING:
    from ebbtide import DecisionLog

_URL: Final = "http://127.0.0.1:8620"
_ANSWER_S: Final = 120.0
_LOG: Final = "serve.log"
_IDLE_S: Final = 12 * 3600  # without a request, after which a service that was started here ends
_START_S: Final = 60.0


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


def ensure_service(client: ServiceClient, port: int) -> None:
    """Start the service of this machine where none answers, and wait until it does.

    Raises:
        ServiceError: It does not start; the message says where its words are.
    """
    if client.is_up():
        return
    folder = StateFolder().path
    log = folder / _LOG
    process = _start(port, folder, log)
    threading.Thread(target=process.wait, daemon=True).start()  # so that no zombie stays
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if client.is_up():
            return
        # Where two start at once, the second ends: the first has the file.
        if process.poll() is not None:
            time.sleep(1.0)
            if not client.is_up():
                break
        time.sleep(0.1)
    raise ServiceError(f"the service does not start: {_last_line(log)}. Run `ebbtide serve` to see why")


def _start(port: int, folder: Path, log: Path) -> subprocess.Popen[bytes]:
    source = str(Path(__file__).parents[3])
    paths = [source, os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else [source]
    with log.open("wb") as output:
        return subprocess.Popen(  # noqa: S603 - our own command
            # -P: nothing is imported from the folder that the agent works in.
            [sys.executable, "-P", "-m", "ebbtide", "serve", "--port", str(port), "--idle", str(_IDLE_S)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # Ctrl-C of the agent is none of its business
        )


def _last_line(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        return str(error)
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
