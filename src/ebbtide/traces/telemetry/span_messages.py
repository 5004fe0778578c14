"""The messages in the attributes and the events of one span."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ebbtide.traces.chats.message_shapes import ChatMessage, messages_in
from ebbtide.traces.records.fields import from_json, items, mapping
from ebbtide.traces.telemetry import genai_names as names
from ebbtide.traces.telemetry.message_memory import Fields, MessageMemory
from ebbtide.traces.telemetry.span_kind import SpanKind

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
    """What went into a span, and what came out: of an agent or a chain its last words only."""
    lists = names.listed(attributes)
    sent, received = _from_events([*events, *_events_inside(attributes)])
    listed = _listed(attributes, lists, names.LISTED_INPUTS, "user", memory)
    if listed or not sent:
        sent = listed or memory.messages_in(names.first(attributes, names.INPUTS), "user")
    system = names.first(attributes, names.SYSTEM)
    if system is not None:
        known = {said.text for said in sent if said.role == "system"}
        instructions = [said.text for said in messages_in(system, "system") if said.text not in known]
        sent = [*(ChatMessage(role="system", text=words) for words in instructions if words), *sent]
    listed = _listed(attributes, lists, names.LISTED_OUTPUTS, "assistant", memory)
    if listed or not received:
        received = listed or messages_in(names.first(attributes, names.OUTPUTS), "assistant")
    answer = attributes.get("ai.response.text"), attributes.get("ai.response.toolCalls")
    if any(answer):
        received = messages_in(
            {"role": "assistant", "content": answer[0], "tool_calls": from_json(answer[1])}, "assistant"
        )
    if kind in (SpanKind.AGENT, SpanKind.OTHER):
        transcript = messages_in(names.first(attributes, names.TRANSCRIPTS), "assistant")
        received = last_answer(received) or last_answer(transcript)
    return sent, received


def last_answer(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The last words of a conversation, which are what an agent gives back."""
    said = next((said for said in reversed(messages) if said.text and said.role == "assistant"), None)
    return [said] if said else []


def _listed(
    attributes: Mapping[str, Any],
    lists: Mapping[str, Iterable[Fields]],
    prefixes: Sequence[str],
    role: str,
    memory: MessageMemory,
) -> list[ChatMessage]:
    for prefix in prefixes:
        found = attributes.get(prefix) if prefix.startswith("llm.") else None
        if isinstance(found, list):
            messages = messages_in(found, role)
        else:
            messages = memory.messages_listed(lists.get(prefix, ()), role)
        if messages:
            return messages
    return []


def _events_inside(attributes: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Events that are written into an attribute."""
    found = items(from_json(attributes.get("events")))
    return [
        (event["event.name"], event) for event in found if isinstance(mapping(event).get("event.name"), str)
    ]


def _from_events(events: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[list[ChatMessage], list[ChatMessage]]:
    sent: list[ChatMessage] = []
    received: list[ChatMessage] = []
    for name, attributes in events:
        role, told = _EVENT_ROLES.get(name), _plain_event(attributes)
        if role is not None:
            sent += messages_in(_event_message(told, role), role)
        elif name in ANSWERS:
            inner = from_json(told.get("message", told.get("gen_ai.completion", told)))
            received += messages_in(
                _event_message(inner, "assistant") if isinstance(inner, dict) else inner, "assistant"
            )
    return sent, received


def _plain_event(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """An event's attributes; some write all of it as JSON into one."""
    inner = from_json(told.get("gen_ai.event.content"))
    return {**told, **inner} if isinstance(inner, dict) else told


def _event_message(told: Mapping[str, Any], role: str) -> dict[str, Any]:
    content = from_json(told.get("content", told.get("gen_ai.prompt", told.get("text"))))
    message = {**told, "role": role, "content": content, "tool_calls": from_json(told.get("tool_calls"))}
    if role == "tool":
        message["tool_call_id"] = told.get("id") or told.get("tool_call_id")
    return message
