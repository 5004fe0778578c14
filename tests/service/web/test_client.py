"""The client against a real service."""

import threading
import time

import pytest

from ebbtide import ModelCall, ToolCall, Usage
from ebbtide.service.client import ServiceClient, ServiceError
from ebbtide.supervision.ladder import Action


def calls(first: int, last: int) -> list[ToolCall]:
    return [
        ToolCall(name="ls", args={"path": "."}, result="a.txt", seq=seq) for seq in range(first, last + 1)
    ]


def test_a_run_from_its_first_event_to_its_end(service) -> None:
    """Every verb of the client, as an agent and a person use it."""
    with ServiceClient(service.url) as client:
        usage = Usage(model="small", cost_usd=0.5)
        client.add("a b-c", [ModelCall(usage=usage, seq=1)], project="p", agent="x")
        client.add("a", calls(1, 3), project="q")
        assert client.check("a").note
        assert client.add("a", calls(4, 4)).action is Action.STOP
        assert client.check("a").end
        assert client.acknowledge("a", by="Ada").action is Action.ALLOW
        assert client.stop("a", "enough", by="Ada").reason == "A person ended the run: enough."
        assert client.extend("a", 3).action is Action.ALLOW
        assert client.run("a")["events"] == 4
        assert [run["run_id"] for run in client.runs(limit=1)] == ["a", "a b-c"]
        assert client.spending("project", since="1d")[0]["cost_usd"] == 0.5
        client.delete("a")
        with pytest.raises(ServiceError, match="no such run") as error:
            client.run("a")
        assert error.value.status == 404


def test_events_are_sent_again_after_a_break(service) -> None:
    """A service that comes back gets them; those that could count twice are not sent again."""
    client = ServiceClient(service.url)
    client.add("a", calls(1, 1))
    port = service.url.rpartition(":")[2]
    service.options = ("--port", port)
    service.kill()
    with pytest.raises(ServiceError):
        client.add("a", [ToolCall(name="ls", args={}, result="")])
    starter = threading.Timer(0.1, service.start)
    starter.start()
    deadline = time.monotonic() + 10
    while True:
        try:
            client.add("a", calls(1, 2))
            break
        except ServiceError:
            assert time.monotonic() < deadline
    starter.join()
    assert client.run("a")["events"] == 2
    client.close()


def test_what_cannot_be_a_service_is_told() -> None:
    with pytest.raises(ValueError, match="expected http://HOST:PORT"):
        ServiceClient("localhost:8620")
    with pytest.raises(ServiceError, match="Connection"):
        ServiceClient("http://127.0.0.1:9", timeout_s=1).check("a")
