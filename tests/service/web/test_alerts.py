"""Alerts of a real service, to a real receiver and a real command."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ebbtide.errors import ConfigError
from ebbtide.service.alerts.alert_settings import AlertLevel, AlertSettings
from ebbtide.service.alerts.channels import AlertError, channels_of, post, run_command

KEY = "sk-ant-api03-" + "Ab1" * 30


class Receiver:
    """A webhook that keeps what it gets, and answers as it is told."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.statuses: list[int] = []  # of the next answers; then 200
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.messages.append(json.loads(body))
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
                self.send_header("Location", "http://127.0.0.1:9/")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


def loop(first: int = 1, last: int = 6, **fields: Any) -> list[dict[str, Any]]:
    call = {"kind": "tool", "name": "ls", "args": {}, "result": "a.txt", **fields}
    return [{"seq": seq, **call} for seq in range(first, last + 1)]


def test_a_run_is_told_once_whatever_happens(start, receiver: Receiver, wait_for) -> None:
    """Not again with further events, nor after a kill; again when a person had let it go on."""
    service = start("--alert-url", receiver.url)
    service.send("a&b", *loop(), agent="<coder>", project="billing")
    wait_for(lambda: receiver.messages)
    service.send("a&b", *loop(7, 12))
    service.kill()
    service.start()
    service.send("a&b", *loop(13, 20))
    service.send("other", *loop())
    wait_for(lambda: len(receiver.messages) > 1)
    first, second = receiver.messages
    assert first["text"].startswith("a&amp;b is stuck and to be ended: ls ")
    assert [block["type"] for block in first["blocks"]] == ["section", "context"]
    context = first["blocks"][1]["elements"][0]["text"]
    assert "&lt;coder&gt; · billing" in context
    assert "/runs/a%26b|open the run>" in context
    assert second["text"].startswith("other ")
    service.client.post("/v1/runs/other/acknowledge")
    service.send("other", *loop(21, 30, result="b.txt"))
    wait_for(lambda: len(receiver.messages) > 2)


def test_a_webhook_that_is_away_is_tried_again(start, receiver: Receiver, wait_for) -> None:
    """After an error and after a restart; a refusal for good is not repeated, and all of it is counted."""
    receiver.statuses = [503, 429]
    service = start("--alert-url", receiver.url)
    service.send("a", *loop())
    wait_for(lambda: receiver.messages)
    service.kill()  # while it waits for the second try
    service.start()
    wait_for(lambda: len(receiver.messages) == 3)
    assert {message["text"] for message in receiver.messages} == {receiver.messages[0]["text"]}
    receiver.statuses = [404]
    service.send("b", *loop())
    wait_for(lambda: len(receiver.messages) == 4)
    wait_for(lambda: service.get("/healthz")["faults"].get("alerts_url") == 2)
    wait_for(lambda: "ebbtide_alerts_waiting 0.0" in service.client.get("/metrics").text)
    assert 'ebbtide_alert_failures_total{channel="url"} 2.0' in service.client.get("/metrics").text
    assert len(receiver.messages) == 4


def test_nothing_waits_for_a_webhook(start) -> None:
    """One that takes the connection and never answers holds up no check."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        service = start("--alert-url", f"http://127.0.0.1:{silent.getsockname()[1]}/")
        for number in range(20):
            service.send(f"run-{number}", *loop())
        begin = time.monotonic()
        for number in range(20):
            assert service.check(f"run-{number}")["end"]
        assert service.end() == 0
        assert time.monotonic() - begin < 8


def test_the_clock_reports_a_wake_up_that_does_not_come(start, receiver: Receiver, wait_for) -> None:
    """No event has to come; a run that was heard of since, ended, or is woken up later, is not told of."""
    now = time.time()
    rest = {"kind": "tool", "name": "rest", "args": {}, "result": "Next wake-up in 60 s."}
    service = start("--alert-url", receiver.url)
    for run_id, asked_s in (
        ("asleep", 7_200),
        ("woken", 7_200),
        ("ended", 7_200),
        ("later", 600),
        ("old", 200_000),
    ):
        events = [{"seq": 1, **rest, "ts": now - asked_s}]
        if run_id == "woken":
            events.append({"seq": 2, "kind": "user", "text": "Look now.", "ts": now - 7_140})
        service.send(run_id, *events)
        if run_id == "ended":
            service.client.post("/v1/runs/ended/end")
    wait_for(lambda: receiver.messages)
    time.sleep(1.0)
    (message,) = receiver.messages
    assert message["text"].startswith(
        "asleep waits for a person: A wake-up that an agent asked for did not come"
    )


def test_a_command_gets_the_alert(start, tmp_path: Path, wait_for) -> None:
    """As JSON on its standard input, with secrets masked; settings come from the file of the project."""
    out = tmp_path / "alerts.jsonl"
    settings = tmp_path / "ebbtide.toml"
    settings.write_text(
        f"[alerts]\ncommand = 'cat >> {out}; echo >> {out}'\non = ['stop', 'silent']\n"
        "page = 'https://ebbtide.internal/'\n",
        encoding="utf-8",
    )
    service = start("--alerts", str(settings), "--silent-after", "1")
    service.send("a", *loop(), project=f"key {KEY}")
    service.send("quiet", *loop(1, 1))
    wait_for(lambda: out.exists() and out.read_text().count("\n") >= 2)
    alerts = [json.loads(line) for line in out.read_text().splitlines()]
    told = {(alert["run_id"], alert["level"]) for alert in alerts}
    assert told == {("a", "stop"), ("quiet", "silent")}
    assert KEY not in out.read_text()
    assert alerts[0]["link"].startswith("https://ebbtide.internal/runs/")
    time.sleep(1.5)
    assert len(out.read_text().splitlines()) == len(told)


BUDGETS = """
[budgets]
store = "memory"

