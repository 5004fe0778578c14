"""Events of OpenHands, V0 and V1."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.events.event import Event, ModelCall, Notice, NoticeKind, ToolCall, title
from ebbtide.events.usage import Usage
from ebbtide.traces.agents.openhands import conversation_lines, is_conversation
from ebbtide.traces.agents.sniffing import OPENHANDS_EVENT
from ebbtide.traces.input.record_sign import is_like
from ebbtide.traces.reading import Trace, open_trace


def test_v1_calls(calls: Callable[..., list[Event]]) -> None:
    """Actions have their observations by id; an error event and an exit code mark failures."""
    tools = [call for call in calls("openhands_v1.jsonl", form="openhands") if isinstance(call, ToolCall)]
    assert [(call.name, call.result, call.error, call.batch) for call in tools] == [
        ("terminal", "not found", True, "r1"),
        ("file_editor", "Invalid path.", True, "r1"),
        ("terminal", None, False, "r2"),
    ]
    assert [call.args for call in tools[1:]] == [{"command": "view", "path": "a.py"}, "not json"]


def test_v1_statistics_grow(calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]) -> None:
    """The last statistics are the sums, over all models of the run."""
    assert totals(calls("openhands_v1.jsonl", form="openhands")) == {
        "tool": 3,
        "llm": 3,
        "user": 1,
        "input_tokens": 2500 - 1400 - 100 + 300,
        "output_tokens": 100,
        "cache_read_tokens": 1400,
        "cache_write_tokens": 100,
        "cost_usd": 0.3,
    }


def test_v0(calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]) -> None:
    """Observations name their cause; costs grow over the run, and tokens are those of each answer."""
    found = calls("openhands_v0.json", form="openhands")
    assert totals(found) == {
        "tool": 3,
        "llm": 3,
        "user": 1,
        "input_tokens": 500 + 1200,
        "output_tokens": 70,
        "cache_read_tokens": 300,
        "cache_write_tokens": 200,
        "cost_usd": 0.06,
    }
    tools = [call for call in found if isinstance(call, ToolCall)]
    assert [(call.name, call.args, call.result, call.error) for call in tools] == [
        ("execute_bash", {"command": "ls"}, "a.py", False),
        ("execute_bash", {"command": "make"}, "no rule", True),
        ("finish", {"outputs": {}}, None, False),
    ]
    assert [call.text for call in found if isinstance(call, ModelCall)] == [
        "Look around.",
        "",
        "There is no Makefile.",
    ]


def test_runs_of_an_evaluation_are_chains(samples: Path, read_data: Callable[..., Any]) -> None:
    """A line with a whole history is a chain of its own; its metrics are totals."""
    history = json.loads((samples / "openhands_v0.json").read_text())
    lines = [
        {"instance_id": name, "history": history, "metrics": {"accumulated_cost": cost}}
        for name, cost in (("one", 0.06), ("two", 0.1))
    ]
    trace, events = read_data("\n".join(map(json.dumps, lines)).encode())
    costs = {
        name: sum((call.usage or Usage()).cost_usd or 0 for call in events if call.chain_id == name)
        for name in ("one", "two")
    }
    assert costs == {"one": pytest.approx(0.06), "two": pytest.approx(0.1)}
    assert trace.duplicates == 2


def test_one_run_alone_has_its_metrics_too(samples: Path, read_data: Callable[..., Any]) -> None:
    """A file with one run is one JSON value: what its metrics have beyond its events counts."""
    run = {
        "history": json.loads((samples / "openhands_v0.json").read_text()),
        "metrics": {"accumulated_cost": 0.5},
    }
    for indent in (None, 1):
        _, events = read_data(json.dumps(run, indent=indent).encode())
        assert sum((call.usage or Usage()).cost_usd or 0 for call in events) == pytest.approx(0.5)
        assert sum(isinstance(call, ToolCall) for call in events) == 3


def test_pairs_of_early_evaluations(read_data: Callable[..., Any]) -> None:
    """An action and its observation stand together; without ids the place tells what belongs together."""
    pairs = [
        [
            {"source": "agent", "action": "run", "args": {"command": command, "thought": command}},
            {"source": "environment", "observation": "run", "content": result, "extras": {"exit_code": code}},
        ]
        for command, result, code in (("ls", "a.py", 0), ("make", "no rule", 2))
    ]
    usages = [{"prompt_tokens": 10, "completion_tokens": 2}, {"prompt_tokens": 20, "completion_tokens": 3}]
    metrics = {"accumulated_cost": 0.1, "token_usages": usages}
    line = {"instance_id": "one", "history": pairs, "metrics": metrics}
    _, events = read_data("\n".join([json.dumps(line), json.dumps({**line, "instance_id": "two"})]).encode())
    tools = [(call.args["command"], call.result, call.error) for call in events if isinstance(call, ToolCall)]
    assert tools == [("ls", "a.py", False), ("make", "no rule", True)] * 2
    used = [
        (call.chain_id, (call.usage or Usage()).input_tokens, (call.usage or Usage()).output_tokens)
        for call in events
        if title(call) == "total"
    ]
    assert used == [("one", 30, 5), ("two", 30, 5)]


def test_the_answer_of_a_delegate(read_data: Callable[..., Any]) -> None:
    """It names the call of the model, and no cause."""
    asked = {"function_name": "delegate", "tool_call_id": "t1", "model_response": {"id": "r1"}}
    other = {"function_name": "execute_bash", "tool_call_id": "t2", "model_response": {"id": "r2"}}
    events = [
        {
            "id": 1,
            "source": "agent",
            "action": "delegate",
            "args": {"agent": "Browser"},
            "tool_call_metadata": asked,
        },
        {"id": 2, "source": "agent", "action": "run", "args": {"command": "ls"}, "tool_call_metadata": other},
        {"id": 3, "source": "environment", "observation": "run", "content": "a", "cause": 2, "extras": {}},
        {
            "id": 4,
            "source": "agent",
            "observation": "delegate",
            "content": "found",
            "tool_call_metadata": asked,
        },
    ]
    _, found = read_data("\n".join(map(json.dumps, events)).encode())
    assert [(call.name, call.result) for call in found if isinstance(call, ToolCall)] == [
        ("execute_bash", "a"),
        ("delegate", "found"),
    ]


def v1(kind: str, **fields: Any) -> dict[str, Any]:
    """An event of V1."""
    return {"kind": kind, "timestamp": "2026-01-01T10:00:00", **fields}


def test_v1_metrics_of_early_versions(read_data: Callable[..., Any]) -> None:
    """The last action of an answer carries the totals so far."""

    def metrics(prompt: int, cost: float) -> dict[str, Any]:
        usage = {"prompt_tokens": prompt, "completion_tokens": 1, "cache_read_tokens": 0}
        return {"accumulated_cost": cost, "accumulated_token_usage": usage}

    call = {"source": "agent", "tool_name": "bash", "action": {"command": "ls"}, "llm_response_id": "r1"}
    events = [
        v1("ActionEvent", id="a", tool_call_id="c1", thought=[], **call),
        v1("ActionEvent", id="b", tool_call_id="c2", thought=[], **call, metrics=metrics(100, 0.25)),
        v1(
            "MessageEvent",
            id="c",
            source="agent",
            llm_message={"content": "Done."},
            metrics=metrics(300, 0.75),
        ),
    ]
    _, found = read_data("\n".join(map(json.dumps, events)).encode())
    used = [
        (type(call), (call.usage or Usage()).input_tokens, (call.usage or Usage()).cost_usd)
        for call in found
        if not isinstance(call, ToolCall)
    ]
    assert used == [(ModelCall, None, None), (Notice, 100, 0.25), (ModelCall, 200, 0.5)]


def test_v1_uses_of_models_grow_apart(read_data: Callable[..., Any]) -> None:
    """Each use of a model has totals of its own, and its name."""

    def stats(**prompts: int) -> dict[str, Any]:
        uses = {
            use: {"model_name": f"m-{use}", "accumulated_token_usage": {"prompt_tokens": prompt}}
            for use, prompt in prompts.items()
        }
        return v1("ConversationStateUpdateEvent", key="stats", value={"usage_to_metrics": uses})

    events = [stats(agent=100), stats(agent=100, condenser=40), stats(agent=150, condenser=40)]
    _, found = read_data("\n".join(map(json.dumps, events)).encode())
    assert [((call.usage or Usage()).model, (call.usage or Usage()).input_tokens) for call in found] == [
        ("m-agent", 100),
        ("m-condenser", 40),
        ("m-agent", 50),
    ]


def test_v1_calls_of_agents_that_it_drives(read_data: Callable[..., Any]) -> None:
    """A call is told of whenever more is known of it, and counts once."""
    read = {"tool_call_id": "c1", "title": "Read a.py", "tool_kind": "read", "raw_input": {"path": "a.py"}}
    bash = {"tool_call_id": "c2", "title": "ls", "raw_input": None}
    events = [
        v1("ACPToolCallEvent", id="1", status="pending", **read),
        v1("ACPToolCallEvent", id="2", status="in_progress", **read),
        v1("ACPToolCallEvent", id="3", status="failed", raw_output="no such file", is_error=True, **bash),
        v1("ACPToolCallEvent", id="4", status="completed", raw_output="x = 1", **read),
    ]
    _, found = read_data("\n".join(map(json.dumps, events)).encode())
    assert [(title(call), call.args, call.result, call.error) for call in found] == [
        ("ls", None, "no such file", True),
        ("Read a.py", {"path": "a.py"}, "x = 1", False),
    ]


@pytest.mark.parametrize(
    ("observation", "result", "error"),
    [
        ({"content": [{"type": "text", "text": ""}], "exit_code": 0}, "", False),
        ({"content": [{"type": "text", "text": "no"}], "metadata": {"exit_code": 1}}, "no", True),
        ({"output": "yes", "exit_code": -1}, "yes", False),
        ({"path": "a.py", "kind": "FileEditorObservation"}, {"path": "a.py"}, False),
        ({"content": [{"type": "text", "text": "bad"}], "is_error": True}, "bad", True),
    ],
)  # fmt: skip
def test_v1_observations(
    observation: dict[str, Any], result: object, error: bool, read_data: Callable[..., Any]
) -> None:
    """What was observed is its text, also an empty one, or all that is told of it."""
    call = {"tool_name": "x", "tool_call_id": "c1"}
    events = [
        v1("ActionEvent", id="a", thought=[], llm_response_id="r", source="agent", **call),
        v1("ObservationEvent", id="b", observation=observation, **call),
    ]
    _, (_, found) = read_data("\n".join(map(json.dumps, events)).encode())
    assert (found.result, found.error) == (result, error)


def test_a_folder_with_one_event_a_file(tmp_path: Path) -> None:
    """Events come by the numbers of their files, and the state tells what they cost."""
    events = tmp_path / "events"
    events.mkdir()
    call = {"tool_name": "bash", "tool_call_id": "c1", "llm_response_id": "r1", "source": "agent"}
    answer = {
        "tool_name": "bash",
        "tool_call_id": "c1",
        "observation": {"content": [{"type": "text", "text": "a"}]},
    }
    said = {"source": "user", "llm_message": {"content": [{"type": "text", "text": "Go."}]}}
    for number, event in (
        (10, v1("ObservationEvent", id="3", **answer)),
        (9, v1("ActionEvent", id="2", thought=[], **call)),
        (1, v1("MessageEvent", id="1", **said)),
    ):
        (events / f"event-{number:05}-{number}abc.json").write_text(json.dumps(event, indent=1))
    metrics = {"accumulated_cost": 0.25, "accumulated_token_usage": {"prompt_tokens": 9}}
    state = {"stats": {"usage_to_metrics": {"agent": metrics}}}
    (tmp_path / "base_state.json").write_text(json.dumps(state, indent=1))
    for folder in (tmp_path, events):
        assert is_conversation(folder)
        trace = Trace.of(conversation_lines(folder))
        assert [
            (title(call), getattr(call, "text", None), getattr(call, "result", None))
            for call in trace
            if isinstance(call, Event)
        ] == [
            ("message", "Go.", None),
            ("message", "", None),
            ("bash", None, "a"),
            ("usage", None, None),
        ]
        assert (trace.format.name, trace.fault_count) == ("openhands", 0)


def test_events_of_v0_stand_in_numbered_files(samples: Path, tmp_path: Path) -> None:
    """They are the same run as in one file; other numbered files are no conversation."""
    written = json.loads((samples / "openhands_v0.json").read_text())
    for number, event in enumerate(written):
        (tmp_path / f"{number}.json").write_text(json.dumps(event))
    assert is_conversation(tmp_path)
    assert list(Trace.of(conversation_lines(tmp_path))) == list(open_trace(samples / "openhands_v0.json"))
    (tmp_path / "0.json").write_text("[]")
    assert not is_conversation(tmp_path)
    assert not is_conversation(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("event", "is_event"),
    [
        ({"action": "run", "source": "agent", "args": {"command": "ls"}}, True),
        ({"action": "message", "source": "user", "message": "Hi"}, True),
        ({"action": "run", "source": "agent"}, False),
        ({"action": "run", "args": {}, "message": ""}, False),
        ({"observation": "run", "source": "agent", "content": "a b"}, True),
        ({"observation": "run", "source": "agent", "extras": {}}, True),
        ({"observation": "run", "source": "agent"}, False),
        ({"observation": "run", "content": "a b", "extras": {}}, False),
        ({"kind": "CondensationRequest"}, True),
        ({"kind": "request", "source": "agent", "content": ""}, False),
        (["run"], False),
    ],
)
def test_what_an_event_is_known_by(event: object, is_event: bool) -> None:
    """V0 has a source, and arguments, a message, content or extras; V1 a kind of its own."""
    assert is_like(event, OPENHANDS_EVENT) is is_event


def test_v1_condensations_are_compactions(read_data: Callable[..., Any]) -> None:
    """What was forgotten is a notice; that it is asked for, and its summary, are none."""
    kinds = ("CondensationRequest", "Condensation", "CondensationSummaryEvent")
    _, events = read_data("\n".join(json.dumps(v1(kind, id=kind)) for kind in kinds).encode())
    assert [event.kind for event in events if isinstance(event, Notice)] == [NoticeKind.COMPACTION]
