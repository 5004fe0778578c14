"""Messages as model interfaces and frameworks write them, read into one shape.

Chat completions, responses, Anthropic's blocks, Gemini's contents, Bedrock's, LangChain's, the AI SDK's and
the parts of the GenAI conventions: whoever records a call of a model records them in one of these.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ebbtide.events.provider_answer import ToolRequest
from ebbtide.traces.chats.message_parts import ToolAnswer, call_id, parts_in, request_in
from ebbtide.traces.records.fields import arguments, from_json, items, joined_text, mapping, shown, text

_DEEPEST = 12  # wrappings around a message
_ROLES = {
    **dict.fromkeys(("user", "human", "humanmessage", "humanmessagechunk"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "bot", "aimessage", "aimessagechunk", "agent"), "assistant"),
    **dict.fromkeys(("system", "developer", "systemmessage", "systemmessagechunk"), "system"),
    **dict.fromkeys(("tool", "function", "toolmessage", "functionmessage", "toolmessagechunk"), "tool"),
}
# What a list of messages is called in requests, and what stands in front of it.
_LISTS = ("messages", "contents", "history", "chat_history", "all_messages")
_INSTRUCTIONS = ("system", "instructions", "system_instruction", "systemInstruction", "system_prompt")
# What holds the answer in responses.
_ANSWERS = ("choices", "candidates", "generations", "message", "new_message", "messages", "contents")
_PLAIN_ROLES = frozenset(("system", "user", "assistant", "tool"))
_CONTENT = ("content", "parts", "contents", "text", "tool_calls", "toolCalls", "function_call", "refusal")
_PLAIN = (
    "output",
    "text",
    "content",
    "response",
    "answer",
    "completion",
    "input",
    "prompt",
    "question",
    "query",
)

# Items of the responses interface that ask the client to do something, and wait for its answer.
_BY_CLIENT = frozenset(
    (
        "function_call",
        "custom_tool_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
    )
)
_ASKED_WITH = ("arguments", "input", "action", "operation", "queries", "code")
_CAME_BACK = ("output", "outputs", "results", "result")

_TRANSCRIPT = re.compile(r"^(system|developer|user|assistant|tool): ", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message.

    Args:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        text: What it says, thoughts left out; None if nothing.
        name: Who says it, where that is stated.
        requests: Calls of tools in it.
        answers: Results of tools in it.
    """

    role: str
    text: str | None = None
    name: str | None = None
    requests: tuple[ToolRequest, ...] = ()
    answers: tuple[ToolAnswer, ...] = ()


def messages_in(value: object, role: str) -> list[ChatMessage]:
    """The messages in a request, a response, a list of messages, or one message.

    Args:
        value: Any JSON value; a text may hold JSON.
        role: Whose words a plain text is.
    """
    return list(_said(value, role, 0))


def pairs(messages: Sequence[ChatMessage]) -> list[tuple[ToolRequest, ToolAnswer | None, int]]:
    """Calls, their results, and the number of the message that asks.

    A result belongs to the call with its id, or else to the oldest open one of its name, or else the oldest.
    """
    matches: list[list[Any]] = []
    waiting: dict[int, ToolRequest] = {}  # calls without a result, the oldest first
    for number, message in enumerate(messages):
        for request in message.requests:
            waiting[len(matches)] = request
            matches.append([request, None, number])
        for answer in message.answers:
            place = next((at for at, request in waiting.items() if _fits(answer, request)), None)
            if place is not None:
                matches[place][1] = answer
                del waiting[place]
            elif answer.name and not any(answer.id and pair[0].id == answer.id for pair in matches):
                matches.append([ToolRequest(id=answer.id, name=answer.name), answer, number])
    return [(request, answer, number) for request, answer, number in matches]


def _fits(answer: ToolAnswer, request: ToolRequest) -> bool:
    if answer.id:
        return request.id == answer.id
    return answer.id is None and answer.name in (None, request.name)