[[budgets.limits]]
scope = "project"
limit_usd = 2.0
soft_usd = 1.0
"""


def test_a_budget_is_told_apart(
    start, receiver: Receiver, tmp_path: Path, wait_for, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From where a person is asked; a loop is none of it."""
    (tmp_path / "ebbtide.toml").write_text(f"{BUDGETS}\n[alerts]\non = ['budget']\n", encoding="utf-8")
    monkeypatch.setenv("EBBTIDE_CONFIG", "ebbtide.toml")
    service = start("--alert-url", receiver.url)
    service.send("loops", *loop(), project="free")
    call = {"kind": "llm", "model": "m", "input_tokens": 1, "output_tokens": 1, "cost_usd": 1.1}
    service.send("a", {"seq": 1, **call}, project="billing")
    assert service.check("a")["ask"]
    wait_for(lambda: receiver.messages)
    assert receiver.messages[0]["text"].startswith(
        "a comes to the end of its budget: The budget of project 'billing'"
    )
    assert {message["text"].split()[0] for message in receiver.messages} == {"a"}


def test_a_person_who_stops_a_run_is_not_told_of_it(start, receiver: Receiver, wait_for) -> None:
    service = start("--alert-url", receiver.url)
    service.send("a", *loop(1, 1))
    service.client.post("/v1/runs/a/stop")
    service.send("b", *loop())
    wait_for(lambda: receiver.messages)
    assert [message["text"].split()[0] for message in receiver.messages] == ["b"]


def test_a_command_is_ended_with_all_that_it_has_started(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with pytest.raises(AlertError, match=r"more than 0\.3 s"):
        run_command(f"(sleep 1; touch {mark}) & wait", {}, timeout_s=0.3)
    with pytest.raises(AlertError, match="exit code 3"):
        run_command("exit 3", {"a": 1})
    time.sleep(1.2)
    assert not mark.exists()


@pytest.mark.parametrize(("status", "is_final"), [(500, False), (429, False), (404, True), (302, True)])
def test_what_a_webhook_refuses(receiver: Receiver, status: int, is_final: bool) -> None:
    """What it refuses for good is not tried again, and nobody else gets it."""
    receiver.statuses = [status]
    with pytest.raises(AlertError, match=f"answers {status}") as error:
        post(receiver.url, {})
    assert error.value.is_final is is_final


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("url = 'slack.com/secret'", r"alerts\.url: expected an address"),
        ("urls = []", "did you mean url"),
        ("url = 7", r"alerts\.url: expected a text"),
        ("on = ['stuck']", "expected some of stop, escalate, silent, budget"),
        ("on = 'stop'", "expected some of"),
        ("on = [[]]", "expected some of"),
    ],
)
def test_settings_that_cannot_be(tmp_path: Path, text: str, words: str) -> None:
    """Each error names the file and says what is expected; the address of a webhook is a secret."""
    file = tmp_path / "ebbtide.toml"
    file.write_text(f"[alerts]\n{text}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=words) as error:
        AlertSettings.read(str(file))
    assert "ebbtide.toml" in str(error.value)
    assert "secret" not in str(error.value)


def test_arguments_win_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "alerts.toml"
    file.write_text("url = 'https://a.example/x'\non = ['budget']\n", encoding="utf-8")
    settings = AlertSettings.read(str(file), command="true")
    assert [channel.name for channel in channels_of(settings)] == ["url", "command"]
    assert settings.on == {AlertLevel.BUDGET}
    assert AlertSettings.read(str(file), url="https://b.example").url == "https://b.example"
    assert channels_of(AlertSettings.read(None)) == ()


def test_a_receiver_of_traces_gets_verdicts_as_evaluations(
    start, receiver: Receiver, tmp_path: Path, wait_for
) -> None:
    """In the trace that they are about, or beside the conversation; the end of a run says how it went."""
    file = tmp_path / "alerts.toml"
    file.write_text(f'[alerts]\notlp = "{receiver.url}"\non = ["stop", "end"]\n')
    service = start("--alerts", str(file))
    trace = "0af7651916cd43dd8448eb211c80319c"
    service.send(trace, *loop(), agent="coder", project="billing")
    wait_for(lambda: receiver.messages)
    service.send("chat 7", *loop(last=1))
    service.client.post("/v1/runs/chat%207/end")
    wait_for(lambda: len(receiver.messages) == 2)
    exports = [ParseDict(message, ExportTraceServiceRequest()) for message in receiver.messages]
    spans = [export.resource_spans[0].scope_spans[0].spans[0] for export in exports]
    stop, end = ({item.key: item.value.string_value for item in span.attributes} for span in spans)
    assert receiver.messages[0]["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] == trace
    assert stop["gen_ai.evaluation.score.label"] == "STUCK"
    assert stop["gen_ai.evaluation.explanation"].startswith("ls ")
    assert (stop["gen_ai.agent.name"], stop["ebbtide.project"]) == ("coder", "billing")
    assert (end["gen_ai.conversation.id"], end["ebbtide.level"]) == ("chat 7", "end")
    assert "HEALTHY" in end["gen_ai.evaluation.score.label"]
    assert [event.name for span in spans for event in span.events] == ["gen_ai.evaluation.result"] * 2
