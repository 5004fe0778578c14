"""OpenAI's messages in every form: conversations, many runs, requests with answers, items of responses."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Message, ModelCall, ToolCall, title
from ebbtide.events.usage import Usage
from ebbtide.traces.reading import loads

TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Weather?"}, {"type": "image_url"}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "look", "arguments": '{"at": "sea"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "a", "content": "waves"},
    {"role": "assistant", "content": "Waves."},
]
SHOWN = [
    (Message, "instructions", "Be brief.", None, None),
    (Message, "message", "Weather?", None, None),
    (ModelCall, "message", "", None, None),
    (ToolCall, "look", None, {"at": "sea"}, "waves"),
    (ModelCall, "message", "Waves.", None, None),
]


def shown(events: list[Event]) -> list[tuple[Any, ...]]:
    return [
        (
            type(call),
            title(call),
            getattr(call, "text", None),
            getattr(call, "args", None),
            getattr(call, "result", None),
        )
        for call in events
    ]


def test_many_runs_in_one_file(
    data: Path, calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]
) -> None:
    """Each of the twenty airline runs is a chain; messages and calls are those of the file, in its order."""
    path = data / "traces" / "openai_messages" / "tau_airline_20.json"
    runs = [item["traj"] for item in json.loads(path.read_text())]
    found = calls(path, form="chat")
    counts = totals(found)
    messages = [message for run in runs for message in run]
    roles = Counter(message["role"] for message in messages)
    assert (counts["llm"], counts["user"]) == (roles["assistant"], roles["user"] + roles["system"])
    assert counts["tool"] == sum(len(message.get("tool_calls") or ()) for message in messages)
    chains: dict[str, list[Event]] = {}
    for call in found:
        chains.setdefault(call.chain_id, []).append(call)
    assert len(chains) == len(runs) == 20
    for run, events in zip(runs, chains.values(), strict=True):
        asked = [item["function"] for message in run for item in message.get("tool_calls") or ()]
        results = [message["content"] for message in run if message["role"] == "tool"]
        tools = [call for call in events if isinstance(call, ToolCall)]
        assert [(call.name, call.args) for call in tools] == [
            (it["name"], json.loads(it["arguments"])) for it in asked
        ]
        assert [call.result for call in tools] == results
        assert all(call.ts is None for call in events)


@pytest.mark.parametrize(
    "wire",
    [
        json.dumps(TALK),
        json.dumps({"messages": TALK}),
        json.dumps({"traj": TALK, "reward": 1}),
        "\n".join(map(json.dumps, TALK)),
        "\n".join(map(json.dumps, [{"type": "session", "id": 7}, *TALK])),
    ],
    ids=["list", "messages", "traj", "lines", "lines after another record"],
)
def test_one_conversation(read_data: Callable[..., Any], wire: str) -> None:
    """In any wrapping, every message is an event, and a call stands with its result."""
    trace, found = read_data(wire.encode())
    assert (trace.format.name, trace.fault_count) == ("chat", 0)
    assert shown(found) == SHOWN
    assert {call.chain_id for call in found} == {""}
    assert len(loads(wire).rounds) == 2


def test_a_line_a_conversation(read_data: Callable[..., Any]) -> None:
    """Training files hold a conversation a line: each is a run, though they are equal."""
    _, found = read_data("\n".join([json.dumps({"messages": TALK})] * 3).encode())
    assert shown(found) == SHOWN * 3
    assert len({call.chain_id for call in found}) == 3


def test_requests_with_answers(
    calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]
) -> None:
    """The context comes with every request, and is told once; cached tokens are a part of the prompt."""
    found = calls("openai_exchanges.jsonl", form="chat")
    assert totals(found) == {
        "tool": 2,
        "llm": 2,
        "user": 2,
        "input_tokens": (100 - 64) + 150,
        "output_tokens": 20 + 5,
        "cache_read_tokens": 64,
        "cache_write_tokens": None,
        "cost_usd": None,
    }
    tools = [call for call in found if isinstance(call, ToolCall)]
    assert [(call.args, call.result) for call in tools] == [
        ({"city": "Paris"}, "rain"),
        ({"city": "Rome"}, "sun"),
    ]
    assert tools[0].batch is not None
    assert tools[0].batch == tools[1].batch
    assert [call.ts for call in found if isinstance(call, ModelCall)] == [1767607200.0, 1767607205.0]


@pytest.mark.parametrize(
    "line",
    [
        {
            "messages": TALK[:2],
            "response": {"choices": [{"message": TALK[4]}], "usage": {"prompt_tokens": 3}},
        },
        {"messages": TALK[:2], "response": "Waves.", "usage": {"prompt_tokens": 3}},
        {
            "request": {"body": json.dumps({"messages": TALK[:2]})},
            "response": {"body": {"choices": [{"message": TALK[4]}]}},
            "usage": {"prompt_tokens": 3},
        },
        {
            "input": TALK[1:2],
            "instructions": "Be brief.",
            "output": [
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Waves."}],
                }
            ],
            "usage": {"input_tokens": 3, "output_tokens": 1, "input_tokens_details": {"cached_tokens": 0}},
        },
    ],
    ids=["response", "text", "bodies", "responses interface"],
)
def test_forms_of_exchanges(read_data: Callable[..., Any], line: dict[str, Any]) -> None:
    """A request and its answer, in the ways that logs keep them."""
    _, found = read_data(json.dumps(line).encode())
    assert shown(found) == [SHOWN[0], SHOWN[1], SHOWN[4]]
    assert (found[-1].usage or Usage()).input_tokens == 3


def test_items_of_responses(calls: Callable[..., list[Event]]) -> None:
    """Items of one response are one reply; its calls were asked for at once."""
    found = calls("openai_responses.json", form="chat")
    assert [(type(call), getattr(call, "text", None), getattr(call, "result", None)) for call in found] == [
        (Message, "Weather in Paris?", None),
        (ModelCall, "", None),
        (ToolCall, None, "rain"),
        (ToolCall, None, "sun"),
        (ModelCall, "Rain and sun.", None),
    ]
    assert found[2].batch == found[3].batch is not None


def test_calls_without_results_and_results_without_calls(read_data: Callable[..., Any]) -> None:
    """A call that nobody answered comes before the next reply; an answer to nothing is a call of its own."""
    wire = [TALK[2], TALK[4], {"role": "tool", "name": "late", "tool_call_id": "z", "content": "x"}, TALK[3]]
    _, found = read_data("\n".join(map(json.dumps, wire)).encode())
    assert [(type(call), title(call), getattr(call, "result", None)) for call in found] == [
        (ModelCall, "message", None),
        (ToolCall, "look", None),
        (ModelCall, "message", None),
        (ToolCall, "late", "x"),
        (ToolCall, "tool", "waves"),
    ]


def test_ids_that_come_again(read_data: Callable[..., Any]) -> None:
    """Some models number their calls anew in every reply: each is a call."""
    _, found = read_data(json.dumps([*TALK[1:4], *TALK[2:4], *TALK[2:]]).encode())
    assert [call.result for call in found if isinstance(call, ToolCall)] == ["waves"] * 3


def test_broken_messages_are_faults(read_data: Callable[..., Any]) -> None:
    """What is no message is a fault with its line; the rest is read."""
    trace, found = read_data(
        b'{"role": "user", "content": "Hi"}\n7\n{"role": "assistant", "content": {"odd": 1}}\n{oops'
    )
    assert [type(call) for call in found] == [Message]
    assert (trace.fault_count, trace.faults[0].line) == (2, 2)


@pytest.mark.parametrize(
    "wire",
    [
        json.dumps([TALK, TALK]),
        json.dumps([{"id": 7, "messages": json.dumps(TALK)}] * 2),
        json.dumps([{"conversations": TALK}, {"chat_history": TALK}]),
        "\n".join(
            [json.dumps({"custom_id": "a", "method": "POST", "url": "/v1", "body": {"messages": TALK}})] * 2
        ),
    ],
    ids=["a list of lists", "messages as a text", "other keys", "requests of a batch"],
)
def test_wrappings_of_many(read_data: Callable[..., Any], wire: str) -> None:
    """Wherever conversations stand, each is a run with the same events."""
    trace, found = read_data(wire.encode())
    assert (trace.format.name, trace.fault_count) == ("chat", 0)
    assert shown(found) == SHOWN * 2
    assert len({call.chain_id for call in found}) == 2


@pytest.mark.parametrize("on_message", [0, 30, 100])
def test_usage_around_a_conversation(
    read_data: Callable[..., Any], totals: Callable[..., dict[str, Any]], on_message: int
) -> None:
    """It is told once: what the messages say of it themselves is a part of it."""
    reply: dict[str, Any] = {"role": "assistant", "content": "Hi."}
    if on_message:
        reply["usage"] = {"prompt_tokens": on_message, "completion_tokens": 1}
    around = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 0}}
    wire = {"messages": [TALK[1], reply], "usage": around}
    _, found = read_data(json.dumps(wire).encode())
    counted = totals(found)
    assert (counted["input_tokens"], counted["output_tokens"]) == (100, 20)


LOGS = [{"type": "logs", "logs": "1"}]


def test_tools_of_the_responses_interface(read_data: Callable[..., Any]) -> None:
    """Those that the server runs are over when they are told; the client's have an item with their output."""
    by_server = [
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "sea"}},
        {"type": "code_interpreter_call", "id": "k", "status": "completed", "code": "1", "outputs": LOGS},
        {
            "type": "mcp_call",
            "id": "m",
            "server_label": "s",
            "name": "roll",
            "arguments": "{}",
            "output": "4",
        },
        {"type": "mcp_list_tools", "id": "l", "server_label": "s", "tools": []},
    ]
    by_client = [
        ("local_shell", {"action": {"command": ["ls"]}}, "a.py"),
        ("computer", {"action": {"type": "click"}}, {"type": "computer_screenshot"}),
        ("shell", {"action": {"commands": ["ls"]}}, [{"stdout": "a.py"}]),
        ("apply_patch", {"operation": {"path": "a.py"}}, "no such file"),
        ("custom_tool", {"name": "exec", "input": "x"}, "y"),
    ]
    items: list[dict[str, Any]] = [TALK[1], *by_server]
    for kind, asked, output in by_client:
        told = {"call_id": kind, "status": "completed"}
        state = "failed" if kind == "apply_patch" else "completed"
        items.append({"type": f"{kind}_call", "id": f"i_{kind}", **told, **asked})
        items.append({"type": f"{kind}_call_output", **told, "output": output, "status": state})
    trace, found = read_data(json.dumps(items).encode())
    assert (trace.format.name, trace.fault_count, trace.duplicates) == ("chat", 0, 0)
    tools = [(call.name, call.args, call.result, call.error) for call in found if isinstance(call, ToolCall)]
    assert tools == [
        ("web_search", {"query": "sea"}, None, False),
        ("code_interpreter", "1", LOGS, False),
        ("roll", {}, "4", False),
        ("local_shell", {"command": ["ls"]}, "a.py", False),
        ("computer", {"type": "click"}, {"type": "computer_screenshot"}, False),
        ("shell", {"commands": ["ls"]}, [{"stdout": "a.py"}], False),
        ("apply_patch", {"path": "a.py"}, "no such file", True),
        ("exec", "x", "y", False),
    ]


