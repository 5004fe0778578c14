"""The client against a real service."""

import threading
import time

import pytest

from ebbtide import ModelCall, ToolCall, Usage
from ebbtide.adapters.run_watch import RunWatch
from ebbtide.service.client import ServiceClient
from ebbtide.service.service_error import ServiceError
from ebbtide.supervision.ladder import Action


def calls(first: int, last: int) -> list[ToolCall]:
    return [
        ToolCall(name="ls", args={"path": "."}, result="a.txt", seq=seq) for seq in range(first, last + 1)
    ]


def test_a_run_from_its_first_event_to_its_end(empty_service) -> None:
    """Every verb of the client, as an agent and a person use it."""
    with ServiceClient(empty_service.url) as client:
        usage = Usage(model="small", cost_usd=0.5)
        client.add("a b-c", [ModelCall(usage=usage, seq=1)], project="p", agent="x")
        client.add("a", calls(1, 3), project="q")
        assert client.before_model("a").note
        assert client.record("a", *calls(4, 4)).action is Action.STOP
        assert client.before_model("a").end
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


@pytest.mark.parametrize("shadow", [False, True])
def test_an_adapter_takes_the_service_for_its_registry(empty_service, shadow: bool) -> None:
    """What it tells is there; the service ends the run, in the shadow only a person does; then it is over."""
    with ServiceClient(empty_service.url, project="p", agent="x", user="ann", shadow=shadow) as client:
        watch = RunWatch(runs=client)
        for _ in range(5):
            watch.record_tool_call("a", "ls", {"path": "."}, "a.txt")
        assert (watch.advise("a").end is None) is shadow
        watch.acknowledge("a")
        assert watch.advise("a").end is None
        client.stop("a", "enough")
        assert "enough" in (watch.advise("a").end or "")
        (standing,) = watch.runs.standing()
        assert (standing.run_id, standing.events, standing.ended) == ("a", 5, False)
        final = watch.end("a")
        assert final is not None
        assert (final.events, final.ended) == (5, True)
        run = client.run("a")
        assert (run["project"], run["agent"], run["ended"]) == ("p", "x", True)
        assert watch.faults == 0


@pytest.mark.filterwarnings("ignore:Ebbtide cannot watch")
def test_an_adapter_goes_on_where_the_service_is_away(service) -> None:
    with ServiceClient(service.url, timeout_s=0.5) as client:
        watch = RunWatch(runs=client)
        service.kill()
        watch.record_tool_call("a", "ls", {}, "a.txt")
        assert watch.advise("a").end is None
        assert watch.faults == 1  # the event waits for the service


def test_events_are_sent_again_after_a_break(service) -> None:
    """A service that comes back gets them; those that could count twice are not sent again."""
    with ServiceClient(service.url) as client:
        client.add("a", calls(1, 1))
        service.options = ("--port", service.url.rpartition(":")[2])
        service.kill()
        with pytest.raises(ServiceError):
            client.add("a", [ToolCall(name="ls", args={}, result="")])
        starter = threading.Timer(0.1, service.start)
        starter.start()
        try:
            deadline = time.monotonic() + 60
            while True:
                try:
                    client.add("a", calls(1, 2))
                    break
                except ServiceError:
                    assert time.monotonic() < deadline
        finally:  # what has not started yet could not be ended
            starter.join()
        assert client.run("a")["events"] == 2


def test_what_cannot_be_a_service_is_told() -> None:
    with pytest.raises(ValueError, match="expected http://HOST:PORT"):
        ServiceClient("localhost:8620")
    with pytest.raises(ServiceError, match="Connection"):
        ServiceClient("http://127.0.0.1:9", timeout_s=1).before_model("a")
