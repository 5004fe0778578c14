"""What one client does holds up no other, and a request shows what it may."""

import json
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from ebbtide.service.client import ServiceClient, ServiceError

TOKEN = "a-token-for-tests-alone"  # noqa: S105
KEY = "ghp_" + "x7Kq2Vb9TzR4mW8sLc3NpJ6hYd5GfA1eQz9X"


def sent(service, data: bytes) -> bytes:
    """The beginning of the answer to bytes."""
    url = urlsplit(service.url)
    with socket.create_connection((url.hostname, url.port), timeout=20) as connection:
        with suppress(OSError):
            connection.sendall(data)
        try:
            return connection.recv(12)
        except OSError:
            return b""


def calls(count: int) -> Iterator[dict[str, Any]]:
    """Calls of a tool, each with other arguments."""
    return ({"seq": seq, "kind": "tool", "name": "ls", "args": {"n": seq}} for seq in range(count))


def test_a_form_to_sign_in_has_kilobytes(start) -> None:
    """Before somebody signed in, no more is read: a large form is refused by its length."""
    service = start("--token", TOKEN)
    begin = time.monotonic()
    answer = service.client.post("/sign-in", content=b"a=b&" * (1 << 20))
    assert (answer.status_code, time.monotonic() - begin < 1) == (413, True)
    assert "4 KB" in answer.json()["detail"]


@pytest.mark.parametrize("head", [b"X: " + b"x" * (1 << 20), b"x: y\r\n" * (1 << 17)])
def test_a_head_has_kilobytes(service, head: bytes) -> None:
    """A head without an end is refused, and the connection ended."""
    assert sent(service, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n" + head) in (
        b"HTTP/1.1 431", b"HTTP/1.1 400", b"",
    )  # fmt: skip
    assert service.client.get("/healthz").status_code == 200


def test_idle_connections_make_room(start) -> None:
    """Whoever waits longest for nothing goes, and a request is answered at once."""
    service = start(settings={"readers": 10})
    url = urlsplit(service.url)
    idle = [socket.create_connection((url.hostname, url.port), timeout=20) for _ in range(1300)]
    begin = time.monotonic()
    assert service.client.get("/healthz").status_code == 200
    assert time.monotonic() - begin < 1
    for connection in idle:
        connection.close()


def test_a_method_that_there_is_not(service) -> None:
    """405 names those that there are."""
    answer = service.client.put("/v1/runs/a")
    assert (answer.status_code, answer.headers["allow"]) == (405, "DELETE, GET")


def test_the_page_of_the_api_needs_nothing_from_elsewhere(service) -> None:
    """It lists every request, and names no other host."""
    page = service.client.get("/docs")
    assert page.status_code == 200
    assert "POST /v1/runs/{run_id}/check" in page.text
    assert "http" not in page.text.replace("https://spec", "")
    assert service.client.get("/redoc").status_code == 404


def test_a_client_that_goes_away_is_no_fault(service) -> None:
    """Nothing of it is in the log of the service."""
    head = b"POST /v1/runs/a/events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n{"
    url = urlsplit(service.url)
    for _ in range(5):
        with socket.create_connection((url.hostname, url.port)) as connection:
            connection.sendall(head)
    time.sleep(0.3)
    service.client.close()
    service.process.terminate()
    assert service.process.communicate(timeout=20)[1] == ""


def test_many_requests_at_once_of_a_client_that_goes_away_are_no_fault(service) -> None:
    """Those before the last are answered to nobody, as the last is."""
    asked = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 300
    url = urlsplit(service.url)
    for _ in range(3):
        with socket.create_connection((url.hostname, url.port)) as connection:
            connection.sendall(asked)
            time.sleep(1.5)  # until nothing more fits between them
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    time.sleep(0.5)
    assert service.client.get("/healthz").status_code == 200
    service.client.close()
    service.process.kill()
    assert service.process.communicate()[1] == ""


def test_reports_beyond_the_bound_are_told_to_come_again(service) -> None:
    """Who asks for one run, or sends an event, waits for none of them."""
    service.send("a", *calls(5000))
    answers = []

    def ask() -> None:
        answer = httpx.get(f"{service.url}/v1/runs/a/report.html", timeout=120)
        answers.append((answer.status_code, answer.headers.get("retry-after")))

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    waits = []
    for seq in range(10):
        begin = time.monotonic()
        assert service.client.get("/v1/runs/a").status_code == 200
        service.send("b", {"seq": seq, "kind": "tool", "name": "ls"})
        waits.append(time.monotonic() - begin)
    for thread in threads:
        thread.join()
    assert {status for status, _ in answers} == {200, 503}
    assert all(again == "2" for status, again in answers if status == 503)
    assert sorted(waits)[5] < 1


