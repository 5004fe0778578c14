"""Budgets that the runs of a service share: who is asked, who is ended, and what is told."""

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import httpx
import pytest

from ebbtide import ModelCall, Usage
from ebbtide.service.client import ServiceClient

FILE = """
[budgets]
store = "budgets.db"
lease_s = 1

[[budgets.limits]]
scope = "project"
name = "tight-*"
per = "day"
limit_usd = 2.0
soft_usd = 1.0
reserve_usd = 0.01

[[budgets.limits]]
scope = "user"
name = "ann"
limit_usd = 1.0
reserve_usd = 0.6
"""


@pytest.fixture(scope="module")
def bounded_service(start_shared):
    return start_shared("--budgets", "ebbtide.toml", files={"ebbtide.toml": FILE})


@pytest.fixture
def client(bounded_service) -> Iterator[ServiceClient]:
    with ServiceClient(bounded_service.url) as client:
        yield client


def spend(client: ServiceClient, run_id: str, usd: float, seq: int = 1, **names: str) -> None:
    client.before_model(run_id, project=names.get("project"), user=names.get("user"))
    client.add(run_id, [ModelCall(usage=Usage(cost_usd=usd), seq=seq)], **names)


def budget(client: ServiceClient, key: str) -> dict[str, Any]:
    return next(row for row in client.budgets() if row["key"].startswith(key))


def test_a_project_is_asked_then_ended(bounded_service, client: ServiceClient) -> None:
    """From the soft limit on each of its runs asks, until a person lets one go on; then all end."""
    for seq in range(1, 5):
        spend(client, "a", 0.3, seq, project="tight-1")
    for run_id in ("a", "b"):
        turn = client.before_model(run_id, project="tight-1")
        assert turn.ask is not None
        assert "the budget of project 'tight-1' has passed $1.00" in turn.ask.lower()
    assert client.before_model("c", project="roomy").refusal is None
    assert client.run("b")["action"] == "escalate"
    client.acknowledge("b", by="Ada")
    assert client.before_model("a").refusal is None
    client.add("a", [ModelCall(usage=Usage(cost_usd=0.6), seq=5)])
    for run_id in ("a", "b"):
        end = client.before_model(run_id).end
        assert end is not None
        assert "$1.80 of $2.00 spent today" in end
    row = budget(client, "project:tight-1:day")
    assert (row["spent_usd"], row["left_usd"], row["is_approved"]) == (1.8, 0.2, True)
    gauge = 'ebbtide_budget_usd{amount="left",name="tight-1",per="day",scope="project"} 0.2'
    assert gauge in bounded_service.client.get("/metrics").text
    assert row["projected_usd"] is None or row["projected_usd"] >= 1.8


def test_the_first_call_is_paid_by_who_is_named(client: ServiceClient) -> None:
    """Money is set aside before an event has said for whom the run works; what nobody settles comes back."""
    assert client.before_model("u1", agent="new", user="ann").refusal is None
    assert budget(client, "user:ann")["reserved_usd"] == 0.6
    assert (
        client.before_model("u2", agent="new", user="ann").end is None
    )  # what is left is enough for a call of unknown cost
    assert client.before_model("u3", agent="new", user="ann").end is not None
    assert client.before_model("u4", user="bob").end is None
    time.sleep(1.1)  # the lease
    assert client.before_model("u3", agent="new").end is None


def test_what_was_spent_outlives_a_kill(bounded_service) -> None:
    with ServiceClient(bounded_service.url) as client:
        for seq in range(1, 6):
            spend(client, "k", 0.3, seq, project="tight-2")
    bounded_service.kill()
    bounded_service.start()
    with ServiceClient(bounded_service.url) as client:
        assert budget(client, "project:tight-2:day")["spent_usd"] == 1.5
        # Whose it is stands in the database: nobody says it again.
        assert client.before_model("k").ask is not None
        spend(client, "k", 0.3, seq=1)
        assert budget(client, "project:tight-2:day")["spent_usd"] == 1.5
        groups = client.spending("project")
        assert {group["name"]: group["cost_usd"] for group in groups}["tight-2"] == 1.5


def test_budgets_that_cannot_be(start_shared) -> None:
    with pytest.raises(RuntimeError, match="expected at least one"):
        start_shared("--budgets", "b.toml", files={"b.toml": "[budgets]\nstore = 'x.db'\n"})


def test_a_kill_between_the_disk_and_the_budget(start_shared, wait_for) -> None:
    """A call that was on disk, and not yet charged, is charged at the next start, and once."""
    slow = FILE.replace("lease_s = 1\n", "lease_s = 60\n")
    service = start_shared("--budgets", "ebbtide.toml", files={"ebbtide.toml": slow})
    with ServiceClient(service.url) as client:
        spend(client, "k", 0.25, seq=1, project="tight-3")
        assert budget(client, "project:tight-3:day")["spent_usd"] == 0.25
    with closing(sqlite3.connect(service.folder / "budgets.db", isolation_level=None)) as others:
        others.execute("BEGIN EXCLUSIVE")  # the service waits here, between the two
        event = json.dumps({"seq": 2, "kind": "llm", "cost_usd": 0.5})
        sending = threading.Thread(target=_post, args=(f"{service.url}/v1/runs/k/events", event))
        sending.start()
        with closing(sqlite3.connect(service.file)) as runs:
            wait_for(lambda: runs.execute("SELECT count(*) FROM events").fetchone() == (2,))
        service.kill()
        sending.join()
        others.execute("ROLLBACK")
    for _ in range(3):
        service.start()
        with ServiceClient(service.url) as client:
            assert budget(client, "project:tight-3:day")["spent_usd"] == 0.75
            assert client.run("k")["cost_usd"] == 0.75
        service.kill()


def _post(url: str, body: str) -> None:
    with suppress(httpx.TransportError):
        httpx.post(url, content=body)