def test_requests_that_name_the_answer_before(read_data: Callable[..., Any]) -> None:
    """They do not repeat the call whose result they bring."""
    asked = {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"}
    words = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Waves."}]}
    lines = [
        {"request": {"input": "Weather?"}, "response": {"id": "r1", "object": "response", "output": [asked]}},
        {
            "request": {
                "previous_response_id": "r1",
                "input": [{"type": "function_call_output", "call_id": "a", "output": "waves"}],
            },
            "response": {"id": "r2", "object": "response", "output": [words]},
        },
    ]
    _, found = read_data("\n".join(map(json.dumps, lines)).encode())
    assert [(type(call), getattr(call, "text", None), getattr(call, "result", None)) for call in found] == [
        (Message, "Weather?", None),
        (ModelCall, "", None),
        (ToolCall, None, "waves"),
        (ModelCall, "Waves.", None),
    ]


def test_an_answer_without_words_was_paid_for(
    read_data: Callable[..., Any], totals: Callable[..., dict[str, Any]]
) -> None:
    """One that only reasons, or is cut off, is a call of the model; one that is only begun is none."""
    usage = {"input_tokens": 50, "output_tokens": 9}
    begun = {"id": "r1", "object": "response", "status": "in_progress", "output": [], "usage": None}
    reasoned = {**begun, "status": "incomplete", "output": [{"type": "reasoning"}], "usage": usage}
    lines = [{"response": begun}, {"response": reasoned}]
    _, found = read_data("\n".join(map(json.dumps, lines)).encode())
    counted = totals(found)
    assert (counted["llm"], counted["input_tokens"], counted["output_tokens"]) == (1, *usage.values())


@pytest.mark.parametrize("inside", [False, True], ids=["beside the answer", "in the answer"])
def test_requests_that_failed(read_data: Callable[..., Any], inside: bool) -> None:
    """They are calls of the model that went wrong; what they ask is told once."""
    request = {"model": "m", "messages": TALK[1:2]}
    problem = {"error": {"type": "overloaded"}}
    failed = {"request": request, "response": problem} if inside else {"request": request, **problem}
    lines = [failed, {"request": request, "response": {"choices": [{"message": TALK[4]}]}}]
    _, found = read_data("\n".join(map(json.dumps, lines)).encode())
    assert [(type(call), getattr(call, "text", None), getattr(call, "error", False)) for call in found] == [
        (Message, "Weather?", False),
        (ModelCall, '{"type": "overloaded"}', True),
        (ModelCall, "Waves.", False),
    ]


def test_prompts_and_completions(read_data: Callable[..., Any]) -> None:
    """The oldest training files have a text for each."""
    lines = [{"prompt": "Weather?", "completion": "Waves."}, {"prompt": "And now?", "completion": "Sun."}]
    trace, found = read_data("\n".join(map(json.dumps, lines)).encode())
    assert trace.format.name == "chat"
    assert [(type(call), getattr(call, "text", None)) for call in found] == [
        (Message, "Weather?"),
        (ModelCall, "Waves."),
        (Message, "And now?"),
        (ModelCall, "Sun."),
    ]


def test_pieces_of_answers_are_refused(read_data: Callable[..., Any]) -> None:
    """The words of a streamed answer are in no piece of it."""
    piece = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "Wa"}}]}
    with pytest.raises(ValueError, match="known format"):
        read_data("\n".join([json.dumps(piece)] * 2).encode())


def test_times_of_a_conversation(read_data: Callable[..., Any]) -> None:
    """Requests and answers of tools have the times that their messages state."""
    talk = [{**message, "timestamp": 1_770_000_000 + at} for at, message in enumerate(TALK)]
    _, events = read_data(json.dumps(talk).encode())
    assert [event.ts - 1_770_000_000 for event in events] == [0, 1, 2, 3, 4]


def test_a_log_whose_calls_are_no_messages(read_data: Callable[..., Any]) -> None:
    """It is not read as a chat, which would lose its calls; calls that come late are named as faults."""
    talk = [{"role": "user", "content": "Read it."}, {"role": "assistant", "content": "Done."}]
    calls = [{"type": "tool_call", "tool": "Read", "input": {}}, {"type": "tool_result", "output": "1"}]
    early, late = ("\n".join(map(json.dumps, values)) for values in (talk + calls, talk * 6 + calls))
    with pytest.raises(TranscriptError, match="Nearest is chat: its tool calls are lines of their own"):
        read_data(early.encode())
    trace, _ = read_data(late.encode())
    assert (trace.format.name, trace.fault_count) == ("chat", 2)
