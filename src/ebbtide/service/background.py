"""A service that is started when somebody needs one, and ends by itself."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Final

from ebbtide.service.client import ServiceClient
from ebbtide.service.hooks.state_folder import StateFolder
from ebbtide.service.service_error import ServiceError

_LOG: Final = "serve.log"
_IDLE_S: Final = 12 * 3600  # without a request, after which it ends
_START_S: Final = 60.0


def ensure_service(client: ServiceClient, port: int) -> None:
    """Start the service of this machine where none answers, and wait until it does.

    Args:
        client: Asks it, at that port.
        port: Where it is to listen.

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
        if process.poll() is not None and _ended_for_good(client):
            break
        time.sleep(0.1)
    raise ServiceError(f"the service does not start: {_last_line(log)}. Run `ebbtide serve` to see why")


def _start(port: int, folder: Path, log: Path) -> subprocess.Popen[bytes]:
    source = str(Path(__file__).parents[2])
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


def _ended_for_good(client: ServiceClient) -> bool:
    time.sleep(1.0)
    return not client.is_up()


def _last_line(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        return str(error)
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
