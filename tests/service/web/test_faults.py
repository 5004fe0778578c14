"""Whatever goes wrong, nothing that was acknowledged is lost, and the answer says what to do."""

import json
import random
import shutil
import socket
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from ebbtide import Action, ToolCall
from ebbtide.service.runs.listing import find_run
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.run_database import RunDatabase, RunOrigin
from ebbtide.service.runs.run_event import run_event
from ebbtide.service.web.sign_in import session_of

NOW = 1_790_000_000.0
YEAR_S = 31_536_000.0
TOKEN = "a-token-for-tests-alone"  # noqa: S105 - made up


def call(seq: int, **fields: Any) -> dict[str, Any]:
    return {"seq": seq, "kind": "tool", "name": "ls", "args": {"n": seq}, "result": str(seq), **fields}


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (b'{"name": "ls"', "line 1"),
        (b'{"name": "ls"}\n[1]', "line 2, event"),
        (b'{"kind": "tool"}', "line 1, event.name"),
        (b'{"name": 7}', "line 1, event.name"),
        (b'{"name": "ls", "seq": "one"}', "line 1, event.seq"),
        (b'{"name": "ls", "seq": 99999999999999999999999999}', "line 1"),
        (b"\xff\xfe", "line 1"),
        (b"[" * 100_000, "line 1"),
        (b"", None),
        (b"\n \n", None),
    ],
)
def test_a_body_that_cannot_be_read_says_where(shared_service, body: bytes, where: str | None) -> None:
    """A 400 with the place, and nothing of the body counts."""
    answer = shared_service.client.post("/v1/runs/broken/events", content=body)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json().get("where") == where
    assert shared_service.client.get("/v1/runs/broken").status_code == 404


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "\ud800"},
        {"name": "a\0b", "chain_id": "\0", "agent": "\udfff"},
        {"name": "ls", "args": [1], "result": {"a": [None, 1e308]}},
        {"name": "ls", "ts": -1e300, "cost_usd": 1e300},
        {"kind": "llm", "model": "\ud800\0", "input_tokens": 10**30, "output_tokens": -1},
        {"name": "ls", "chain_id": "x" * 100_000},
    ],
)
def test_odd_events_are_taken(shared_service, fields: dict[str, Any]) -> None:
    for _ in range(4):
        shared_service.send("odd", fields)
    for path in ("/v1/runs/odd", "/v1/runs/odd/report.html", "/v1/runs", "/v1/spending?by=model"):
        assert shared_service.client.get(path).status_code == 200


def test_a_large_body_is_refused(shared_service) -> None:
    """With a length at once, and without one when it has become too large."""
    big = b"x" * (1 << 20)

    def pieces():
        for _ in range(100):
            yield big

    for content, headers in ((pieces(), {}), (pieces(), {"Content-Length": str(100 << 20)})):
        try:
            answer = httpx.post(
                f"{shared_service.url}/v1/check", content=content, headers=headers, timeout=20
            )
        except httpx.WriteError:
            continue  # the connection was closed while it was sent
        assert answer.status_code == 413
    lines = b"\n" * 30_000
    assert shared_service.client.post("/v1/runs/a/events", content=lines).status_code == 413


def test_who_is_not_answered(shared_service) -> None:
    """A name that leads here, a page of another site, a form of one: each is refused, by every route."""
    own = shared_service.url.removeprefix("http://")
    for headers, status in (
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": f"http://{own}"}, 404),
        ({}, 404),
    ):
        answer = shared_service.client.post("/v1/runs/nobody/stop", headers=headers)
        assert answer.status_code == status, headers
    for path in ("/v1/runs", "/healthz", "/openapi.json", "/nothing"):
        assert shared_service.client.get(path, headers={"Host": "evil.example"}).status_code == 421


