"""The API of the service, asked over HTTP."""

import json
import time
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

NOW = datetime.now(UTC).timestamp()


def call(seq: int | None = None, **fields: Any) -> dict[str, Any]:
    numbered = {} if seq is None else {"seq": seq}
    return {**numbered, "kind": "tool", "name": "ls", "args": {"path": "."}, "result": "a.txt", **fields}


def model_call(seq: int, **fields: Any) -> dict[str, Any]:
    return {"seq": seq, "kind": "llm", "model": "small", "input_tokens": 100, "cost_usd": 0.5, **fields}


@pytest.fixture
def service(either_service):
    return either_service


def test_a_loop_is_told_and_ended(service) -> None:
    """A note at the third equal answer, handed over once; the end at the next."""
    assert service.send("a", call(1), call(2))["verdict"]["action"] == "allow"
    assert service.send("a", call(3))["verdict"]["action"] == "nudge"
    first, second = service.check("a"), service.check("a")
    assert first["note"].startswith("[ebbtide] The same call returned the same result again")
    assert second["action"] == "allow"
    assert service.send("a", call(4))["verdict"]["action"] == "stop"
    assert service.check("a")["end"].startswith("ls 4 times in a row")


@pytest.mark.parametrize("again", [1, 2, 3])
def test_an_event_counts_once(service, again: int) -> None:
    """A body that is sent again changes nothing, neither what holds nor what was spent."""
    events = [model_call(1), call(2), call(3)]
    verdict = service.send("a", *events)["verdict"]
    for _ in range(again):
        answer = service.send("a", *events)
        assert (answer["events"], answer["repeated"], answer["verdict"]) == (0, 3, verdict)
    assert service.get("/v1/runs/a")["events"] == 3
    assert service.get("/v1/spending")["groups"][0]["cost_usd"] == 0.5


def test_events_of_two_chains_have_numbers_of_their_own(service) -> None:
    answer = service.send("a", call(1, chain_id="x"), call(1, chain_id="y"), call(1, chain_id="x"))
    assert (answer["events"], answer["repeated"]) == (2, 1)


def test_a_person_ends_a_run_and_lets_it_go_on(service) -> None:
    """A stop stands for each check, over a restart, until somebody acknowledges or extends."""
    service.send("a", call(1))
    for way, body in (("acknowledge", None), ("extend", {"turns": 3})):
        stop = service.client.post(
            "/v1/runs/a/stop", json={"reason": "the wrong ticket"}, params={"by": "Ada"}
        )
        assert stop.json()["verdict"]["action"] == "stop"
        assert [service.check("a")["end"] for _ in range(2)] == [
            "A person ended the run: the wrong ticket."
        ] * 2
        assert service.send("a", call(2, result="new"))["verdict"]["kind"] == "person"
        assert service.end() == 0
        service.start()
        assert service.check("a")["end"] == "A person ended the run: the wrong ticket."
        assert service.get("/v1/runs", standing="stop")["runs"][0]["stop_reason"] == "the wrong ticket"
        assert service.client.post(f"/v1/runs/a/{way}", json=body).status_code == 200
        assert service.check("a")["action"] == "allow"
    acts = [(entry["act"], entry["caller"]) for entry in service.get("/v1/audit", limit=4)["entries"]]
    assert acts == [
        ("extend", "127.0.0.1"),
        ("stop", "Ada (127.0.0.1)"),
        ("acknowledge", "127.0.0.1"),
        ("stop", "Ada (127.0.0.1)"),
    ]


def test_runs_are_listed_page_by_page(service) -> None:
    """Each run comes once, the latest first, or the worst."""
    for number in range(7):
        service.send(
            f"run {number}", *[call(seq) for seq in range(1, 2 + number % 4)], project=f"p{number % 2}"
        )
    for order in ("latest", "worst"):
        pages, cursor = [], {}
        while True:
            page = service.get("/v1/runs", limit=3, order=order, **cursor)
            pages += page["runs"]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert sorted(run["run_id"] for run in pages) == [f"run {number}" for number in range(7)]
        key = [run["latest"] for run in pages]
        if order == "worst":
            rank = ["allow", "nudge", "finalize", "escalate", "stop"].index
            key = [(rank(run["action"]), run["latest"]) for run in pages]
        assert key == sorted(key, reverse=True)
    assert len(service.get("/v1/runs", project="p1")["runs"]) == 3
    assert [run["run_id"] for run in service.get("/v1/runs", standing="nudge,stop")["runs"]] == [
        "run 6",
        "run 3",
        "run 2",
    ]
    assert service.get("/v1/runs", since=str(time.time() + 60))["runs"] == []


