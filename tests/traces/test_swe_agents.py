"""Trajectories of SWE-agent and of mini-swe-agent."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.events.event import Event, Message, ModelCall, Notice, ToolCall, title
from ebbtide.events.usage import Usage


def test_mini_swe_agent_with_calls(
    calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]
) -> None:
    """Commands have the output that names them; costs are those of the answers, and add up to the total."""
    found = calls("mini_swe_agent.json", form="mini-swe-agent")
    assert totals(found) == {
        "tool": 3,
        "llm": 2,
        "user": 1,
        "input_tokens": 200 + 600,
        "output_tokens": 60,
        "cache_read_tokens": 300,
        "cache_write_tokens": None,
        "cost_usd": 0.05,
    }
    tools = [call for call in found if isinstance(call, ToolCall)]
    assert [(call.result, call.error) for call in tools] == [
        ("a.py\n", False),
        ("no such file\n", True),
        ("diff", False),
    ]
    assert tools[0].batch == tools[1].batch != tools[2].batch


def test_mini_swe_agent_agrees_with_the_files(data: Path, calls: Any, totals: Any) -> None:
    """In messages alone, each code block of an answer is a command, and the next message is its output."""
    files = sorted((data / "traces" / "mini_swe_agent").glob("*.json"))
    assert files
    for path in files:
        messages = json.loads(path.read_text(encoding="utf-8"))
        answers = [item["content"] for item in messages if item["role"] == "assistant"]
        commands = [
            command
            for answer in answers
            for command in re.findall(r"```mswea_bash_command\n(.*?)\n```", answer, re.DOTALL)
        ]
        found = calls(path, form="mini-swe-agent")
        tools = [call for call in found if isinstance(call, ToolCall)]
        assert [call.text for call in found if isinstance(call, ModelCall)] == answers
        assert [call.args for call in tools] == [{"command": command} for command in commands]
        assert len([call for call in found if isinstance(call, Message)]) == 1
        outputs = [item["content"] for item in messages[3:] if item["role"] == "user"]
        assert [call.result or "" for call in tools] == outputs
        assert [call.error for call in tools] == ["<returncode>1<" in output for output in outputs]
        assert totals(found)["cost_usd"] is None


def test_swe_agent_agrees_with_the_file(data: Path, calls: Any, totals: Any) -> None:
    """A step is a thought and an action, named by its first word; the run's totals are its last event."""
    files = sorted((data / "traces" / "swe_agent").glob("*.traj"))
    assert files
    for path in files:
        wire = json.loads(path.read_text(encoding="utf-8"))
        if "trajectory" in wire:
            found = calls(path, form="swe-agent")
            steps = wire["trajectory"]
            pairs = [(step["action"], step["observation"]) for step in steps]
            stats = wire["info"]["model_stats"]
            counted = totals(found)
            assert counted["cost_usd"] == stats["instance_cost"]
            assert counted["input_tokens"] == stats["tokens_sent"]
            assert counted["output_tokens"] == stats["tokens_received"]
        else:
            found = calls(path, form="swe-agent-history")
            steps = [item for item in wire["history"] if item["role"] == "assistant"]
            outputs = [item["content"] for item in wire["history"] if item["role"] == "tool"]
            pairs = list(zip([step["action"] for step in steps], outputs, strict=True))
        tools = [call for call in found if isinstance(call, ToolCall)]
        assert [call.text for call in found if isinstance(call, ModelCall)] == [
            step["thought"] for step in steps
        ]
        assert [(call.args, call.result) for call in tools] == [
            ({"command": action}, output) for action, output in pairs
        ]
        assert [call.name for call in tools] == [action.split()[0] for action, _ in pairs]


@pytest.mark.parametrize("stats", [{"instance_cost": 1.5, "tokens_sent": 10, "tokens_received": 2}, {}])
def test_totals_without_steps(read_data: Callable[..., Any], stats: dict[str, Any]) -> None:
    """Totals that are not told give no event."""
    wire = {
        "trajectory": [{"action": "", "observation": "", "thought": "hm"}],
        "info": {"model_stats": stats},
    }
    _, events = read_data(json.dumps(wire).encode())
    assert [title(call) for call in events] == ["message", "total"][: 1 + bool(stats)]
    assert (events[-1].usage or Usage()).cost_usd == stats.get("instance_cost")


def _steps(*actions: str) -> list[dict[str, Any]]:
    return [{"action": action, "observation": "ok", "thought": f"Now {action}."} for action in actions]