def test_a_token_is_wanted_where_others_can_ask(start) -> None:
    with pytest.raises(RuntimeError, match="Give a --token"):
        start("--host", "0.0.0.0")  # noqa: S104 - refused
    service = start("--token", TOKEN)
    for headers, status in (
        ({}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": TOKEN}, 401),
        ({"Authorization": f"Bearer {TOKEN}"}, 200),
        ({"Cookie": f"ebbtide_session_{port_of(service)}={session_of(TOKEN)}"}, 200),
        ({"Cookie": f"ebbtide_session_{port_of(service)}={TOKEN}"}, 401),
        ({"Cookie": f"ebbtide_session_1={session_of(TOKEN)}"}, 401),
        ({"Cookie": f"ebbtide_session_{port_of(service)}=\u00e9"}, 401),
    ):
        encoded = {name: value.encode() for name, value in headers.items()}
        assert service.client.get("/v1/runs", headers=encoded).status_code == status, headers
    assert service.client.get("/healthz").status_code == 200


def test_nothing_acknowledged_is_lost_by_a_kill(start, db) -> None:
    """Killed in any write: what was acknowledged of events, stops, acknowledgements and deletions holds."""
    service = start(db=db)
    chance = random.Random(7)  # noqa: S311 - a test
    sent = dict.fromkeys((f"run {number}" for number in range(4)), 0)
    stops: set[str] = set()

    def act(run_id: str) -> None:
        """Something that is written; what holds is noted once it is acknowledged."""
        path = f"/v1/runs/{run_id}"
        match chance.randrange(8) if sent[run_id] else 0:
            case 1:
                assert service.client.post(f"{path}/stop", json={"reason": "enough"}).status_code == 200
                stops.add(run_id)
            case 2:
                assert service.client.post(f"{path}/acknowledge").status_code == 200
                stops.discard(run_id)
            case 3:
                assert service.client.delete(path).status_code == 204
                stops.discard(run_id)
                sent[run_id] = 0
            case 4:
                service.check(run_id)
            case _:
                service.send(run_id, *[call(sent[run_id] + step) for step in range(1, 4)])
                sent[run_id] += 3

    for _ in range(3):
        killer = threading.Timer(chance.uniform(0.2, 0.8), service.process.kill)
        killer.start()
        try:
            while True:
                run_id = chance.choice(list(sent))
                act(run_id)
        except httpx.TransportError:
            pass  # of this last act nobody knows
        killer.join()
        service.kill()
        service.start()
        for name, number in sent.items():
            if name != run_id:
                answer = service.client.get(f"/v1/runs/{name}")
                assert (answer.json()["events"] if answer.status_code == 200 else 0) == number
                assert (service.check(name)["end"] is not None) == (name in stops)
        service.client.delete(f"/v1/runs/{run_id}")
        stops.discard(run_id)
        sent[run_id] = 0


def test_what_was_said_is_not_said_again_after_a_kill(start, db) -> None:
    """A note is handed over once, and an agent that was named stays one, although no state was written."""
    service = start(db=db)

    def check(agent: str) -> dict[str, Any]:
        return service.client.post("/v1/runs/a/check", params={"agent": agent}).json()

    def turn() -> dict[str, Any]:
        advice = check("writer")
        service.send("a", {"name": "ls", "args": {}, "result": "none", "agent": "writer"})
        return advice

    check("reader")
    notes = [turn()["note"] is not None for _ in range(3)] + [check("writer")["note"] is not None]
    assert notes == [False, False, False, True]
    service.kill()
    service.start()
    assert check("writer")["note"] is None
    turn()
    last = check("writer")
    assert (last["action"], last["verdict"]["chain_id"]) == ("stop", "writer")
    assert check("reader")["action"] == "allow"


def test_a_database_that_goes_away(start) -> None:
    """Nothing is acknowledged while the file is gone; when it is back, the same body counts once."""
    service = start()
    service.send("a", call(1))
    moved = service.folder / "elsewhere"
    service.file.rename(moved)
    body = json.dumps(call(2))
    answer = service.client.post("/v1/runs/a/events", content=body)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert "Send it again" in answer.json()["hint"]
    assert service.client.post("/v1/runs/a/stop").status_code == 503
    assert service.client.post("/v1/runs/a/check").status_code == 200
    moved.rename(service.file)
    assert service.send("a", call(2))["events"] == 1
    assert service.get("/v1/runs/a")["events"] == 2


def test_two_services_do_not_share_a_file(shared_service, start) -> None:
    """The second says so, and leaves the first alone."""
    with pytest.raises(RuntimeError, match="another service has this file"):
        start("--db", str(shared_service.file))
    assert shared_service.send("shared", call(1))["events"] == 1


def test_a_file_of_something_else_is_left_alone(start, tmp_path) -> None:
    (tmp_path / "runs.db").write_bytes(b"not a database at all, but somebody's notes" * 100)
    with pytest.raises(RuntimeError, match=r"not a database|not a file"):
        start()
    assert (tmp_path / "runs.db").read_bytes().startswith(b"not a database")


def test_slow_callers_do_not_hold_up_others(shared_service) -> None:
    """Connections that send nothing, and readers that read nothing, leave the others alone."""
    host, _, port = shared_service.url.removeprefix("http://").partition(":")
    idle = [socket.create_connection((host, int(port))) for _ in range(100)]
    for number, connection in enumerate(idle):
        connection.sendall(b"GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"\r\n" * (number % 2))
    start = time.monotonic()
    for seq in range(1, 50):
        shared_service.send("quick", call(seq))
    assert time.monotonic() - start < 10
    for connection in idle:
        connection.close()


def test_a_lost_folder_of_the_hooks_leaves_the_others(start) -> None:
    service = start()
    service.send("a", call(1))
    shutil.rmtree(service.folder / "state", ignore_errors=True)
    assert service.check("a")["action"] == "allow"
    assert service.send("a", call(2))["events"] == 1


def test_a_clock_that_jumps(tmp_path) -> None:
    """A year ahead and back, with events of such times: nothing fails, and everything counts once."""
    times = [NOW, NOW + YEAR_S, NOW - YEAR_S, -1.0, NOW + 1, 1e11, NOW + 2]
    clock = iter(times * 1000)
    runs = LiveRuns(RunDatabase(tmp_path / "runs.db"), clock=lambda: next(clock))
    for seq, ts in enumerate([*times, None, *times]):
        event = ToolCall(name="ls", args={"n": seq}, result=str(seq), seq=seq, ts=ts)
        (place,) = runs.append("a", [run_event(event, runs.prices, NOW)], RunOrigin()).result()
        runs.take("a", event, place)
        assert runs.before_model("a").verdict.action is Action.ALLOW
        runs.note("a")
    runs.database.flush().result()
    assert find_run(runs.database, "a")["events"] == 2 * len(times) + 1
    assert runs.faults == {}
    runs.close()
    again = LiveRuns(RunDatabase(tmp_path / "runs.db"))
    assert again.get("a").tally.events == 2 * len(times) + 1
    again.close()


def test_a_server_that_goes_away(start, own_postgres, wait_for) -> None:
    """Nothing is acknowledged while PostgreSQL is gone, and no run is held up; then all goes on as it was."""
    service = start(db=own_postgres.url("postgres"))
    for run_id in ("a", "b"):
        service.send(run_id, *(call(seq, args={}, result="none") for seq in (1, 2)))
    service.client.post("/v1/runs/b/stop", json={"reason": "enough"})
    service.end()
    service.start()
    own_postgres.stop()
    body = json.dumps(call(3, args={}, result="none"))
    for path in ("a/events", "a/stop", "new/events"):
        answer = service.client.post(f"/v1/runs/{path}", content=body if "events" in path else None)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2"), answer.text
        assert "PostgreSQL postgres on this machine" in answer.json()["detail"]
    start_s = time.monotonic()
    assert (service.check("a")["action"], service.check("b")["action"]) == ("allow", "stop")
    assert time.monotonic() - start_s < 5
    assert service.get("/healthz")["faults"]
    assert service.client.get("/v1/now").status_code == 503
    own_postgres.start()
    wait_for(lambda: service.client.post("/v1/runs/a/events", content=body).status_code == 200)
    wait_for(lambda: service.get("/v1/runs/a")["events"] == 3)
    wait_for(lambda: service.check("a")["note"])
    assert service.get("/v1/runs/b")["stop_reason"] == "enough"
    own_postgres.stop("fast")
    own_postgres.start()
    # Work of the service's own that met the stopped server keeps everybody from the server for a second.
    wait_for(lambda: service.client.get("/v1/runs/a").status_code == 200)
    assert service.get("/v1/runs/a")["events"] == 3
    assert service.send("a", call(4))["events"] == 1
    assert service.end() == 0


def test_a_server_that_stalls(start, own_postgres) -> None:
    """A run that is watched goes on; what was sent is acknowledged when the server goes on."""
    service = start(db=own_postgres.url("postgres"))
    service.send("a", *(call(seq, args={}, result="none") for seq in (1, 2, 3)))
    with own_postgres.stalled():
        sender = threading.Thread(target=service.send, args=("b", call(1)))
        sender.start()
        start_s = time.monotonic()
        assert service.check("a")["note"] is not None
        assert service.check("a")["note"] is None
        assert time.monotonic() - start_s < 5
        assert sender.is_alive()
    sender.join()
    assert service.get("/v1/runs/b")["events"] == 1


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("127.0.0.1:1/runs", "PostgreSQL runs on 127.0.0.1: .* see that it runs"),
        ("127.0.0.1:1/ru@ns", "the URL of PostgreSQL cannot be read"),
        ("?host=/nowhere", "PostgreSQL default database on this machine: .* see that it runs"),
    ],
)
def test_a_server_that_is_not_there_at_the_start(start, place: str, words: str) -> None:
    """It says so at once, and what to look at; nobody sees the password."""
    with pytest.raises(RuntimeError, match=words) as raised:
        start(db=f"postgresql://ann:marmalade@{place}")
    assert "marmalade" not in str(raised.value)
    assert "Traceback" not in str(raised.value)


def port_of(service) -> int | None:
    return urlsplit(service.url).port
