"""Adapters and a service that is gone, hangs, or comes back."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from ebbtide import ConfigError, ToolCall, Verdict
from ebbtide.adapters.run_watch import RunWatch
from ebbtide.service.client import ServiceClient

LONGEST_S = 0.05
MARGIN_S = 0.05  # that a busy machine may add to one call


class Handler(BaseHTTPRequestHandler):
    """A service that takes events, late if it is told so."""

    taken: ClassVar[list[dict[str, Any]]]
    delay_s: ClassVar[float]

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base
        pass

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        if "/events" in self.path:
            self.taken.extend(json.loads(line) for line in body.splitlines())
        verdict = Verdict().to_dict()
        time.sleep(self.delay_s)
        content = json.dumps({"verdict": verdict}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def port() -> Iterator[int]:
    """A port that is bound and takes no connection."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


def steps(watch: RunWatch, first: int, last: int) -> float:
    """Records calls, asks after each, and returns the longest time that one of them took."""
    longest = 0.0
    for number in range(first, last + 1):
        for act in (
            lambda number=number: watch.record("a", ToolCall(name="ls", args={"n": number}, result="b")),
            lambda: watch.advise("a"),
        ):
            start = time.monotonic()
            act()
            longest = max(longest, time.monotonic() - start)
    return longest


def test_a_service_that_is_gone_costs_nothing(port: int) -> None:
    with ServiceClient(f"http://127.0.0.1:{port}") as client:
        watch = RunWatch(runs=client)
        start = time.monotonic()
        with pytest.warns(RuntimeWarning, match="Ebbtide cannot watch: ServiceError") as caught:
            longest = steps(watch, 1, 200)
        assert len(caught) == 1
        assert longest < LONGEST_S + MARGIN_S
        assert time.monotonic() - start < 1.0
        assert client.in_background().waiting == 200


def test_a_service_that_hangs_is_waited_for_once() -> None:
    """It takes the connection, and never answers."""
    with socket.socket() as hanging:
        hanging.bind(("127.0.0.1", 0))
        hanging.listen(8)
        client = ServiceClient(f"http://127.0.0.1:{hanging.getsockname()[1]}", timeout_s=2.0)
        watch = RunWatch(runs=client)
        start = time.monotonic()
        with pytest.warns(RuntimeWarning, match="does not answer in time") as caught:
            longest = steps(watch, 1, 200)
        assert len(caught) == 1
        assert longest < LONGEST_S + MARGIN_S
        assert time.monotonic() - start < 1.0


@pytest.mark.filterwarnings("ignore:Ebbtide cannot watch")
def test_all_events_arrive_when_it_comes_back(port: int) -> None:
    """In their order, each with a number of its own, so that one that was sent twice counts once."""
    client = ServiceClient(f"http://127.0.0.1:{port}")
    watch = RunWatch(runs=client)
    steps(watch, 1, 50)
    handler = type("Back", (Handler,), {"taken": [], "delay_s": 0.0})
    server = None
    # The port is free as soon as the fixture's socket is: it never listened, so this may share it.
    ThreadingHTTPServer.allow_reuse_address = True
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    client.in_background()._client._connection.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        deadline = time.monotonic() + 10
        while client.in_background().waiting and time.monotonic() < deadline:
            time.sleep(0.05)
        steps(watch, 51, 60)
        client.close()
    finally:
        server.shutdown()
        server.server_close()
    assert [event["args"]["n"] for event in handler.taken] == list(range(1, 61))
    assert len({event["seq"] for event in handler.taken}) == 60


@pytest.mark.filterwarnings("ignore:Ebbtide cannot watch")
def test_a_slow_service_is_heard_with_the_next_call() -> None:
    """Each answer takes longer than a call waits; events come once, and no call takes longer."""
    handler = type("Slow", (Handler,), {"taken": [], "delay_s": 0.12})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        client = ServiceClient(f"http://127.0.0.1:{server.server_address[1]}")
        assert steps(RunWatch(runs=client), 1, 5) < LONGEST_S + MARGIN_S
        deadline = time.monotonic() + 10
        while client.in_background().waiting and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        server.shutdown()
        server.server_close()
    assert [event["args"]["n"] for event in handler.taken] == [1, 2, 3, 4, 5]


def test_an_address_in_the_place_of_a_registry_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"runs = 'http://x': expected a registry, such as Runs\(\) or"):
        RunWatch(runs="http://x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="url"):
        ServiceClient(8620)  # type: ignore[arg-type]
