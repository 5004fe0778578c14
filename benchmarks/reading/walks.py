"""The ways through the package that are recorded, each by an entrance that users have too."""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

from benchmarks.reading.recorder import Recorder, Recording

Walk = Callable[[Recorder, int], Recording]

_START_S: Final = 60.0  # that a service may take until it answers
_SETTLED_S: Final = 1.0  # after which a span is in its run, and written
_DECISION: Final = "Use SQLite for the queue because a single writer needs no server, instead of Redis [{}]"
_ROUND: Final = (
    "The import takes {0} minutes because each row is committed alone. We should commit in groups of {0}. "
    "Next: measure it with {0} rows. Is the index needed meanwhile?"
)


def session(recorder: Recorder, turn: int) -> Recording:
    """`ebbtide check` of a session of Claude Code of 13 lines, to the text on the screen."""
    del turn
    path = Path("session.jsonl")
    path.write_text("\n".join(map(json.dumps, _session_lines())) + "\n", encoding="utf-8")
    if len(path.read_text(encoding="utf-8").splitlines()) != 13:
        raise SystemExit("the session no longer has 13 lines")
    with recorder.recording() as recording:
        screen = _command("check", str(path))
    if "session.jsonl" not in screen:
        raise SystemExit(f"the session was not shown: {screen[:300]}")
    return recording


def tool_call(recorder: Recorder, turn: int) -> Recording:
    """A call of a tool, new in every respect, in a `Supervisor` that has seen ten."""
    import ebbtide

    run = ebbtide.Supervisor()
    for number in range(10):
        run.record(_tool_call(number))
        run.check_before_model()
    event = _tool_call(10 + turn)
    with recorder.recording() as recording:
        run.record(event)
    return recording


def model_round(recorder: Recorder, turn: int) -> Recording:
    """A round, from its text of four sentences to the next check, in a `Supervisor` that has seen four."""
    import ebbtide

    run = ebbtide.Supervisor()
    for number in range(1, 5):
        run.record(ebbtide.Round.from_text(_ROUND.format(number), number=number, agent="planner"))
        run.check_before_model()
    with recorder.recording() as recording:
        run.record(ebbtide.Round.from_text(_ROUND.format(40 + turn), number=5, agent="planner"))
        run.check_before_model()
    return recording


def claim(recorder: Recorder, turn: int) -> Recording:
    """A claim, as the only sentence of a round, in a `ConvergenceMeter` that has seen four rounds."""
    import ebbtide

    meter = ebbtide.ConvergenceMeter()
    for number in range(1, 5):
        meter.update(ebbtide.Round.from_text(_ROUND.format(number), number=number))
    text = f"The cache holds {60 + turn} entries because the keys name the tenant."
    with recorder.recording() as recording:
        meter.update(ebbtide.Round.from_text(text, number=5))
    return recording


def decision(recorder: Recorder, turn: int) -> Recording:
    """A decision, through the gate, into a log in SQLite that has ten."""
    import ebbtide

    subject = _DECISION.format(100 + turn)
    with ebbtide.DecisionLog.open(f"log-{turn}.db") as log:
        work = ebbtide.Deliberation(log)
        for number in range(10):
            work.record_decision(_DECISION.format(number), agent_id="coder", session=f"s{number}")
        before = log.counts().kept
        with recorder.recording(subject) as recording:
            work.record_decision(subject, agent_id="coder", session="s")
        if log.counts().kept != before + 1:
            raise SystemExit(f"the decision was not kept: {work.last}")
    return recording


def service_event(turns: int) -> list[Recording]:
    """An event and a check of a run that the service knows, over HTTP: from the request to the answer."""

    def ask(recorder: Recorder, call: _Call, turn: int) -> Recording:
        path = f"/v1/runs/run-{turn}"
        for number in range(10):
            call("POST", f"{path}/events", _service_event(number))
            call("POST", f"{path}/check", b"")
        with recorder.recording() as recording:
            call("POST", f"{path}/events", _service_event(10))
            call("POST", f"{path}/check", b"")
        return recording

    return _served(ask, turns)


def hook_call(turns: int) -> list[Recording]:
    """A hook of Claude Code whose answer has a note, in the service that the hooks start."""

    def ask(recorder: Recorder, call: _Call, turn: int) -> Recording:
        for number in range(20):
            with recorder.recording() as recording:
                answer = call("POST", "/hooks/claude", _hook_event(f"session-{turn}", number))
            if json.loads(answer):
                return recording
        raise SystemExit("twenty equal calls, and no note")

    return _hooks_served(ask, turns)


