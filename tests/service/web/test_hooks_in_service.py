"""The hooks of coding agents report to the service while it runs, and its people can end their runs."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ebbtide.service.hooks import hook_client


@pytest.fixture
def service(empty_service):
    return empty_service


@pytest.fixture
def hook(service, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EBBTIDE_STATE", service.environment["EBBTIDE_STATE"])

    def ask(number: int, *, result: str = "none") -> dict[str, Any]:
        call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": f"t{number}"}
        event = {
            "session_id": "s",
            "hook_event_name": "PostToolBatch",
            "transcript_path": "gone.jsonl",
            "cwd": "/srv/ann/invoices",
            "tool_calls": [{**call, "tool_response": result}],
        }
        body = json.dumps(event).encode()
        content = hook_client.exchange("POST", "/hooks/claude", body, time.monotonic() + 5)
        assert content is not None
        return json.loads(content)

    return ask


def test_a_session_is_listed_and_ended_by_a_person(service, hook) -> None:
    """Its run stands in the list, and a stop ends it at its next hook, although the hooks may not stop it."""
    wait_for(Path(service.environment["EBBTIDE_STATE"]) / "service.json")
    hook(1, result="a")
    (run,) = service.get("/v1/runs")["runs"]
    assert (run["run_id"], run["agent"], run["source"], run["events"]) == ("claude:s", "claude", "hooks", 1)
    assert run["project"] == "/srv/ann/invoices"
    assert service.client.post("/v1/runs/claude:s/stop", json={"reason": "enough"}).status_code == 200
    answer = hook(2, result="b")
    assert answer["continue"] is False
    assert "enough" in answer["stopReason"]


def test_the_service_takes_over_from_the_one_that_hooks_have_started(start, tmp_path) -> None:
    environment = {**os.environ, "EBBTIDE_STATE": str(tmp_path / "state")}
    line = [sys.executable, "-m", "ebbtide", "hooks", "serve"]
    small = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, encoding="utf-8")
    file = tmp_path / "state" / "service.json"
    wait_for(file)
    service = start()
    assert small.communicate(timeout=20)[0].startswith("the service has ended")
    wait_for(file)
    assert json.loads(file.read_text())["pid"] == service.process.pid
    assert service.end() == 0
    assert not file.exists()


def wait_for(file: Path) -> None:
    """A service writes its address as soon as it answers hooks."""
    deadline = time.monotonic() + 20
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