@pytest.mark.parametrize("chosen", [True, False])
def test_attempts_are_chains(read_data: Callable[..., Any], chosen: bool) -> None:
    """The best attempt stands there twice; what all took together, or else each, is told at the end."""
    attempts = [
        {"trajectory": _steps("ls", "submit"), "info": {"model_stats": {"instance_cost": 0.25}}},
        {"trajectory": _steps("make"), "info": {"model_stats": {"instance_cost": 0.5}}},
    ]
    best = {**attempts[0], "info": {"model_stats": {"instance_cost": 0.875}}} if chosen else {}
    trace, events = read_data(json.dumps({"attempts": attempts, **best}).encode())
    assert trace.format.name == "swe-agent"
    tools = [(call.chain_id, call.name) for call in events if isinstance(call, ToolCall)]
    assert tools == [("attempt 1", "ls"), ("attempt 1", "submit"), ("attempt 2", "make")]
    assert sum((call.usage or Usage()).cost_usd or 0 for call in events) == (0.875 if chosen else 0.25 + 0.5)


def test_a_run_that_failed_before_its_first_step(read_data: Callable[..., Any]) -> None:
    """It has no steps, and is known by the rest."""
    wire = {"environment": "main", "trajectory": [], "history": [], "info": {"exit_status": None}}
    trace, events = read_data(json.dumps(wire).encode())
    assert (trace.format.name, events) == ("swe-agent", [])


def _usage(prompt: int, completion: int) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion}


def test_an_answer_that_could_not_be_parsed_was_paid_for(
    read_data: Callable[..., Any], totals: Callable[..., dict[str, Any]]
) -> None:
    """It stands in the complaint about it, in either interface's form; the costs add up to the total."""
    complaint = {"interrupt_type": "FormatError", "cost": 0.25}
    chat = {"model": "m", "choices": [{"message": {"content": "No call."}}], "usage": _usage(7, 2)}
    item = {"type": "message", "content": [{"type": "output_text", "text": "None either."}]}
    responses = {"object": "response", "model": "m", "output": [item]}
    responses["usage"] = {"input_tokens": 9, "output_tokens": 3}
    wire = {
        "trajectory_format": "mini-swe-agent-1.1",
        "info": {"model_stats": {"instance_cost": 0.75, "api_calls": 3}},
        "messages": [
            {"role": "user", "content": "Fix it."},
            {"role": "user", "content": "One call, please.", "extra": {**complaint, "response": chat}},
            {"role": "user", "content": "One!", "extra": {**complaint, "response": responses}},
            {"role": "assistant", "content": "x", "extra": {"cost": 0.25, "actions": [{"command": "ls"}]}},
            {"role": "user", "content": "out", "extra": {"raw_output": "out", "returncode": 0}},
        ],
    }
    _, events = read_data(json.dumps(wire).encode())
    counted = totals(events)
    stats = wire["info"]["model_stats"]
    assert (counted["llm"], counted["cost_usd"]) == (stats["api_calls"], stats["instance_cost"])
    assert (counted["input_tokens"], counted["output_tokens"], counted["tool"]) == (7 + 9, 2 + 3, 1)
    assert [call.text for call in events if isinstance(call, ModelCall)] == ["No call.", "None either.", "x"]


def test_an_interruption_is_no_output(read_data: Callable[..., Any]) -> None:
    """What the user says in place of running a command is not what the command printed."""
    wire = {
        "trajectory_format": "mini-swe-agent-1.1",
        "messages": [
            {"role": "assistant", "content": "x", "extra": {"actions": [{"command": "rm -r /"}]}},
            {"role": "user", "content": "No!", "extra": {"interrupt_type": "UserInterruption"}},
        ],
    }
    _, events = read_data(json.dumps(wire).encode())
    assert [(type(call), getattr(call, "text", None), getattr(call, "result", None)) for call in events] == [
        (ModelCall, "x", None),
        (ToolCall, None, None),
        (Message, "No!", None),
    ]


@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_one_block_is_a_command(read_data: Callable[..., Any], blocks: int) -> None:
    """Of answers in text, those with no block or with several are refused and nothing is run."""
    answer = "Now.\n" + "```bash\nls\n```\n" * blocks
    messages = [
        {"role": "user", "content": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT at the end."},
        {"role": "assistant", "content": answer},
        {"role": "user", "content": "Exactly one." if blocks != 1 else "<returncode>0</returncode>"},
    ]
    _, events = read_data(json.dumps(messages).encode())
    assert [type(call) for call in events] == [Message, ModelCall, ToolCall if blocks == 1 else Notice]