def span(turns: int) -> list[Recording]:
    """A span of a tool, by OTLP as JSON, into a run of which ten spans are known, until it is written."""

    def ask(recorder: Recorder, call: _Call, turn: int) -> Recording:
        for number in range(10):
            call("POST", "/v1/traces", _export(turn, number))
        time.sleep(_SETTLED_S)
        before = _events_of(call)
        with recorder.recording() as recording:
            call("POST", "/v1/traces", _export(turn, 10))
            time.sleep(_SETTLED_S)
        if _events_of(call) != before + 1:
            raise SystemExit("the span is in no run")
        return recording

    return _served(ask, turns)


_Call = Callable[[str, str, bytes], bytes]
_Ask = Callable[[Recorder, _Call, int], Recording]


def _inside(walk: Walk) -> Callable[[int], list[Recording]]:
    """Records a walk in this thread; the first turn makes everything warm."""

    def record(turns: int) -> list[Recording]:
        recorder = Recorder()
        try:
            return [walk(recorder, turn) for turn in range(turns + 1)][1:]
        finally:
            recorder.stop()

    return record


#: The walks, in the order of the table: what it is, and how it is recorded so many times.
WALKS: Final[dict[str, tuple[str, Callable[[int], list[Recording]]]]] = {
    "session": ("a session of 13 lines, to the screen", _inside(session)),
    "tool_call": ("a tool call in a warm `Supervisor`", _inside(tool_call)),
    "round": ("a round in a warm `Supervisor`", _inside(model_round)),
    "claim": ("a claim in a warm `ConvergenceMeter`", _inside(claim)),
    "decision": ("a decision into a warm log", _inside(decision)),
    "service_event": ("an event and a check in the service", service_event),
    "hook_call": ("a hook call with a note", hook_call),
    "span": ("a span by OTLP into the service", span),
}


def recordings(name: str, turns: int) -> list[Recording]:
    """Records a walk so many times, in a folder of its own; the process is not to be used for another.

    Args:
        name: A key of `WALKS`.
        turns: How often.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ |= {
            "EBBTIDE_STATE": str(Path(folder, "state")),
            "HOME": folder,
            "XDG_CONFIG_HOME": folder,
            "COLUMNS": "100",
        }
        return WALKS[name][1](turns)


def _command(*arguments: str) -> str:
    """Runs `ebbtide` with these arguments in this process; its standard output."""
    screen = io.StringIO()
    before = sys.argv
    sys.argv = ["ebbtide", *arguments]
    try:
        with contextlib.redirect_stdout(screen), contextlib.suppress(SystemExit):
            runpy.run_module("ebbtide", run_name="__main__")
    finally:
        sys.argv = before
    return screen.getvalue()


def _served(ask: _Ask, turns: int) -> list[Recording]:
    """Records what is asked of `ebbtide serve`, which runs in this process."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    line = ["serve", "--port", str(port), "--db", "runs.db", "--no-sessions", "--span-wait", "0"]
    return _asked(line, partial(_http, lambda: (port, {})), "/v1/runs", ask, turns)


def _hooks_served(ask: _Ask, turns: int) -> list[Recording]:
    """Records what is asked of `ebbtide hooks serve`, which runs in this process."""
    address = Path(os.environ["EBBTIDE_STATE"], "service.json")

    def where() -> tuple[int, dict[str, str]]:
        value = json.loads(address.read_text(encoding="utf-8"))
        return value["port"], {"X-Ebbtide-Token": value["token"]}

    return _asked(["hooks", "serve"], partial(_http, where), "/status", ask, turns)


def _asked(line: list[str], call: _Call, path: str, ask: _Ask, turns: int) -> list[Recording]:
    """Runs a command that serves in this thread, and asks it in another, which ends it."""
    recorder = Recorder()
    results: list[Recording] = []
    faults: list[BaseException] = []

    def client() -> None:
        try:
            _wait_for(partial(call, "GET", path, b""))
            results.extend(ask(recorder, call, turn) for turn in range(turns + 1))
        except BaseException as fault:  # noqa: BLE001 - it is raised in the thread that is asked for it
            faults.append(fault)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=client)
    thread.start()
    try:
        _command(*line)
    finally:
        thread.join()
        recorder.stop()
    if faults:
        raise faults[0]
    return results[1:]


