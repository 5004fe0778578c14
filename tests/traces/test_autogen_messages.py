"""AutoGen's messages: typed ones of teams, and groups of named experts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ebbtide.events.event import Event, Message, ModelCall, Notice, ToolCall, title
from ebbtide.events.usage import Usage
from ebbtide.traces.reading import load


def test_real_groups_agree(data: Path, calls: Callable[..., list[Event]]) -> None:
    """Every message is an event by its speaker; what the executor says is the call of the code before it."""
    for path in sorted((data / "traces" / "autogen_messages").glob("*.json")):
        history = json.loads(path.read_text())["history"]
        found = calls(path, form="autogen")
        assert [call.agent for call in found] == [message["name"] for message in history]
        ran = [message["name"] == "Computer_terminal" for message in history]
        assert [isinstance(call, ToolCall) for call in found] == ran
        for call, message in zip(found, history, strict=True):
            assert (call.result if isinstance(call, ToolCall) else call.text) == message["content"]
            assert call.error == (
                message["content"].lstrip().startswith(("There is no code",))
                or "(execution failed)" in (message["content"][:40] if isinstance(call, ToolCall) else "")
            )
        assert len(load(path).rounds) == len(history)


def test_the_code_is_what_was_called(read_data: Callable[..., Any]) -> None:
    """Blocks of code in the message before are the arguments, so that the same code twice is seen as such."""
    code = {"role": "user", "name": "Coder", "content": "Run:\n```python\nprint(1)\n```\nand\n```sh\nls\n```"}
    ran = {
        "role": "user",
        "name": "Computer_terminal",
        "content": "exitcode: 1 (execution failed)\nCode output: no",
    }
    wire = {
        "question": "?",
        "history": [{"role": "assistant", "name": "Boss", "content": "Do."}, code, ran, code, ran],
    }
    _, found = read_data(json.dumps(wire).encode())
    tools = [call for call in found if isinstance(call, ToolCall)]
    assert [(call.args, call.error) for call in tools] == [("print(1)\n\nls", True)] * 2


def test_roles_that_are_names(read_data: Callable[..., Any]) -> None:
    """Hand-made systems write the speaker as the role; a human among them is a user."""
    history = [
        {"role": "human", "content": "Find it."},
        {"role": "Orchestrator (thought)", "content": "Ask the surfer."},
        {"role": "WebSurfer", "content": "Found."},
    ]
    trace, found = read_data(json.dumps({"mistake_agent": "WebSurfer", "history": history}).encode())
    assert trace.format.name == "autogen"
    assert [(type(call), call.agent) for call in found] == [
        (Message, "human"),
        (ModelCall, "Orchestrator (thought)"),
        (ModelCall, "WebSurfer"),
    ]


def test_typed_messages(calls: Callable[..., list[Event]], totals: Callable[..., dict[str, Any]]) -> None:
    """Usage stands on requests and replies; summaries and repeated messages are not told again."""
    found = calls("autogen.json", form="autogen")
    assert totals(found) == {
        "tool": 2,
        "llm": 2,
        "user": 1,
        "input_tokens": 75 + 40,
        "output_tokens": 15 + 6,
        "cache_read_tokens": None,
        "cache_write_tokens": None,
        "cost_usd": None,
    }
    assert [
        (call.name, call.args, call.result, call.error) for call in found if isinstance(call, ToolCall)
    ] == [
        ("get_weather", {"city": "Paris"}, "rain", False),
        ("boom", {}, "kaputt", True),
    ]
    assert (found[-1].text, found[-1].agent) == ("It rains.", "writer")


def test_other_wrappings_and_types(read_data: Callable[..., Any]) -> None:
    """Lines, lists, task results; handoffs, thoughts, older names, and usage of what says nothing."""
    messages = [
        {"source": "user", "type": "TextMessage", "content": "Hi"},
        {"source": "a", "type": "ThoughtEvent", "content": "Hm."},
        {
            "source": "a",
            "type": "ToolCallMessage",
            "content": [{"id": "c", "name": "look", "arguments": "{}"}],
        },
        {"source": "a", "type": "ToolCallResultMessage", "content": [{"call_id": "c", "content": "waves"}]},
        {"source": "a", "type": "HandoffMessage", "target": "b", "content": "Over."},
        {
            "source": "b",
            "type": "SelectorEvent",
            "content": "b",
            "models_usage": {"prompt_tokens": 2, "completion_tokens": 1},
        },
        {"source": "b", "type": "StructuredMessage", "content": {"sea": "rough"}},
    ]
    expected = [
        (Message, "message"),
        (ModelCall, "thought"),
        (ModelCall, "message"),
        (ToolCall, "look"),
        (Notice, "handoff"),
        (ModelCall, "message"),
        (ModelCall, "message"),
    ]
    for wire in (
        json.dumps(messages),
        json.dumps({"task_result": {"messages": messages}}),
        "\n".join(map(json.dumps, messages)),
    ):
        trace, found = read_data(wire.encode())
        assert (trace.format.name, [(type(call), title(call)) for call in found]) == ("autogen", expected)


CODE = [
    {"role": "assistant", "name": "user_proxy", "content": "Count them."},
    {"role": "user", "name": "coder", "content": "```python\nprint(7)\n```"},
    {
        "role": "assistant",
        "name": "user_proxy",
        "content": "exitcode: 0 (execution succeeded)\nCode output: \n7\n",
    },
    {"role": "user", "name": "coder", "content": "TERMINATE"},
]


@pytest.mark.parametrize(
    "wire",
    [
        json.dumps(CODE),
        "\n".join(map(json.dumps, CODE)),
        json.dumps({"chat_id": 1, "chat_history": CODE, "summary": "7", "cost": {}}),
        json.dumps([{"chat_id": 1, "chat_history": CODE, "summary": "7"}]),
    ],
    ids=["list", "lines", "result of a chat", "results of chats"],
)
def test_code_that_an_executor_ran(read_data: Callable[..., Any], wire: str) -> None:
    """It is a call in every wrapping of an early chat."""
    trace, found = read_data(wire.encode())
    assert (trace.format.name, trace.fault_count) == ("autogen", 0)
    assert [(type(call), call.agent) for call in found] == [
        (ModelCall, "user_proxy"),
        (ModelCall, "coder"),
        (ToolCall, "user_proxy"),
        (ModelCall, "coder"),
    ]
    assert found[2].args == "print(7)"


@pytest.mark.parametrize("early", [False, True], ids=["by name", "one behind the other"])
def test_cost_of_a_chat(
    read_data: Callable[..., Any], totals: Callable[..., dict[str, Any]], early: bool
) -> None:
    """What came from a cache was not paid for; models add up."""
    paid = {
        "total_cost": 0.75,
        "a": {"cost": 0.5, "prompt_tokens": 30, "completion_tokens": 4, "total_tokens": 34},
        "b": {"cost": 0.25, "prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11},
    }
    cached = {"total_cost": 9.0, "a": {"cost": 9.0, "prompt_tokens": 900, "completion_tokens": 90}}
    cost = {"usage_including_cached_inference": cached, "usage_excluding_cached_inference": paid}
    wire = {"chat_history": CODE, "summary": "", "cost": [cached, paid] if early else cost}
    _, found = read_data(json.dumps(wire).encode())
    counted = totals(found)
    assert (counted["input_tokens"], counted["output_tokens"]) == (30 + 10, 4 + 1)
    assert counted["cost_usd"] == paid["total_cost"]


def test_one_message_answers_all_calls(read_data: Callable[..., Any]) -> None:
    """Early chats join the results of the calls of a message, and list them too."""
    called = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in ("f", "g")]
    answers = [{"role": "tool", "tool_call_id": name, "content": f"of {name}"} for name in ("f", "g")]
    history = [
        {"role": "assistant", "name": "bot", "content": None, "tool_calls": called},
        {"role": "tool", "name": "user", "content": "of f\n\nof g", "tool_responses": answers},
        {"role": "user", "name": "bot", "content": "Done."},
    ]
    trace, found = read_data(json.dumps(history).encode())
    assert trace.format.name == "autogen"
    assert [(type(call), title(call), getattr(call, "result", None)) for call in found] == [
        (ModelCall, "message", None),
        (ToolCall, "f", "of f"),
        (ToolCall, "g", "of g"),
        (ModelCall, "message", None),
    ]


@pytest.mark.parametrize("thread", [False, True], ids=["contexts of models", "thread of the team"])
def test_saved_states(
    read_data: Callable[..., Any], totals: Callable[..., dict[str, Any]], thread: bool
) -> None:
    """The thread of a team has everything once; without one, what its models were told counts."""
    call = {"id": "c", "name": "look", "arguments": "{}"}
    result = {"call_id": "c", "name": "look", "content": "waves", "is_error": True}
    told = [
        {"type": "UserMessage", "source": "user", "content": "Weather?"},
        {"type": "AssistantMessage", "source": "a", "content": [call]},
        {"type": "FunctionExecutionResultMessage", "content": [result]},
        {"type": "AssistantMessage", "source": "a", "content": "Waves."},
    ]
    said = [
        {"id": "1", "type": "TextMessage", "source": "user", "content": "Weather?"},
        {"id": "2", "type": "ToolCallRequestEvent", "source": "a", "content": [call]},
        {"id": "3", "type": "ToolCallExecutionEvent", "source": "a", "content": [result]},
        {"id": "4", "type": "TextMessage", "source": "a", "content": "Waves."},
    ]
    context = {"type": "AssistantAgentState", "llm_context": {"messages": told}}
    states: dict[str, Any] = {
        "a": {"type": "ChatAgentContainerState", "agent_state": context, "message_buffer": said[:1]}
    }
    if thread:
        states["manager"] = {"type": "RoundRobinManagerState", "message_thread": said, "current_turn": 4}
    trace, found = read_data(json.dumps({"type": "TeamState", "agent_states": states}).encode())
    assert (trace.format.name, trace.fault_count) == ("autogen", 0)
    assert [
        (
            type(event),
            getattr(event, "text", None),
            getattr(event, "result", None),
            getattr(event, "error", False),
        )
        for event in found
    ] == [
        (Message, "Weather?", None, False),
        (ModelCall, "", None, False),
        (ToolCall, None, "waves", True),
        (ModelCall, "Waves.", None, False),
    ]


def test_results_without_ids_and_sources(read_data: Callable[..., Any]) -> None:
    """Dumps of a few fields are read too; a result belongs to the call of its name."""
    messages = [
        {
            "type": "ToolCallRequestEvent",
            "content": [{"name": name, "arguments": "{}"} for name in ("f", "g")],
        },
        {
            "type": "ToolCallExecutionEvent",
            "content": [{"name": name, "content": name} for name in ("g", "f")],
        },
    ]
    trace, found = read_data(json.dumps({"inner_messages": messages}).encode())
    assert trace.format.name == "autogen"
    assert {(call.name, call.result) for call in found if isinstance(call, ToolCall)} == {
        ("f", "f"),
        ("g", "g"),
    }


@pytest.mark.parametrize("code", [0, 1])
def test_code_of_an_executor_agent(read_data: Callable[..., Any], code: int) -> None:
    """What was generated is what is run; its output and exit code stand apart from the words."""
    messages = [
        {
            "type": "CodeGenerationEvent",
            "source": "x",
            "content": "Try:\n```python\nprint(7)\n```",
            "models_usage": {"prompt_tokens": 5, "completion_tokens": 2},
        },
        {"type": "CodeExecutionEvent", "source": "x", "result": {"exit_code": code, "output": "7"}},
        {"type": "TextMessage", "source": "x", "content": "Seven."},
    ]
    _, found = read_data(json.dumps(messages).encode())
    assert [
        (
            type(call),
            getattr(call, "args", None),
            getattr(call, "result", None),
            getattr(call, "error", None),
            (call.usage or Usage()).input_tokens,
        )
        for call in found
    ] == [
        (ModelCall, None, None, False, 5),
        (ToolCall, "print(7)", "7", bool(code), None),
        (ModelCall, None, None, False, None),
    ]
