"""LangSmith runs: posted and patched, exported, in trees."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.events.event import Event, Message, ModelCall, ToolCall, title
from ebbtide.events.usage import Usage


def run(number: str, kind: str, start: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": number,
        "trace_id": "t",
        "run_type": kind,
        "name": kind,
        "parent_run_id": None,
        "start_time": f"2026-01-05T10:00:{start:02}",
        "end_time": f"2026-01-05T10:00:{start + 1:02}",
        "inputs": {},
        "outputs": {},
        **fields,
    }


AI = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "messages", "AIMessage"],
    "kwargs": {
        "content": "",
        "tool_calls": [{"name": "look", "args": {"at": "sea"}, "id": "c", "type": "tool_call"}],
        "usage_metadata": {
            "input_tokens": 100,
            "output_tokens": 9,
            "total_tokens": 109,
            "input_token_details": {"cache_read": 40},
        },
    },
}
HUMAN = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "schema", "messages", "HumanMessage"],
    "kwargs": {"content": "Hi"},
}
RUNS = [
    run(
        "root",
        "chain",
        0,
        end_time="2026-01-05T10:00:30",
        prompt_tokens=150,
        completion_tokens=18,
        total_cost=0.3,
        outputs={"output": "Waves."},
    ),
    run(
        "m1",
        "llm",
        1,
        parent_run_id="root",
        inputs={"messages": [[HUMAN]]},
        outputs={"generations": [[{"text": "", "type": "ChatGeneration", "message": AI}]]},
        total_cost="0.1",
    ),
    run(
        "look",
        "tool",
        3,
        name="look",
        parent_run_id="root",
        inputs={"input": '{"at": "sea"}'},
        outputs={"output": "waves"},
    ),
    run(
        "m2",
        "llm",
        5,
        parent_run_id="root",
        outputs={"choices": [{"message": {"role": "assistant", "content": "Waves."}}]},
        prompt_tokens=50,
        completion_tokens=9,
        total_cost=0.2,
    ),
    run("bad", "tool", 7, name="smell", parent_run_id="root", error="no nose"),
]


@pytest.mark.parametrize("name", ["langsmith_py_wrap_openai_", "langsmith_py_wrap_openai_reasoning"])
def test_real_runs_agree_with_the_file(
    data: Path, name: str, calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]
) -> None:
    """Posts and patches of one run are one call, with the usage of the patch."""
    path = data / "traces" / "langsmith" / f"{name}.json"
    wire = json.loads(path.read_text())
    usage = [item["outputs"]["usage_metadata"] for item in wire["patch"]]
    assert totals(calls(path, form="langsmith")) == {
        "tool": 0,
        "llm": len(wire["post"]),
        "user": sum(len(item["inputs"]["messages"]) for item in wire["post"]),
        "input_tokens": sum(item["input_tokens"] for item in usage),
        "output_tokens": sum(item["output_tokens"] for item in usage),
        "cache_read_tokens": 0,
        "cache_write_tokens": None,
        "cost_usd": None,
    }


@pytest.mark.parametrize(
    "wire",
    [
        json.dumps(RUNS),
        json.dumps({"runs": RUNS[::-1]}),
        "\n".join(map(json.dumps, RUNS)),
        json.dumps(
            {
                **RUNS[0],
                "child_runs": [{**item, "parent_run_id": None, "trace_id": None} for item in RUNS[1:]],
            }
        ),
        json.dumps({"post": [{**item, "outputs": {}, "end_time": None} for item in RUNS], "patch": RUNS}),
    ],
    ids=["list", "object, last first", "lines", "tree", "post and patch"],
)
def test_runs_in_every_wrapping(
    read_data: Callable[..., Any], totals: Callable[..., dict[str, Any]], wire: str
) -> None:
    """Only the models' tokens and cost are summed; a tool that was asked for and has a run is one call."""
    trace, found = read_data(wire.encode())
    assert (trace.format.name, trace.fault_count) == ("langsmith", 0)
    assert [(type(call), title(call), getattr(call, "text", None)) for call in found] == [
        (Message, "message", "Hi"),
        (ModelCall, "message", ""),
        (ToolCall, "look", None),
        (ModelCall, "message", "Waves."),
        (ToolCall, "smell", None),
    ]
    assert [(call.args, call.result, call.error) for call in found if isinstance(call, ToolCall)] == [
        ({"at": "sea"}, "waves", False),
        ({}, "no nose", True),
    ]
    counts = totals(found)
    assert (counts["input_tokens"], counts["output_tokens"], counts["cache_read_tokens"]) == (60 + 50, 18, 40)
    assert counts["cost_usd"] == 0.3