def _wait_for(probe: Callable[[], object]) -> None:
    deadline = time.monotonic() + _START_S
    while True:
        try:
            probe()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


def _http(where: Callable[[], tuple[int, dict[str, str]]], method: str, path: str, body: bytes) -> bytes:
    """The body of the answer to a request over a connection of its own."""
    port, head = where()
    connection = HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json", **head})
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    if answer.status != 200:
        raise SystemExit(f"{method} {path}: {answer.status} {content[:300]!r}")
    return content


def _session_lines() -> Iterator[dict[str, Any]]:
    """A session of Claude Code: a fault is found, mended and tried."""
    steps = [
        ("Read", {"file_path": "/app/sums.py"}, "def add(a, b):\n    return a - b\n", False),
        ("Bash", {"command": "pytest -q"}, "E  assert 1 == 3\n1 failed in 0.02s", True),
        ("Edit", {"file_path": "/app/sums.py", "old_string": "a - b", "new_string": "a + b"}, "done", False),
        ("Bash", {"command": "git diff --stat"}, " sums.py | 2 +-", False),
        ("Bash", {"command": "pytest -q"}, "1 passed in 0.01s", False),
    ]
    yield _line(0, "user", "Why does the sum of 1 and 2 come out as -1? Please mend it.")
    yield _line(1, "assistant", [{"type": "text", "text": "I will read the file first."}])
    for number, (name, arguments, answer, is_error) in enumerate(steps):
        call = {"type": "tool_use", "id": f"t{number}", "name": name, "input": arguments}
        yield _line(2 + 2 * number, "assistant", [call])
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": answer, "is_error": is_error}
        yield _line(3 + 2 * number, "user", [result])
    end = "The sign was wrong: I changed `a - b` to `a + b`, and the test passes now."
    yield _line(12, "assistant", [{"type": "text", "text": end}])


def _line(number: int, role: str, content: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": role, "content": content}
    if role == "assistant":
        usage = {"input_tokens": 10, "cache_read_input_tokens": 9000 + 100 * number, "output_tokens": 80}
        message |= {"id": f"m{number}", "model": "claude-sonnet-4-5", "usage": usage}
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "isSidechain": False,
        "sessionId": "s1",
        "cwd": "/app",
        "timestamp": f"2026-03-01T10:00:{4 * number:02}.000Z",
        "message": message,
    }


def _tool_call(number: int) -> Any:
    import ebbtide

    return ebbtide.ToolCall(
        name="read_file",
        args={"path": f"src/part_{number}.py"},
        result=f"total = {number}\nreturn total * {number + 7}",
    )


def _service_event(number: int) -> bytes:
    event = {
        "seq": number + 1,
        "kind": "tool",
        "name": "read",
        "args": {"path": f"/src/{number}.py"},
        "result": f"total = {number}\n" * 10,
    }
    return json.dumps(event).encode()


def _hook_event(session_id: str, number: int) -> bytes:
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": f"t{number}"}
    event = {
        "session_id": session_id,
        "cwd": "/app",
        "hook_event_name": "PostToolBatch",
        "tool_calls": [{**call, "tool_response": "none"}],
    }
    return json.dumps(event).encode()


def _export(trace: int, number: int) -> bytes:
    """One span of a tool as OTLP has it in JSON."""
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read_file",
        "gen_ai.tool.call.arguments": json.dumps({"path": f"src/part_{number}.py"}),
        "gen_ai.tool.call.result": f"total = {number}",
    }
    start = 1_790_000_000 + number
    value = {
        "traceId": f"{trace + 1:032x}",
        "spanId": f"{16 * (trace + 1) + number:016x}",
        "parentSpanId": "f" * 16,
        "name": "execute_tool read_file",
        "kind": 1,
        "startTimeUnixNano": str(start * 10**9),
        "endTimeUnixNano": str(start * 10**9 + 5 * 10**8),
        "attributes": [{"key": key, "value": {"stringValue": text}} for key, text in attributes.items()],
    }
    scope = {"scope": {"name": "my.agents"}, "spans": [value]}
    return json.dumps({"resourceSpans": [{"scopeSpans": [scope]}]}).encode()


def _events_of(call: _Call) -> int:
    """Events of all runs together."""
    runs = json.loads(call("GET", "/v1/runs?limit=1000", b""))["runs"]
    return sum(int(run["events"]) for run in runs)
