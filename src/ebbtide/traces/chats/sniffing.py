"""Telling conversations that were written down as messages, and the shapes that these stand in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ebbtide.traces.chats.message_shapes import messages_in
from ebbtide.traces.input.document import Content, Document, shape
from ebbtide.traces.records.fields import from_json, items, joined_text, mapping, text

_GROUP_LOOKED_AT = 50

LIST_KEYS = ("messages", "history", "traj")  #: what a list of messages is called in an object around it


def refuse_messages(document: Document) -> str | None:
    """Why `document` holds no plain messages; None if it does."""
    if document.content is Content.TEXT:
        return "not JSON"
    first = document.head[0]
    if isinstance(first, list):
        if not first or is_message(first[0]) or list_key(first[0]):
            return None
        return f"a list that starts with {shape(first[0])}, not with a message with 'role'"
    if any(map(is_message, document.head)) or list_key(first):
        return None
    return f"no message with 'role', and no list {' or '.join(map(repr, LIST_KEYS))}"


def is_message(value: Any) -> bool:
    """True if this is a message."""
    return isinstance(value, Mapping) and isinstance(value.get("role"), str)


def list_key(value: Any) -> str | None:
    """The key of the list of messages in an object around one."""
    if not isinstance(value, Mapping):
        return None
    return next((key for key in LIST_KEYS if isinstance(value.get(key), list)), None)


AUTOGEN_EXIT = re.compile(
    r"\s*exitcode: (-?\d+) \(execution (succeeded|failed)\)\s*(?:\nCode output:)?\s*", re.ASCII
)


def history_of(value: Mapping[str, Any]) -> list[Any]:
    """The messages of a group's conversation, or of the result of a chat."""
    return items(value.get("history")) or items(value.get("chat_history"))


def is_group(value: Any) -> bool:
    """True if this is a group's conversation: messages with names, of which an assistant has one."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("chat_history"), list) and ("cost" in value or "summary" in value):
        return True
    messages = [mapping(from_json(item)) for item in history_of(value)[:_GROUP_LOOKED_AT]]
    spoken = [message for message in messages if text(message.get("content")) and speaker_of(message)]
    return bool(spoken) and (
        "mistake_agent" in value or any(message.get("role") == "assistant" for message in spoken)
    )


def shows_execution(messages: list[Any]) -> bool:
    """True if an executor speaks in a list of messages, as nobody does but in AutoGen."""
    return any(
        isinstance(message, dict)
        and isinstance(message.get("role"), str)
        and (
            "tool_responses" in message or bool(AUTOGEN_EXIT.match(joined_text(message.get("content")) or ""))
        )
        for message in messages[:_GROUP_LOOKED_AT]
    )


def speaker_of(message: Mapping[str, Any]) -> str | None:
    """Who speaks: a name, or a role that is one, as in "Orchestrator (thought)"."""
    name, role = text(message.get("name")), text(message.get("role"))
    return name or (role if role not in ("user", "assistant", "system") else None)


AUTOGEN_REQUEST, AUTOGEN_EXECUTION = "ToolCallRequestEvent", "ToolCallExecutionEvent"

AUTOGEN_MESSAGES = frozenset(
    (
        "TextMessage",
        "MultiModalMessage",
        "StopMessage",
        "StructuredMessage",
        "ToolCallSummaryMessage",
        "HandoffMessage",
    )
)

AUTOGEN_SAME = {
    "ToolCallMessage": AUTOGEN_REQUEST,
    "ToolCallResultMessage": AUTOGEN_EXECUTION,
    "FunctionExecutionResultMessage": AUTOGEN_EXECUTION,
}

AUTOGEN_LISTS = ("messages", "task_result", "inner_messages", "chat_message", "result")


def refuse_autogen(document: Document) -> str | None:
    """Why `document` is not of the format autogen; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    for value in (document.head, *document.head):
        inside = list(value) if isinstance(value, list | tuple) else [value]
        if shows_execution(inside) or any(
            _is_autogen_message(item) or is_group(item) for item in inside[:10]
        ):
            return None
    return "no message with 'source' and a 'type' of AutoGen's, and no 'history' of named speakers"


def _is_autogen_message(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list):
        return depth < 3 and any(_is_autogen_message(item, depth + 1) for item in value[:50])
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if kind in (AUTOGEN_REQUEST, AUTOGEN_EXECUTION):
        return True
    if isinstance(kind, str) and "source" in value:
        return kind in AUTOGEN_MESSAGES or kind in AUTOGEN_SAME or kind == "ThoughtEvent"
    if is_autogen_state(value):
        return True
    return depth < 3 and any(
        _is_autogen_message(value.get(key), depth + 1) for key in (*AUTOGEN_LISTS, "history")
    )


def is_autogen_state(value: Mapping[str, Any]) -> bool:
    """True if this is the saved state of a team or an agent."""
    return str(value.get("type")).endswith("State") and bool(
        {"agent_states", "llm_context", "message_thread"} & value.keys()
    )


_ANTHROPIC_BLOCKS = frozenset(
    ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use")
)

_ANTHROPIC_LOOKED_AT = 50


def refuse_anthropic(document: Document) -> str | None:
    """Why `document` is not of the format anthropic-messages; None if it is."""
    if document.content not in (Content.JSON, Content.JSON_LINES):
        return "not JSON"
    if any(map(is_call_of_others, document.head)):
        return _LOST
    if any(_is_anthropic(value) for value in document.head):
        return None
    return "no message with a block 'tool_use' or 'tool_result', and no answer with 'stop_reason'"