def _said(value: object, role: str, depth: int) -> Iterator[ChatMessage]:
    if depth > _DEEPEST or value is None:
        return
    if isinstance(value, str):
        inner = from_json(value)
        if inner is not value:
            messages = list(_said(inner, role, depth + 1))
            if messages:
                yield from messages
                return
        if role == "user" and _TRANSCRIPT.match(value):
            yield from _transcript(value)
        elif value.strip():
            yield ChatMessage(role=role, text=value)
    elif isinstance(value, list):
        if len(value) == 2 and isinstance(value[0], str) and value[0].lower() in _ROLES:
            yield ChatMessage(role=_ROLES[value[0].lower()], text=joined_text(value[1]))
            return
        for item in value:
            yield from _said(item, role, depth + 1)
    elif isinstance(value, dict):
        yield from _in_object(value, role, depth)


def _transcript(value: str) -> Iterator[ChatMessage]:
    """The messages of a conversation that a tracer wrote into one text, a role before each."""
    starts = list(_TRANSCRIPT.finditer(value))
    for start, after in zip(starts, [*starts[1:], None], strict=True):
        words = value[start.end() : after.start() if after else None].strip()
        role = _ROLES[start[1]]
        if words and role != "tool":
            yield ChatMessage(role=role, text=words)


def _in_object(value: Mapping[str, Any], role: str, depth: int) -> Iterator[ChatMessage]:
    stated_role = value.get("role")
    if type(stated_role) is str and stated_role in _PLAIN_ROLES and ("content" in value or "parts" in value):
        yield from _message(value, role)
        return
    if isinstance(value.get("kwargs"), dict) and isinstance(value.get("id"), list) and value["id"]:
        yield from _in_object({**value["kwargs"], "type": str(value["id"][-1])}, role, depth + 1)
        return
    if isinstance(value.get("data"), dict) and _role(value) is not None:
        yield from _in_object({**value["data"], "role": _role(value)}, role, depth + 1)
        return
    item = _item(value)
    if item is not None:
        yield item
        return
    if _role(value) is not None and any(key in value for key in _CONTENT):
        yield from _message(value, role)
        return
    if role != "assistant":
        yield from _request(value, role, depth)
        return
    for key in _ANSWERS:
        if isinstance(value.get(key), list | dict):
            yield from _said(value[key], role, depth + 1)
            return
    if isinstance(value.get("parts"), list) or isinstance(value.get("content"), list | dict):
        yield from _message({"role": role, **value}, role)
    elif value.get("tool_calls") or value.get("toolCalls"):
        yield from _message({"role": role, "content": value.get("text"), **value}, role)
    else:
        yield from _plain(value, role, depth)


def _request(value: Mapping[str, Any], role: str, depth: int) -> Iterator[ChatMessage]:
    instructions = next((value[key] for key in _INSTRUCTIONS if value.get(key)), None)
    if instructions is None:
        config = mapping(value.get("config"))
        instructions = next((config[key] for key in _INSTRUCTIONS if config.get(key)), None)
    if instructions is not None and (words := _content_text(instructions)):
        yield ChatMessage(role="system", text=words)
    for key in _LISTS:
        if isinstance(value.get(key), list):
            yield from _said(value[key], role, depth + 1)
            return
    for key in ("new_message", "message", "input", "args"):
        if isinstance(value.get(key), list | dict):
            yield from _said(value[key], role, depth + 1)
            return
    if isinstance(value.get("parts"), list) or isinstance(value.get("content"), list):
        yield from _message({"role": role, **value}, role)
    else:
        yield from _plain(value, role, depth)


def _plain(value: Mapping[str, Any], role: str, depth: int) -> Iterator[ChatMessage]:
    for key in _PLAIN:
        if isinstance(value.get(key), str) and value[key].strip():
            yield ChatMessage(role=role, text=value[key])
            return
        if isinstance(value.get(key), list | dict) and value[key]:
            messages = list(_said(value[key], role, depth + 1))
            if messages:
                yield from messages
                return


