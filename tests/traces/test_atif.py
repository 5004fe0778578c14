"""Trajectories in ATIF."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.budget.prices import Prices
from ebbtide.checking import check
from ebbtide.events.event import Event, Notice, ToolCall, title
from ebbtide.events.usage import Usage
from ebbtide.supervision.run_options import RunOptions


@pytest.fixture
def stated() -> Callable[[Any], dict[str, Any]]:
    """What totals say, in classes that do not overlap."""

    def classes(final: dict[str, Any]) -> dict[str, Any]:
        cached = final.get("total_cached_tokens")
        return {
            "input_tokens": final["total_prompt_tokens"] - (cached or 0),
            "output_tokens": final["total_completion_tokens"],
            "cache_read_tokens": cached,
            "cache_write_tokens": None,
            "cost_usd": pytest.approx(final["total_cost_usd"]),
        }

    return classes


def test_sums_are_those_of_the_totals(
    calls: Callable[..., list[Event]],
    samples: Path,
    totals: Callable[..., dict[str, Any]],
    stated: Callable[[Any], dict[str, Any]],
) -> None:
    """Copied steps do not count, what the totals have beyond steps and sub-agents is one event."""
    found = calls("atif.json", form="atif")
    wire = json.loads((samples / "atif.json").read_text())
    assert totals(found) == {"tool": 3, "llm": 2 + 1, "user": 1, **stated(wire["final_metrics"])}


def test_results_by_id_or_by_order(calls: Callable[..., list[Event]]) -> None:
    """A result that names no call belongs to the first that has none."""
    tools = [call for call in calls("atif.json", form="atif") if isinstance(call, ToolCall)]
    assert [(call.result, call.error) for call in tools] == [
        ("[1] 17", False),
        ("refused", True),
        ("ok", False),
    ]


def test_sub_agents_are_chains(calls: Callable[..., list[Event]]) -> None:
    """An embedded trajectory has its own id and agent."""
    below = [call for call in calls("atif.json", form="atif") if call.chain_id]
    assert [
        (call.chain_id, call.agent, call.text, (call.usage or Usage()).input_tokens) for call in below
    ] == [("sub1", "helper", "Looked it up.", 10)]


def test_trajectories_a_line(samples: Path, read_data: Callable[..., Any]) -> None:
    """JSON lines of trajectories are chains named by their sessions."""
    wire = json.loads((samples / "atif.json").read_text())
    lines = [json.dumps(wire | {"session_id": name}) for name in ("a", "b")]
    _, events = read_data("\n".join(lines).encode())
    assert {call.chain_id for call in events} == {"a", "b", "sub1"}


def _trajectory(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    numbered = [{"step_id": number, **step} for number, step in enumerate(steps, 1)]
    return {
        "schema_version": "ATIF-v1.8",
        "agent": {"name": "a", "version": "1"},
        "steps": numbered,
        **fields,
    }


def _spent(prompt: int, completion: int, cost: float, **more: Any) -> dict[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "cost_usd": cost, **more}


def test_totals_hold_what_sub_agents_spent(
    read_data: Callable[..., Any],
    totals: Callable[..., dict[str, Any]],
    stated: Callable[[Any], dict[str, Any]],
) -> None:
    """What stands in the embedded trajectories too, nested ones as well, is not counted again."""
    leaf = _trajectory({"source": "agent", "message": "x", "metrics": _spent(5, 1, 0.001)}, trajectory_id="l")
    below = _trajectory(
        {"source": "agent", "message": "y", "metrics": _spent(20, 2, 0.01)},
        trajectory_id="b",
        subagent_trajectories=[leaf],
        final_metrics={"total_prompt_tokens": 25, "total_completion_tokens": 3, "total_cost_usd": 0.011},
    )
    final = {"total_prompt_tokens": 125, "total_completion_tokens": 13, "total_cost_usd": 0.111}
    whole = _trajectory(
        {"source": "agent", "message": "z", "metrics": _spent(100, 10, 0.1)},
        subagent_trajectories=[below],
        final_metrics=final,
    )
    _, events = read_data(json.dumps(whole).encode())
    assert [call.chain_id for call in events] == ["", "b", "l"]
    assert totals(events) == {"tool": 0, "llm": 3, "user": 0, **stated(final)}


@pytest.mark.parametrize("prompt", [100, 130, 190])
def test_cached_tokens_that_only_the_totals_tell(
    read_data: Callable[..., Any],
    totals: Callable[..., dict[str, Any]],
    prompt: int,
) -> None:
    """They are a part of the input, so the input as a whole stays what it was."""
    final = {"total_prompt_tokens": prompt, "total_cached_tokens": 60}
    step = {"source": "agent", "message": "z", "metrics": _spent(100, 10, 0.1)}
    _, events = read_data(json.dumps(_trajectory(step, final_metrics=final)).encode())
    found = totals(events)
    assert found["input_tokens"] + (found["cache_read_tokens"] or 0) == prompt


def test_a_step_without_a_model_call(read_data: Callable[..., Any]) -> None:
    """What the agent dispatches by itself is a call of a tool and no message of a model."""
    step = {
        "source": "agent",
        "message": "Set up.",
        "llm_call_count": 0,
        "tool_calls": [{"tool_call_id": "c", "function_name": "init", "arguments": {}}],
    }
    _, events = read_data(json.dumps(_trajectory(step)).encode())
    assert [(type(call), title(call)) for call in events] == [(Notice, "note"), (ToolCall, "init")]


@pytest.mark.parametrize(
    ("of_step", "of_result", "failed"),
    [
        ({}, {"is_error": True}, True),
        ({}, {"is_error": False}, False),
        ({}, {"tool_result_is_error": True}, True),
        ({"tool_result_is_error": True}, {}, True),
        ({"tool_metadata": {"exit_code": 2, "duration_seconds": 0.1}}, {}, True),
        ({"tool_metadata": {"exit_code": 0}}, {}, False),
    ],
)
def test_signs_of_failure(
    read_data: Callable[..., Any], of_step: dict[str, Any], of_result: dict[str, Any], failed: bool
) -> None:
    """Converters note it in ``extra`` of the result, or of a step with one call."""
    step = {
        "source": "agent",
        "message": "",
        "tool_calls": [{"tool_call_id": "c", "function_name": "sh", "arguments": {}}],
        "observation": {"results": [{"source_call_id": "c", "content": "?", "extra": of_result}]},
        "extra": of_step,
    }
    _, events = read_data(json.dumps(_trajectory(step)).encode())
    assert [call.error for call in events] == [False, failed]


def test_a_list_of_trajectories(read_data: Callable[..., Any]) -> None:
    """Each is a run; those without an id are numbered."""
    step = {"source": "agent", "message": "x"}
    wire = [_trajectory(step), _trajectory(step, session_id="s"), _trajectory(step)]
    trace, events = read_data(json.dumps(wire).encode())
    assert trace.format.name == "atif"
    assert [call.chain_id for call in events] == ["run 1", "s", "run 3"]


def test_the_stated_cost_is_the_cost_of_steps_that_state_tokens_alone(samples: Path) -> None:
    """Of the run and of its bill, whatever the list prices of these tokens are."""
    wire = json.loads((samples / "atif.json").read_text())
    prices = Prices({"*": {"input": 300.0, "output": 300.0, "cache_read": 30.0}}, public=False)
    summary = check(samples / "atif.json", RunOptions(prices=prices))
    assert summary.spent.cost_usd == pytest.approx(wire["final_metrics"]["total_cost_usd"], abs=1e-12)
    assert summary.bill.total.cost_usd == summary.spent.cost_usd
    assert summary.bill.stated is not None
    assert summary.bill.stated.cost_usd == wire["final_metrics"]["total_cost_usd"]
