"""The service of one user on this machine: one process, on 127.0.0.1 and on a Unix socket."""

from __future__ import annotations

import json
import math
import os
import secrets
import signal
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import FrameType
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from ebbtide.database.place import DECISIONS, user_data_file
from ebbtide.service.hooks.hook_service import HookService, Ticket
from ebbtide.service.hooks.hook_store import HookStore
from ebbtide.service.hooks.state_folder import Address, StateFolder, read_address
from ebbtide.supervision.runs.run_store import SQLiteRunStore

_LARGEST: Final = 16 << 20  # bytes of a request
_HOSTS: Final = frozenset({"127.0.0.1", "localhost"})
_POLL_S: Final = 0.5
_SPOOL_S: Final = 600.0  # an older event says nothing about a run that goes on
_IDLE_CONNECTION_S: Final = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceEnd:
    """Why `serve_local` has come back.

    Args:
        other: The service that was there already; None where this one has ended.
    """

    other: Address | None = None
    seconds: float = 0.0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "ebbtide"
    sys_version = ""
    timeout = _IDLE_CONNECTION_S
    disable_nagle_algorithm = False  # it stands in the way of a Unix socket; answers are one piece
    wbufsize = -1
    server: _Server  # type: ignore[assignment]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base
        """Nothing is logged of what agents do."""

    def do_GET(self) -> None:
        """`GET /status`."""
        if not self._is_allowed():
            self._answer(403, b"{}")
        elif urlsplit(self.path).path == "/status":
            self._answer(200, json.dumps(self.server.local.status()).encode())
        else:
            self._answer(404, b"{}")

    def do_POST(self) -> None:
        """`POST /hooks/AGENT`, `POST /delivered/TICKET`, `POST /statusline` and `POST /end`."""
        local = self.server.local
        local.heard_of = time.monotonic()
        body = self._body()
        if not self._is_allowed():
            self._answer(403, b"{}")
            return
        url = urlsplit(self.path)
        agent = url.path.removeprefix("/hooks/")
        if body is None:
            local.hooks.note_fault(agent, ValueError("a request without a length, or too large"))
            self._answer(200, b"{}")
        elif url.path == "/statusline":
            self._answer(200, local.hooks.status_line(body).encode())
        elif url.path.startswith("/delivered/"):
            with suppress(ValueError):
                local.hooks.confirm(Ticket.read(url.path.removeprefix("/delivered/")), has_arrived=True)
            self._answer(200, b"{}")
        elif url.path == "/end":
            self._answer(200, b"{}")
            local.end()
        else:
            flags = parse_qs(url.query)
            answer = local.hooks.take(
                agent, body, shadow="shadow" in flags, stops="stop" in flags, log=_log_of(flags)
            )
            if answer is None:
                self._answer(404, b"{}")
            elif not self._answer(200, json.dumps(answer.content).encode(), answer.ticket) and answer.ticket:
                local.hooks.confirm(answer.ticket, has_arrived=False)

    def _body(self) -> bytes | None:
        """Returns the body of the request; None where it is too large, and then the connection is closed."""
        try:
            length = int(self.headers.get("content-length", ""))
        except ValueError:
            length = -1
        if not 0 <= length <= _LARGEST:
            self.close_connection = True
            return None
        return self.rfile.read(length)

    def _is_allowed(self) -> bool:
        """True if no page of a browser asks, and the caller is the user: by the token, or by the socket."""
        if self.headers.get("origin") is not None:
            return False
        if self.server.is_private:
            return True
        host, token = self.headers.get("host", ""), self.headers.get("x-ebbtide-token", "")
        return host.partition(":")[0] in _HOSTS and secrets.compare_digest(
            token.encode(), self.server.local.token.encode()
        )

    def _answer(self, code: int, body: bytes, ticket: Ticket | None = None) -> bool:
        """Sends an answer; True if it was taken."""
        try:
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            if ticket is not None:
                self.send_header("X-Ebbtide-Ticket", str(ticket))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()
        except OSError:
            self.close_connection = True
            return False
        return True


def _log_of(flags: Mapping[str, list[str]]) -> str | None:
    """Returns the log that decisions are kept in; None where they are not."""
    if "decisions" not in flags:
        return None
    named = flags.get("log")
    return named[0] if named else str(user_data_file(DECISIONS))


