"""What callers take is bounded: time, requests, places at the stream, and the disk."""

import json
import resource
import socket
import time
from collections import Counter
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest

READERS = 50
BATCH = 250
SLOW_S = 1.0


def call(seq: int, **fields: Any) -> dict[str, Any]:
    return {"seq": seq, "kind": "tool", "name": "ls", "args": {"n": seq}, "result": str(seq), **fields}


@pytest.fixture(scope="module")
def bounded(start_shared):
    return start_shared(settings={"body_s": SLOW_S, "readers": READERS, "rate": 20_000.0})


def connected(service) -> socket.socket:
    url = urlsplit(service.url)
    return socket.create_connection((url.hostname, url.port), timeout=20)


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"POST /v1/runs/a/ev",
        b"POST /v1/runs/a/events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le",
        b"POST /v1/runs/a/events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{",
        b"POST /v1/runs/a/events HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
    ],
)
def test_a_request_that_does_not_come_to_its_end(bounded, start: bytes) -> None:
    """The connection is closed with a 408, however slowly something comes."""
    with connected(bounded) as connection:
        connection.sendall(start)
        begin, answer = time.monotonic(), b""
        while part := connection.recv(10_000):
            answer += part
        assert time.monotonic() - begin < SLOW_S + 10
    assert b"HTTP/1.1 408" in answer


def test_who_asks_too_often_is_told_when_to_come_again(start) -> None:
    """What was refused counts nothing, and comes through later."""
    service = start(settings={"rate": 10.0})
    answers = [service.client.post("/v1/runs/a/events", content=json.dumps(call(seq))) for seq in range(100)]
    refusals = [answer for answer in answers if answer.status_code == 429]
    assert 0 < len(refusals) < 60
    assert {answer.headers["retry-after"] for answer in refusals} == {"1"}
    time.sleep(1.1)
    assert service.get("/v1/runs/a")["events"] == 100 - len(refusals)
    assert service.send("a", *(call(seq) for seq in range(100)))["events"] == len(refusals)


def test_ten_thousand_idle_readers(bounded) -> None:
    """Some may stay, the others are told so and let go, and whoever works goes on meanwhile."""
    statuses: Counter[bytes] = Counter()
    slowest = 0.0
    with ExitStack() as stack:
        for _ in range(10_000 // BATCH):
            batch = [connected(bounded) for _ in range(BATCH)]
            for reader in batch:
                reader.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            start = time.monotonic()
            bounded.send("busy", call(1))
            slowest = max(slowest, time.monotonic() - start)
            for reader in batch:
                status = reader.recv(12)[9:]
                statuses[status] += 1
                if status == b"200":
                    stack.enter_context(reader)
                else:
                    assert b"connection: close" in reader.recv(10_000).lower()
                    reader.close()
        assert bounded.get("/healthz")["readers"] == READERS
    assert statuses == {b"200": READERS, b"429": 10_000 - READERS}
    assert slowest < 5


def test_a_full_disk(start) -> None:
    """What cannot be written is not acknowledged, checks go on, and the same body counts once it has room."""
    service = start(blocks=1500)
    acknowledged = 0
    while True:
        answer = service.client.post(
            "/v1/runs/a/events",
            content="\n".join(
                json.dumps(call(acknowledged + step, result="x" * 5000)) for step in range(1, 21)
            ),
        )
        if answer.status_code != 200:
            break
        acknowledged += 20
        assert acknowledged < 2000
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert service.client.post("/v1/runs/a/check").status_code == 200
    infinite = resource.RLIM_INFINITY
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (infinite, infinite))
    again = service.send("a", *(call(seq) for seq in range(1, acknowledged + 21)))
    assert (again["events"], again["repeated"]) == (20, acknowledged)
    service.kill()
    service.blocks = None
    service.start()
    assert service.get("/v1/runs/a")["events"] == acknowledged + 20