def _is_anthropic(value: Any, depth: int = 0) -> bool:
    if isinstance(value, list):
        return depth < 3 and any(_is_anthropic(item, depth + 1) for item in value[:_ANTHROPIC_LOOKED_AT])
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("role"), str):
        blocks = {str(mapping(block).get("type")) for block in items(value.get("content"))}
        return bool(blocks & _ANTHROPIC_BLOCKS) or (value.get("type") == "message" and "stop_reason" in value)
    messages = conversation_in(value)
    if messages is not None and depth < 3 and _is_anthropic(messages, depth + 1):
        return True
    request, response = parts_of_exchange(value)
    answered = response.get("type") == "message" and "stop_reason" in response
    return answered or (
        bool(request) and request is not value and depth < 3 and _is_anthropic(request, depth + 1)
    )


_OTHER_CALL = re.compile(r"(?i)tool[._-]?(?:call|use|request|result|response|execution)")
_LOST = "its tool calls are lines of their own, which no chat has"


def is_call_of_others(value: Any) -> bool:
    """True if this is a call of a tool, or its answer, as a log of an agent may have it, and no chat."""
    kind = text(value.get("type")) if isinstance(value, dict) and "role" not in value else None
    return kind is not None and _OTHER_CALL.match(kind) is not None and not is_exchange(value)


_REQUESTS = ("request", "request_body", "kwargs", "params", "body")
RESPONSES = ("response", "response_body", "completion", "response_obj")
_CONTEXTS = ("messages", "input", "contents", "prompt")


def parts_of_exchange(value: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The request and the answer in a record of both; either may be empty."""
    request: Mapping[str, Any] = {}
    response: Mapping[str, Any] = {}
    for key in _REQUESTS:
        request = request or _body(value.get(key))
    for key in RESPONSES:
        answer = value.get(key)
        words = isinstance(answer, str) and from_json(answer) is answer
        response = response or ({"role": "assistant", "content": answer} if words else _body(answer))
    # A batch of Anthropic's states how each request went, around the answer.
    response = response or _body(mapping(value.get("result")).get("message"))
    if any(key in value for key in _CONTEXTS):
        request = request or value
    if any(key in value for key in ("choices", "candidates")) or isinstance(value.get("output"), list):
        response = response or value
    return request, response


def is_exchange(value: Any) -> bool:
    """True if this holds a request of a model and its answer."""
    if not isinstance(value, dict) or isinstance(value.get("role"), str):
        return False
    request, response = parts_of_exchange(value)
    if not any(key in request for key in _CONTEXTS):
        return False
    failed = request is not value and bool(value.get("error") or response.get("error"))
    return failed or bool(response and messages_in(response, "assistant"))


def _body(value: Any) -> Mapping[str, Any]:
    record = mapping(from_json(value))
    return mapping(from_json(record.get("body"))) or record


_ITEM_CALLS = (
    "function_call",
    "custom_tool_call",
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "computer_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
)

_ITEMS = frozenset(("message", "reasoning", *_ITEM_CALLS, *(f"{kind}_output" for kind in _ITEM_CALLS)))

_ITEM_KEYS = ("call_id", "role", "summary", "encrypted_content", "status", "server_label")

_ANSWERS = ("choices", "candidates")

_CONVERSATIONS = (*LIST_KEYS, "conversation", "conversations", "chat_history", "trajectory", "input", "items")

_MESSAGES_LOOKED_AT = 10


def refuse_openai(document: Document) -> str | None:
    """Why `document` is not of the format chat; None if it is."""
    if any(map(is_call_of_others, document.head)):
        return _LOST
    refusal = refuse_messages(document)
    if refusal is None or document.content not in (Content.JSON, Content.JSON_LINES):
        return refusal
    for value in document.head:
        for item in value[:_MESSAGES_LOOKED_AT] if isinstance(value, list) else (value,):
            if is_item(item) or is_exchange(item) or is_answer(item) or _is_talk(item):
                return None
    return refusal


def _is_talk(value: Any) -> bool:
    """True if this is a list of messages, or an object around one."""
    talk = talk_in(value) if isinstance(value, dict) else None
    messages = talk[1] if talk else items(value)
    return any(map(is_message, messages[:_MESSAGES_LOOKED_AT]))


def conversation_in(value: Mapping[str, Any]) -> list[Any] | None:
    """The list of messages in an object around one."""
    for key in _CONVERSATIONS:
        messages = from_json(value.get(key))
        if isinstance(messages, list) and (not messages or any(isinstance(item, dict) for item in messages)):
            return [*_instructions(value), *messages]
    return None


def talk_in(value: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Any]] | None:
    """The object around a list of messages, and the list; requests may stand in an object of their own."""
    if (messages := conversation_in(value)) is not None:
        return value, messages
    request, response = parts_of_exchange(value)
    if not response and (messages := conversation_in(request)) is not None:
        return request, messages
    return None


def _instructions(value: Mapping[str, Any]) -> list[Any]:
    """Anthropic's system prompt, which stands beside the messages."""
    system = value.get("system", value.get("instructions"))
    return [{"role": "system", "content": system}] if isinstance(system, str | list) and system else []


def is_item(value: Any) -> bool:
    """True if this is an item of the responses interface."""
    if not isinstance(value, dict) or text(value.get("type")) not in _ITEMS:
        return False
    return any(key in value for key in _ITEM_KEYS)


def is_answer(value: Any) -> bool:
    """True if this is an answer of a model's interface."""
    if not isinstance(value, dict):
        return False
    _, response = parts_of_exchange(value)
    if response.get("object") == "chat.completion.chunk":
        return False  # A piece of an answer carries neither its words nor its calls.
    if any(isinstance(response.get(key), list) for key in _ANSWERS):
        return True
    if response.get("type") == "message" and isinstance(response.get("role"), str):
        return True
    return response.get("object") == "response" or any(map(is_item, items(response.get("output"))[:10]))