def _item(value: Mapping[str, Any]) -> ChatMessage | None:
    """An item of the responses interface that is no message."""
    kind = value.get("type")
    if not isinstance(kind, str) or "role" in value:
        return None
    if kind.endswith("_call_output"):
        failed = value.get("status") == "failed"
        answer = ToolAnswer(id=call_id(value.get("call_id")), result=shown(value.get("output")), error=failed)
        return ChatMessage(role="tool", answers=(answer,))
    if kind.endswith("_call") and kind != "tool_call":
        name = text(value.get("name")) or kind.removesuffix("_call")
        args = next((value[key] for key in _ASKED_WITH if key in value), None)
        number = call_id(value.get("call_id")) or call_id(value.get("id"))
        result = next((value[key] for key in _CAME_BACK if value.get(key) is not None), None)
        error = value.get("error") is not None or value.get("status") == "failed"
        over = value.get("status") not in (None, "in_progress", "incomplete") and kind not in _BY_CLIENT
        back = ToolAnswer(id=number, name=name, result=shown(result or value.get("error")), error=error)
        request = ToolRequest(id=number, name=name, args=arguments(args))
        return ChatMessage(
            role="assistant", requests=(request,), answers=(back,) if over or result is not None else ()
        )
    return ChatMessage(role="assistant") if kind in ("reasoning", "compaction") else None


def _role(value: Mapping[str, Any]) -> str | None:
    for key in ("role", "type"):
        name = value.get(key)
        if type(name) is str and (role := _ROLES.get(name) or _ROLES.get(name.lower())):
            return role
    return None


def _message(value: Mapping[str, Any], default: str) -> tuple[ChatMessage, ...]:
    role = _role(value) or default
    content = value.get("content")
    if content is None:
        content = value.get("parts", value.get("contents", value.get("text")))
    if role == "tool" and _is_definition(content):
        return ()
    words, requests, answers = parts_in(content)
    if not requests:
        requests = _listed_calls(value)
    if role == "tool" and not requests:
        # AutoGen answers all calls of a message in one.
        several = [mapping(item) for item in items(value.get("tool_responses"))]
        if several:
            answers = [
                ToolAnswer(id=call_id(item.get("tool_call_id")), result=shown(item.get("content")))
                for item in several
            ]
        elif not answers:
            number = call_id(value.get("tool_call_id") or value.get("toolCallId") or value.get("id"))
            error = value.get("status") == "error" or bool(value.get("is_error"))
            result = "" if content is None and "content" in value else shown(_value(content))
            answers = [ToolAnswer(id=number, name=text(value.get("name")), result=result, error=error)]
        words = []
    content_words = "\n\n".join(words) or (text(value.get("refusal")) if not requests else None)
    role = "assistant" if requests and role == "tool" else role
    name = text(value.get("name"))
    return (
        ChatMessage(
            role=role, text=content_words, name=name, requests=tuple(requests), answers=tuple(answers)
        ),
    )


def _listed_calls(value: Mapping[str, Any]) -> list[ToolRequest]:
    """The calls that stand beside the content."""
    entries = value.get("tool_calls") or value.get("toolCalls")
    if not entries and "additional_kwargs" in value:
        entries = mapping(value["additional_kwargs"]).get("tool_calls")
    if not entries:
        entries = value.get("function_call")
    return [call for item in _listed(entries) if (call := request_in(item))] if entries else []


def _is_definition(content: object) -> bool:
    """True if a tool is described, not used: LangChain's tracing puts those on offer among the messages."""
    function = content.get("function") if isinstance(content, dict) else None
    return isinstance(function, dict) and "parameters" in function and "arguments" not in function


def _value(content: object) -> object:
    inner = mapping(content)
    if len(inner) == 1 and isinstance(inner.get("text"), str):
        return inner["text"]
    return content


def _content_text(content: object) -> str | None:
    return "\n\n".join(parts_in(content)[0]) or None


def _listed(value: object) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, dict) else []