def test_spending_by_day_project_agent_and_model(service) -> None:
    """A day is that of the event; what has no name is null; an unpriced call is no zero."""
    day = 86_400.0
    service.send("a", model_call(1, ts=NOW - day), model_call(2, ts=NOW), project="p", agent="x")
    service.send("b", model_call(1, ts=NOW, cost_usd=2.0, model="large"), project="q")
    service.send("c", {"seq": 1, "kind": "llm", "model": "nobody-knows", "input_tokens": 7, "ts": NOW})

    def groups(by: str, **query: str) -> dict[str | None, float | None]:
        return {row["name"]: row["cost_usd"] for row in service.get("/v1/spending", by=by, **query)["groups"]}

    today = datetime.fromtimestamp(NOW, UTC).date().isoformat()
    yesterday = datetime.fromtimestamp(NOW - day, UTC).date().isoformat()
    assert groups("day") == {yesterday: 0.5, today: 2.5}
    assert groups("day", since=today) == {today: 2.5}
    assert groups("project") == {"q": 2.0, "p": 1.0, None: None}
    assert groups("agent") == {"x": 1.0, None: 2.0}
    assert groups("model") == {"large": 2.0, "small": 1.0, "nobody-knows": None}


def test_a_run_is_deleted_with_all_that_is_known_of_it(service) -> None:
    service.send("a", *[call(seq) for seq in range(1, 5)], model_call(9))
    service.send("b", call(1))
    assert service.client.delete("/v1/runs/a").status_code == 204
    assert service.client.get("/v1/runs/a").status_code == 404
    assert service.get("/v1/spending")["groups"] == []
    assert [run["run_id"] for run in service.get("/v1/runs")["runs"]] == ["b"]
    assert service.send("a", call(1))["verdict"]["action"] == "allow"
    assert service.get("/v1/audit", run_id="a")["entries"][0]["act"] == "delete"


def test_the_report_is_made_of_the_events(service) -> None:
    service.send("a", *[call(seq) for seq in range(1, 9)])
    answer = service.client.get("/v1/runs/a/report.html")
    assert answer.headers["content-type"].startswith("text/html")
    assert "ls 8 times in a row" in answer.text


def test_a_trace_is_checked(service) -> None:
    body = "\n".join(json.dumps(call(seq)) for seq in range(1, 9))
    answer = service.client.post("/v1/check", content=body)
    assert answer.json()["headline"] == "STUCK"


def test_secrets_are_masked_where_they_leave(service) -> None:
    secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"  # noqa: S105 - made up
    service.send("a", *[call(seq, args={"token": secret}) for seq in range(1, 5)])
    service.client.post("/v1/runs/a/stop", json={"reason": f"it has {secret}"})
    texts = [
        service.client.post("/v1/runs/a/check").text,
        service.client.get("/v1/runs").text,
        service.client.get("/v1/audit").text,
        service.client.get("/v1/runs/a/report.html").text,
    ]
    assert not [text for text in texts if secret in text]


def test_the_news_come_and_go_on_after_a_break(service) -> None:
    """Verdict, run and money are told; a reader who comes back gets what they missed."""
    with service.client.stream("GET", "/v1/stream") as answer:
        service.send("a", *[call(seq) for seq in range(1, 5)])
        news = read_news(answer, until="spend")
    assert news[0][1] == "begin"
    assert {kind for _, kind in news} >= {"verdict", "run", "spend"}
    with service.client.stream("GET", "/v1/stream", headers={"Last-Event-ID": news[0][0]}) as answer:
        assert read_news(answer, until="spend") == news[1:]
    with service.client.stream("GET", "/v1/stream", headers={"Last-Event-ID": "1-1"}) as answer:
        assert [kind for _, kind in read_news(answer, until="reset")] == ["reset"]


def test_who_comes_back_looks_anew_after_a_time_in_which_nobody_listened(service) -> None:
    """Rows of runs are told to readers alone, some times a second."""
    with service.client.stream("GET", "/v1/stream") as answer:
        ((latest_id, kind),) = read_news(answer, until="begin")
    assert kind == "begin"
    service.send("a", call(1))
    time.sleep(0.6)
    with service.client.stream("GET", "/v1/stream", headers={"Last-Event-ID": latest_id}) as answer:
        assert read_news(answer, until="reset run")


def read_news(answer: httpx.Response, *, until: str) -> list[tuple[str, str]]:
    """Number and kind of each, up to one of some kinds; what keeps the connection alive is passed over."""
    news, fields = [], {}
    deadline = time.monotonic() + 10
    for line in answer.iter_lines():
        assert time.monotonic() < deadline, news
        name, _, value = line.partition(": ")
        fields[name] = value
        if not line and "event" in fields:
            news.append((fields["id"], fields["event"]))
            if fields["event"] in until.split():
                break
            fields = {}
    return news


def test_the_document_of_the_api_reads_well(service) -> None:
    """Every route has a sentence, a tag and an answer for errors."""
    document = service.get("/openapi.json")
    routes = [route for path in document["paths"].values() for route in path.values()]
    assert len(routes) >= 12
    for route in routes:
        assert route["tags"]
        assert route["description"].split("\n")[0].endswith(".")
        assert "4XX" in route["responses"]
