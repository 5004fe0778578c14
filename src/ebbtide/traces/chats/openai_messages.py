"""OpenAI's messages: a conversation, many of them, requests with their answers, or items of responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.traces.chats.chat import LIST_KEYS, Chat
from ebbtide.traces.chats.chat_events import (
    ChatEvents,
    Exchanges,
    is_exchange,
    parts_of_exchange,
    reply_usage,
)
from ebbtide.traces.chats.message_shapes import said_in
from ebbtide.traces.input.document import Content, Document, shape
from ebbtide.traces.records.fields import from_json, items, text
from ebbtide.traces.records.usage_accounts import UsageLedger

_CALLS = (
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
_ITEMS = frozenset(("message", "reasoning", *_CALLS, *(f"{kind}_output" for kind in _CALLS)))
_KEYS_OF_ITEMS = ("call_id", "role", "summary", "encrypted_content", "status", "server_label")
_ANSWERS = ("choices", "candidates")
_CONVERSATIONS = (*LIST_KEYS, "conversation", "conversations", "chat_history", "trajectory", "input", "items")
_LOOKED_AT = 10


class OpenAIMessages(Chat):
    """Messages with ``role`` and ``content``, tools called in ``tool_calls`` and answered by role ``tool``.

    A list of conversations gives each a chain of its own. There are no times, so rates are not known.
    """

    name = "chat"
    description = (
        "OpenAI chat messages with 'role' and 'content', or items of responses: a list, a message a line, "
        "an object around one, requests with their answers, or many conversations"
    )
    paths = ("item", "")

    def refusal(self, document: Document) -> str | None:
        """Why `document` is not one; None if it is."""
        refused = super().refusal(document)
        if refused is None or document.content not in (Content.JSON, Content.JSON_LINES):
            return refused
        for value in document.head:
            for item in value[:_LOOKED_AT] if isinstance(value, list) else (value,):
                if _is_item(item) or is_exchange(item) or _is_answer(item) or self._is_talk(item):
                    return None
        return refused

    def _is_talk(self, value: Any) -> bool:
        """Whether this is a list of messages, or an object around one."""
        talk = _talk_in(value) if isinstance(value, dict) else None
        messages = talk[1] if talk else items(value)
        return any(self.knows(message) for message in messages[:_LOOKED_AT])

    def event_reader(self) -> MessagesReader:
        """A reader before the first message."""
        return MessagesReader()


class MessagesReader:
    """Reads messages, conversations, exchanges or answers, whichever come."""

    def __init__(self) -> None:
        self._talk = ChatEvents()
        self._exchanges = Exchanges()
        self._runs = 0

    @property
    def duplicates(self) -> int:
        """Results of calls that were answered before."""
        return self._talk.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that this record completes.

        Raises:
            TranscriptError: It is no message, and nothing that messages stand in.
        """
        try:
            return self._read(value, path)
        except RecursionError:
            raise TranscriptError("nested too deeply to be read") from None

    def finish(self) -> Sequence[Event]:
        """The calls whose results never came."""
        return [*self._talk.finish(), *self._exchanges.finish()]

    def _read(self, value: Any, path: str) -> Sequence[Event]:
        if isinstance(value, list):
            return self._run(value, path, {})
        if not isinstance(value, dict):
            raise TranscriptError(f"expected a message, found {shape(value)}")
        if isinstance(value.get("role"), str):
            return self._talk.add(value)
        if is_exchange(value):
            return self._exchanges.add(value)
        if (talk := _talk_in(value)) is not None:
            around, messages = talk
            return self._run(messages, path, around)
        if _is_answer(value) or _is_item(value):
            return self._talk.add(value) if _is_item(value) else self._answer(value)
        return ()  # Logs mix messages with other records.

    def _answer(self, value: Mapping[str, Any]) -> list[Event]:
        _, response = parts_of_exchange(value)
        said = said_in(response or value, "assistant")
        asked = [
            {"id": item.id, "function": {"name": item.name, "arguments": item.args}}
            for part in said
            for item in part.asked
        ]
        words = "\n\n".join(part.text for part in said if part.text) or None
        return self._talk.add(
            {**(response or value), "role": "assistant", "content": words, "tool_calls": asked}
        )

    def _run(self, messages: list[Any], path: str, around: Mapping[str, Any]) -> list[Event]:
        """A conversation that stands in one record: a run of its own.

        What it took as a whole may stand around it; what its messages do not report of that is one notice.
        """
        self._runs += 1
        talk = ChatEvents(run_name(self._runs, path), model=text(around.get("model")))
        events: list[Event] = []
        for message in messages:
            if isinstance(message, dict):
                events += talk.add(message)
        events += talk.finish()
        ledger = UsageLedger()
        for event in events:
            ledger.add(event)
        return [*events, *ledger.rest(reply_usage(around), chain_id=talk.chain_id)]


def run_name(number: int, path: str) -> str:
    """The chain of one of many runs; one that stands alone has no name."""
    return f"run {number}" if path or number > 1 else ""


def conversation_in(value: Mapping[str, Any]) -> list[Any] | None:
    """The list of messages in an object around one."""
    for key in _CONVERSATIONS:
        messages = from_json(value.get(key))
        if isinstance(messages, list) and (not messages or any(isinstance(item, dict) for item in messages)):
            return [*_instructions(value), *messages]
    return None


def _talk_in(value: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Any]] | None:
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


def _is_item(value: Any) -> bool:
    """Whether this is an item of the responses interface."""
    if not isinstance(value, dict) or text(value.get("type")) not in _ITEMS:
        return False
    return any(key in value for key in _KEYS_OF_ITEMS)


def _is_answer(value: Any) -> bool:
    """Whether this is what a model's interface answers."""
    if not isinstance(value, dict):
        return False
    _, response = parts_of_exchange(value)
    if response.get("object") == "chat.completion.chunk":
        return False  # A piece of an answer tells neither its words nor its calls.
    if any(isinstance(response.get(key), list) for key in _ANSWERS):
        return True
    if response.get("type") == "message" and isinstance(response.get("role"), str):
        return True
    return response.get("object") == "response" or any(map(_is_item, items(response.get("output"))[:10]))
