"""The messages in the attributes and the events of one span."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ebbtide.traces.chats.message_shapes import ChatMessage, messages_in
from ebbtide.traces.records.fields import from_json, items, mapping
from ebbtide.traces.telemetry import genai_names as names
from ebbtide.traces.telemetry.message_memory import Fields, MessageMemory
from ebbtide.traces.telemetry.span import SpanKind

_EVENT_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.content.prompt": "user",
}
#: Events that hold a model's answer, and the one that holds all of a call.
ANSWERS = ("gen_ai.choice", "gen_ai.content.completion")
DETAILS = "gen_ai.client.inference.operation.details"


def messages_of(
    attributes: Mapping[str, Any],
    events: Sequence[tuple[str, Mapping[str, Any]]],
    kind: SpanKind,
    memory: MessageMemory,
) -> tuple[list[ChatMessage], list[ChatMessage]]:
    """Returns what went into a span, and what came out: of an agent or a chain its last words only."""
    lists = names.listed(attributes)
    inputs, outputs = _from_events([*events, *_events_inside(attributes)])
    messages = _listed(attributes, lists, names.LISTED_INPUTS, "user", memory)
    if messages or not inputs:
        inputs = messages or memory.messages_in(names.first(attributes, names.INPUTS), "user")
    system = names.first(attributes, names.SYSTEM)
    if system is not None:
        texts = {message.text for message in inputs if message.role == "system"}
        instructions = [
            message.text for message in messages_in(system, "system") if message.text not in texts
        ]
        inputs = [*(ChatMessage(role="system", text=words) for words in instructions if words), *inputs]
    messages = _listed(attributes, lists, names.LISTED_OUTPUTS, "assistant", memory)
    if messages or not outputs:
        outputs = messages or messages_in(names.first(attributes, names.OUTPUTS), "assistant")
    answer = attributes.get("ai.response.text"), attributes.get("ai.response.toolCalls")
    if any(answer):
        outputs = messages_in(
            {"role": "assistant", "content": answer[0], "tool_calls": from_json(answer[1])}, "assistant"
        )
    if kind in (SpanKind.AGENT, SpanKind.OTHER):
        transcript = messages_in(names.first(attributes, names.TRANSCRIPTS), "assistant")
        outputs = last_answer(outputs) or last_answer(transcript)
    return inputs, outputs


def last_answer(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The last words of a conversation, which are what an agent gives back."""
    answer = next(
        (answer for answer in reversed(messages) if answer.text and answer.role == "assistant"), None
    )
    return [answer] if answer else []


def _listed(
    attributes: Mapping[str, Any],
    lists: Mapping[str, Iterable[Fields]],
    prefixes: Sequence[str],
    role: str,
    memory: MessageMemory,
) -> list[ChatMessage]:
    for prefix in prefixes:
        listed_messages = attributes.get(prefix) if prefix.startswith("llm.") else None
        if isinstance(listed_messages, list):
            messages = messages_in(listed_messages, role)
        else:
            messages = memory.messages_listed(lists.get(prefix, ()), role)
        if messages:
            return messages
    return []


def _events_inside(attributes: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Events that are written into an attribute."""
    records = items(from_json(attributes.get("events")))
    return [
        (event["event.name"], event) for event in records if isinstance(mapping(event).get("event.name"), str)
    ]


def _from_events(
    events: Sequence[tuple[str, Mapping[str, Any]]],
) -> tuple[list[ChatMessage], list[ChatMessage]]:
    inputs: list[ChatMessage] = []
    outputs: list[ChatMessage] = []
    for name, attributes in events:
        role, fields = _EVENT_ROLES.get(name), _plain_event(attributes)
        if role is not None:
            inputs += messages_in(_event_message(fields, role), role)
        elif name in ANSWERS:
            inner = from_json(fields.get("message", fields.get("gen_ai.completion", fields)))
            outputs += messages_in(
                _event_message(inner, "assistant") if isinstance(inner, dict) else inner, "assistant"
            )
    return inputs, outputs


def _plain_event(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """An event's attributes; some write all of it as JSON into one."""
    inner = from_json(fields.get("gen_ai.event.content"))
    return {**fields, **inner} if isinstance(inner, dict) else fields


def _event_message(fields: Mapping[str, Any], role: str) -> dict[str, Any]:
    content = from_json(fields.get("content", fields.get("gen_ai.prompt", fields.get("text"))))
    message = {**fields, "role": role, "content": content, "tool_calls": from_json(fields.get("tool_calls"))}
    if role == "tool":
        message["tool_call_id"] = fields.get("id") or fields.get("tool_call_id")
    return message
