"""The process of the service: the API on its port, and the hooks of this machine beside it."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from types import FrameType
from typing import TYPE_CHECKING, Final, cast

import uvicorn

from ebbtide.budget.shared.budgets import Budgets
from ebbtide.errors import ConfigError
from ebbtide.service.alerts.alert_sender import AlertSender
from ebbtide.service.client import ServiceClient
from ebbtide.service.hooks.daemon import LocalService, signals_handled
from ebbtide.service.hooks.hook_client import exchange
from ebbtide.service.hooks.hook_service import HookService
from ebbtide.service.hooks.hook_store import HookStore
from ebbtide.service.hooks.state_folder import StateFolder, ask_status
from ebbtide.service.mcp.desk import Desk
from ebbtide.service.otlp.span_receiver import SpanReceiver
from ebbtide.service.otlp.span_worker import SpanWorker
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.service.web.app import new_app
from ebbtide.service.web.broadcast import Broadcast
from ebbtide.service.web.connection import ConnectionPlaces, TimedConnection
from ebbtide.service.web.mcp_door import McpDoor
from ebbtide.service.web.metrics import Metrics
from ebbtide.service.web.service import SLICE_S, Service
from ebbtide.service.web.service_settings import ServiceSettings

if TYPE_CHECKING:
    from ebbtide import DecisionLog


_FILE: Final = "service.db"
_TAKE_OVER_S: Final = 5.0  # that the service of the hooks may take to end
_GRACE_S: Final = 3  # that open requests have at the end
_BACKLOG: Final = 2048
#: Seconds that a thread goes on while another waits. After each slice the loop lets go of the interpreter for
#: a moment, and the wait of the others begins anew. With a wait as long as a slice they never get it.
_SWITCH_S: Final = SLICE_S * 0.4
# New objects after which the collector looks for cycles, a millisecond; how often before it looks further.
_YOUNGEST, _YOUNG, _OLD = 3_000, 130, 100
_REACHED: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - where a host that means all is reached
_TOOL_S: Final = 120.0  # that a tool waits for an answer
_SPARE: Final = 1000  # connections beside the readers of the stream


class _Server(uvicorn.Server):
    """A server that lets the readers of the stream go when it is to end.

    Args:
        idle_s: Seconds without a request after which it ends; None goes on.
    """

    def __init__(self, config: uvicorn.Config, news: Broadcast, idle_s: float | None) -> None:
        super().__init__(config)
        self._news = news
        self._idle_s = idle_s
        self._requests = 0
        self._since = time.monotonic()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGTERM and Ctrl-C end it; the base would send them to us again before anything was written."""
        with signals_handled(self.handle_exit):
            yield

    async def on_tick(self, counter: int) -> bool:
        """Returns True if the server is to end; called ten times a second."""
        if self._idle_s is not None:
            if self.server_state.total_requests != self._requests:
                self._requests, self._since = self.server_state.total_requests, time.monotonic()
            if time.monotonic() - self._since >= self._idle_s:
                self._news.close()
                self.should_exit = True
        return await super().on_tick(counter)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End soon."""
        self._news.close()
        super().handle_exit(sig, frame)


def serve_web(
    settings: ServiceSettings,
    db: str | None,
    *,
    announce: Callable[[str], object],
    open_log: Callable[[], DecisionLog],
    budgets: str | None = None,
) -> None:
    """Serve until Ctrl-C or SIGTERM.

    Args:
        db: The file of the runs, or the URL of their database; None takes a file of the user.
        announce: Called with the address when requests are taken.
        open_log: Opens the log of decisions, and makes one where there is none.
        budgets: A TOML file with a table ``[budgets]``; None sets no bounds.

    Raises:
        ConfigError: The address cannot be had, the budgets cannot be used, or the URL is of no database that
            it knows.
        StoreError: The database cannot be written, or another service has it.
    """
    folder = StateFolder()
    common_budgets = None if budgets is None else Budgets.load(budgets)
    with ExitStack() as stack:
        before = os.umask(0o077)
        stack.callback(os.umask, before)
        database = RunDatabase(folder.path / _FILE if db is None else db)
        stack.callback(database.close)
        listener = stack.enter_context(_listening(settings.host, settings.port))
        if settings.grpc_port is not None:
            _refuse_grpc(settings.host, settings.grpc_port)
        sessions = HookStore(database, folder.sessions)
        runs = LiveRuns(
            database,
            store=sessions,
            budgets=common_budgets,
            project_of=sessions.folder,
            redact=settings.redact,
        )
        stack.callback(runs.close)
        runs.resume()
        hooks = HookService(sessions, runs=runs)
        stack.enter_context(_hooks_served(folder, hooks))
        news = Broadcast(readers=settings.readers)
        port = listener.getsockname()[1]
        # The tools ask the API as everybody does.
        own_url = _url(_REACHED.get(settings.host, settings.host), port)
        desk = Desk(
            connect=lambda: ServiceClient(own_url, token=settings.token, timeout_s=_TOOL_S),
            open_log=open_log,
            redact=settings.redact,
        )
        alerts = AlertSender(
            runs,
            settings.alerts,
            page=own_url,
            silent_after_s=settings.silent_after_s,
            redact=settings.redact,
        )
        spans = SpanWorker(SpanReceiver(runs, wait_s=settings.span_wait_s))
        config = uvicorn.Config(
            new_app(
                Service(
                    runs=runs,
                    news=news,
                    spans=spans,
                    settings=settings,
                    mcp=McpDoor(desk),
                    alerts=alerts,
                    metrics=Metrics(runs, news, alerts, silent_after_s=settings.silent_after_s),
                )
            ),
            http=cast(
                "type[asyncio.Protocol]",
                partial(
                    TimedConnection,
                    head_s=settings.body_s,
                    places=ConnectionPlaces(settings.readers + _SPARE - 1),
                ),
            ),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="on",
            limit_concurrency=settings.readers + _SPARE,
            timeout_graceful_shutdown=_GRACE_S,
        )
        _prefer_requests()
        announce(_url(settings.host, port))
        _Server(config, news, settings.idle_s).run(sockets=[listener])


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _prefer_requests() -> None:
    """Have the threads that save let requests pass, and the collector leave alone what stays."""
    sys.setswitchinterval(_SWITCH_S)
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNGEST, _YOUNG, _OLD)


@contextmanager
def _listening(host: str, port: int, option: str = "--port") -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise ConfigError(
            f"--host {host} {option} {port}: {error.strerror or error}. Choose another {option}"
        ) from error
    with listener:
        yield listener


def _refuse_grpc(host: str, port: int) -> None:
    """Says why exports over gRPC could not be taken, before anything else begins.

    Raises:
        ConfigError: The package is not installed, or the port cannot be had.
    """
    if find_spec("grpc") is None:
        raise ConfigError("--otlp-grpc needs the package grpcio. Install it: pip install 'ebbtide[grpc]'")
    with _listening(host, port, "--otlp-grpc"):
        pass


@contextmanager
def _hooks_served(folder: StateFolder, hooks: HookService) -> Iterator[None]:
    """The hooks of this machine are answered here meanwhile, unless another service of this kind does so."""
    if not _take_over(folder):
        yield
        return
    try:
        local = LocalService(folder, hooks, idle_s=None)
        thread = threading.Thread(target=local.run, name="ebbtide-hooks", daemon=True)
        thread.start()
        try:
            yield
        finally:
            local.end()
            thread.join()
    finally:
        folder.unlock()


def _take_over(folder: StateFolder) -> bool:
    """Takes over the hooks if it can: the service that they have started by themselves makes room."""
    if folder.lock():
        return True
    status = ask_status()
    if status is None or not status.get("ends_alone"):
        return False
    exchange("POST", "/end", b"", time.monotonic() + _TAKE_OVER_S)
    deadline = time.monotonic() + _TAKE_OVER_S
    while time.monotonic() < deadline:
        if folder.lock():
            return True
        time.sleep(0.05)
    return False