def test_an_event_waits_for_no_large_body(service) -> None:
    """Bodies of many events are written and watched in turn with the others."""
    body = "\n".join(map(json.dumps, calls(19_000))).encode()
    begin, times = time.monotonic(), []

    def send(number: int) -> None:
        answer = httpx.post(f"{service.url}/v1/runs/large-{number}/events", content=body, timeout=120)
        assert answer.status_code == 200
        times.append(time.monotonic() - begin)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    waits = []
    while any(thread.is_alive() for thread in threads):
        sent_at = time.monotonic()
        service.send("small", {"seq": len(waits), "kind": "tool", "name": "ls"})
        waits.append(time.monotonic() - sent_at)
    for thread in threads:
        thread.join()
    assert len(times) == 4
    # Behind whole bodies it would wait for a quarter of the time and more.
    assert max(waits) < max(times) / 5, (max(waits), times)


def test_an_export_waits_for_no_large_one(start, wire) -> None:
    """Spans that are on disk are acknowledged; they are looked at later."""

    def spans(name: str, count: int) -> bytes:
        """An export of calls of a tool, each of a trace of its own."""
        traces = (wire.tool(f"{name}{number}:1", 0, 1) for number in range(count))
        return json.dumps(wire.request(*traces)).encode()

    service = start(settings={"span_wait_s": 0.1})
    large = [spans(name, 15_000) for name in "ab"]

    def export(body: bytes) -> float:
        begin = time.monotonic()
        answer = httpx.post(
            f"{service.url}/v1/traces",
            content=body,
            headers={"content-type": "application/json"},
            timeout=120,
        )
        assert answer.status_code == 200
        return time.monotonic() - begin

    begin = time.monotonic()
    threads = [threading.Thread(target=export, args=(body,)) for body in large]
    for thread in threads:
        thread.start()
    waits = [export(spans(f"s{number}-", 1)) for number in range(40)]
    for thread in threads:
        thread.join()
    while service.client.get("/v1/runs", params={"limit": 1}).json()["runs"] == []:
        time.sleep(0.2)
    all_s = time.monotonic() - begin
    assert max(waits) < all_s / 4, (max(waits), all_s)


def test_a_key_in_an_id_or_a_name_is_kept_without_it(service) -> None:
    """A run is found by the id that it was given, and nothing shows the key."""
    service.send(f"run {KEY}", {"seq": 1, "kind": "llm", "text": "a", "cost_usd": 1, "agent": f"a {KEY}"})
    service.client.post(f"/v1/runs/run {KEY}/check", params={"agent": f"a {KEY}"})
    assert service.client.get(f"/v1/runs/run {KEY}").status_code == 200
    for path in ("/v1/runs", f"/v1/runs/run {KEY}", "/metrics", "/v1/budgets", "/v1/now", "/v1/audit"):
        assert KEY[8:20] not in service.client.get(path).text, path


def test_a_token_is_sent_to_its_service_alone(start) -> None:
    """Whatever else listens on the port never sees it."""
    service = start("--token", TOKEN)
    with ServiceClient(service.url, token=TOKEN) as own:
        assert list(own.runs()) == []
    seen: list[str] = []

    class Other(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            seen.append(str(self.headers))
            body = json.dumps({"status": "ok", "proof": "0" * 64, "runs": [], "next_cursor": None}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Other)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        client = ServiceClient(f"http://127.0.0.1:{server.server_port}", token=TOKEN)
        with pytest.raises(ServiceError, match="does not know the token"):
            list(client.runs())
    finally:
        client.close()
        server.shutdown()
        thread.join()
        server.server_close()
    assert seen
    assert TOKEN not in "".join(seen)


def test_checks_beyond_the_bound_are_told_to_come_again(service) -> None:
    """Some are answered, the others say when, and a small request waits for none of them."""
    line = json.dumps({"kind": "tool", "name": "ls", "args": {"n": 1}, "result": "x" * 400}).encode()
    body, answers = b"\n".join([line] * 5000), []

    def ask() -> None:
        answers.append(ServiceProbe(service).post(body))

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    waits = []
    while any(thread.is_alive() for thread in threads):
        begin = time.monotonic()
        assert service.client.get("/healthz").status_code == 200
        waits.append(time.monotonic() - begin)
        time.sleep(0.05)
    assert {status for status, _ in answers} == {200, 503}
    assert all(again == "2" for status, again in answers if status == 503)
    assert max(waits) < 1 + 2 * (os.cpu_count() == 1)


class ServiceProbe:
    """One connection of its own."""

    def __init__(self, service) -> None:
        self.service = service

    def post(self, body: bytes) -> tuple[int, str | None]:
        answer = httpx.post(f"{self.service.url}/v1/check", content=body, timeout=120)
        return answer.status_code, answer.headers.get("retry-after")