class _Server:
    """Parts that both servers have."""

    local: LocalService
    is_private = False
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is none of our business."""


class _PortServer(_Server, ThreadingHTTPServer):
    pass


if hasattr(socketserver, "ThreadingUnixStreamServer"):

    class _SocketServer(_Server, socketserver.ThreadingUnixStreamServer):
        request_queue_size = 64
        is_private = True


class LocalService:
    """The running service.

    Args:
        folder: Its state, which is locked for it.
        idle_s: Seconds without an event after which it ends; None waits for `end`.

    Attributes:
        token: What a caller over the port has to know.
        heard_of: When a request came last, on the clock of `time.monotonic`.

    Raises:
        StoreError: The state cannot be written.
    """

    def __init__(self, folder: StateFolder, hooks: HookService, *, idle_s: float | None) -> None:
        self._folder = folder
        self._idle_s = idle_s
        self._over = threading.Event()
        self.hooks = hooks
        self.token = secrets.token_urlsafe(24)
        self.heard_of = time.monotonic()
        self._since = time.time()
        self._servers: list[_PortServer | _SocketServer] = []

    def run(self) -> None:
        """Serve until there is nothing to do for long, or somebody says so."""
        port = _PortServer(("127.0.0.1", 0), _Handler)
        self._servers = [port]
        path = self._folder.socket
        if path is not None and hasattr(socket, "AF_UNIX"):
            with suppress(OSError):
                path.unlink()
            before = os.umask(0o177)
            try:
                self._servers.append(_SocketServer(str(path), _Handler))
            finally:
                os.umask(before)
        try:
            self.hooks.warm_up()
            self._take_spool()
            address = Address(
                pid=os.getpid(), port=port.server_address[1], token=self.token, since=self._since
            )
            self._folder.write(address)  # whoever gets an answer finds it
            for server in self._servers:
                server.local = self
                threading.Thread(target=server.serve_forever, args=(_POLL_S,), daemon=True).start()
            idle_s = math.inf if self._idle_s is None else self._idle_s
            while not self._over.wait(min(_POLL_S, idle_s)):
                self._take_spool()
                self.hooks.save_sessions()
                if time.monotonic() - self.heard_of > idle_s:
                    break
        finally:
            self._folder.leave()
            for server in self._servers:
                server.shutdown()
                server.server_close()
            self.hooks.close()

    def _take_spool(self) -> None:
        """Take the events that came while there was no service."""
        folder = self._folder.path / "spool"
        try:
            paths = sorted(path for path in folder.iterdir() if path.suffix != ".part")
        except OSError:
            return
        for path in paths:
            with suppress(OSError):
                body = path.read_bytes()
                path.unlink()
                if time.time() - int(path.name[:20]) / 1e9 < _SPOOL_S:
                    self.hooks.take(path.name[21:], body, is_late=True)

    def end(self) -> None:
        """End soon."""
        self._over.set()

    def status(self) -> dict[str, Any]:
        """Returns the status of the service: its process, its start, and the status of its hooks."""
        return {
            "pid": os.getpid(),
            "since": self._since,
            "ends_alone": self._idle_s is not None,
            **self.hooks.status(),
        }


def serve_local(folder: StateFolder, *, idle_s: float = 1800.0) -> ServiceEnd:
    """Be the service until it ends, or say who is.

    Args:
        idle_s: Seconds without an event after which it ends.

    Raises:
        StoreError: The state cannot be written.
    """
    if not folder.lock():
        return ServiceEnd(other=read_address(folder.path) or Address(pid=0, port=0, token="", since=0.0))
    start = time.monotonic()
    umask = os.umask(0o077)
    try:
        hooks = HookService(HookStore(SQLiteRunStore(folder.runs), folder.sessions))
        service = LocalService(folder, hooks, idle_s=idle_s)
        with signals_handled(lambda *_: service.end()):
            service.run()
    finally:
        os.umask(umask)
        folder.unlock()
    return ServiceEnd(seconds=time.monotonic() - start)


@contextmanager
def signals_handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """SIGTERM and Ctrl-C call a handler meanwhile; only the main thread can see to that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, handler) for number in numbers]
    try:
        yield
    finally:
        for number, earlier in zip(numbers, before, strict=True):
            signal.signal(number, earlier)