def test_a_chain_alone_tells_its_sum(read_data: Callable[..., Any]) -> None:
    """Where no model's run is there, the outermost chain's tokens count once."""
    inner = run("inner", "chain", 1, parent_run_id="root", prompt_tokens=150, completion_tokens=18)
    _, found = read_data(json.dumps([RUNS[0], inner]).encode())
    assert sum((call.usage or Usage()).input_tokens or 0 for call in found) == 150
    assert found[-1].text == "Waves."


def test_a_run_that_never_ended_is_told(read_data: Callable[..., Any]) -> None:
    """A call of a model without an end is there, without an answer."""
    _, found = read_data(
        json.dumps({"post": [run("m", "llm", 1, end_time=None, inputs={"messages": [HUMAN]})]}).encode()
    )
    assert [(type(call), getattr(call, "text", None)) for call in found] == [
        (Message, "Hi"),
        (ModelCall, None),
    ]


def test_patches_that_name_their_run_in_its_order_only(read_data: Callable[..., Any]) -> None:
    """The JavaScript client patches without an id, and writes milliseconds."""
    order = "20260105T100001000001Zm"
    post = {**run("m", "llm", 1), "start_time": 1767607201000, "end_time": None, "dotted_order": order}
    patch = {
        "end_time": 1767607202000,
        "dotted_order": order,
        "trace_id": "m",
        "outputs": {
            "choices": [{"message": {"role": "assistant", "content": "Hi"}}],
            "usage_metadata": {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11},
        },
    }
    _, (call,) = read_data(json.dumps({"post": [post], "patch": [patch]}).encode())
    assert (call.text, (call.usage or Usage()).input_tokens, call.ts) == ("Hi", 9, 1767607202.0)


@pytest.mark.parametrize(
    "fields",
    [
        {"prompt_tokens": 100, "completion_tokens": 9, "prompt_token_details": {"cache_read": 40}},
        {"outputs": {"usage": {"input_tokens": 60, "output_tokens": 9, "cache_read_input_tokens": 40}}},
        {
            "outputs": {
                "llm_output": {
                    "usage": {"input_tokens": 60, "output_tokens": 9, "cache_read_input_tokens": 40}
                }
            }
        },
        {
            "outputs": {
                "llm_output": {
                    "token_usage": {
                        "prompt_tokens": 100,
                        "completion_tokens": 9,
                        "prompt_tokens_details": {"cached_tokens": 40},
                    }
                }
            }
        },
        {"outputs": json.dumps({"generations": [[{"message": AI}]]})},
    ],
    ids=["the run", "anthropic", "anthropic in llm_output", "openai in llm_output", "the message, as text"],
)
def test_where_tokens_stand(read_data: Callable[..., Any], fields: dict[str, Any]) -> None:
    """In the run, in what the provider answered, or in the message; cached ones beside the input or in it."""
    _, found = read_data(json.dumps([run("a", "llm", 1, **fields)]).encode())
    (call,) = (call for call in found if isinstance(call, ModelCall))
    assert (
        (call.usage or Usage()).input_tokens,
        (call.usage or Usage()).output_tokens,
        (call.usage or Usage()).cache_read_tokens,
    ) == (60, 9, 40)


@pytest.mark.parametrize(
    "fields",
    [
        {"total_cost": "0.75", "prompt_cost": 9},
        {"prompt_cost": "0.25", "completion_cost": 0.5},
        {"outputs": {"usage_metadata": {"input_cost": 0.25, "output_cost": 0.5}}},
    ],
)
def test_cost_and_its_parts(read_data: Callable[..., Any], fields: dict[str, Any]) -> None:
    """The total counts, or else the sum of its parts; numbers may be texts."""
    _, (call,) = read_data(json.dumps([run("a", "llm", 1, **fields)]).encode())
    assert (call.usage or Usage()).cost_usd == 0.75


def test_runs_without_what_went_in_and_out(read_data: Callable[..., Any]) -> None:
    """A query that selects few fields gives runs that still tell what was called."""
    fields = {"id": "a", "trace_id": "a", "name": "m", "start_time": "2026-01-05T10:00:00"}
    data = json.dumps([{**fields, "run_type": "llm", "prompt_tokens": 7, "end_time": "2026-01-05T10:00:01"}])
    trace, (call,) = read_data(data.encode())
    assert (trace.format.name, (call.usage or Usage()).input_tokens) == ("langsmith", 7)
