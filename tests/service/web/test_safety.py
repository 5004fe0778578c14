"""What holds for every route: who is answered, what is masked, and what is written down."""

import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from ebbtide.errors import ConfigError
from ebbtide.service.web.service_settings import ServiceSettings

TOKEN = "a-token-for-tests-alone"  # noqa: S105 - made up
SECRET = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"  # noqa: S105 - made up
#: What programs send of their own runs. Every other change is of a person, and audited.
OF_PROGRAMS = {
    "/v1/runs/{run_id}/events",
    "/v1/runs/{run_id}/check",
    "/v1/runs/{run_id}/claims",
    "/v1/runs/{run_id}/end",
    "/v1/check",
    "/v1/traces",
    "/v1/logs",
    "/v1/metrics",
}
#: What the document of the API leaves out.
UNLISTED = [("POST", "/mcp"), ("GET", "/"), ("GET", "/runs/a"), ("GET", "/docs"), ("GET", "/openapi.json")]


def listed(service, **headers: str) -> list[tuple[str, str]]:
    document = service.client.get("/openapi.json", headers=headers).json()
    return [(method.upper(), path) for path, methods in document["paths"].items() for method in methods]


def loop(**fields: Any) -> list[dict[str, Any]]:
    call = {"kind": "tool", "name": "ls", "args": {}, "result": "a.txt", **fields}
    return [{"seq": seq, **call} for seq in range(1, 8)]


def test_no_route_forgets_to_ask_who_it_is(start) -> None:
    """Without the token, under another name, or from a page of another site, no route answers."""
    service = start("--token", TOKEN)
    good = {"Authorization": f"Bearer {TOKEN}"}
    routes = {*listed(service, **good), *UNLISTED} - {("GET", "/healthz")}
    assert len(routes) > 20
    for method, path in routes:
        address = path.replace("{run_id}", "a")
        for headers, status in (
            ({}, 401),
            ({"Authorization": "Bearer another-token-than-this"}, 401),
            ({**good, "Host": "evil.example"}, 421),
            ({**good, "Origin": "https://evil.example"}, 403),
        ):
            answer = service.client.request(method, address, headers=headers)
            assert answer.status_code == status, (method, path, headers)


def test_every_act_of_a_person_is_written_down(service) -> None:
    """With who it was; a further route that changes something is missed here."""
    bodies = {"extend": {"turns": 2}, "stop": {"reason": "enough"}}
    acts = [(method, path) for method, path in listed(service) if method != "GET" and path not in OF_PROGRAMS]
    acts.sort()
    acts.sort(key=lambda act: act[0] == "DELETE")
    service.send("a", *loop())
    for method, path in acts:
        body = bodies.get(path.rpartition("/")[2])
        answer = service.client.request(method, path.format(run_id="a"), json=body, params={"by": "Ada"})
        assert answer.status_code in (200, 204), (path, answer.text)
    entries = service.get("/v1/audit")["entries"]
    assert [(entry["act"], entry["run_id"], entry["caller"]) for entry in reversed(entries)] == [
        (act, "a", "Ada (127.0.0.1)") for act in ("acknowledge", "extend", "stop", "delete")
    ]
    assert len(acts) == len(entries)


def test_no_key_leaves_by_any_route(service) -> None:
    """Wherever it came in."""
    fields = {"args": {"token": SECRET}, "result": f"key {SECRET}", "error": f"no {SECRET}"}
    names = dict.fromkeys(("project", "agent", "user"), f"x {SECRET}")
    with service.client.stream("GET", "/v1/stream") as stream:
        service.send("a", *loop(**fields, cost_usd=0.1), **names)
        service.send("b", {"seq": 1, "kind": "llm", "model": f"m {SECRET}", "text": SECRET, "cost_usd": 0.1})
        service.client.post("/v1/runs/a/check")
        service.client.post(
            "/v1/runs/a/stop", json={"reason": f"it has {SECRET}"}, params={"by": f"Ada {SECRET}"}
        )
        texts = {"stream": next(text for text in stream.iter_text() if "data:" in text)}
    for method, path in listed(service):
        if method == "GET" and path != "/v1/stream":
            for run_id in ("a", "b"):
                texts[path, run_id] = service.client.get(path.format(run_id=run_id)).text
    for by in ("project", "agent", "user", "model"):
        texts["spending", by] = json.dumps(service.get("/v1/spending", by=by))
    assert len(texts) > 20
    assert {place for place, text in texts.items() if SECRET in text} == set()


@pytest.mark.parametrize(
    ("host", "token"),
    [("0.0.0.0", None), ("::", None), ("", None), ("192.168.0.7", None), ("box", None), ("box", "short")],  # noqa: S104
)
def test_nobody_else_reaches_it_without_a_token(host: str, token: str | None) -> None:
    with pytest.raises(ConfigError, match="--token"):
        ServiceSettings(host=host, token=token)


def test_it_listens_on_this_machine_alone(shared_service) -> None:
    """Not even on a neighbouring address of the loopback."""
    port = urlsplit(shared_service.url).port
    socket.create_connection(("127.0.0.1", port), 5).close()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", port), 5)
