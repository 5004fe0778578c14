"""Three ways to call a model over HTTP: chat completions, OpenAI's responses, Anthropic's messages."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace
from typing import Any, Protocol

from ebbtide.adapters.conversations import ConversationItem, ToolResult
from ebbtide.events.object_fields import fields_of

Arguments = dict[str, Any]

# The classes of OpenAI's events of a stream, by their kinds.
_EVENTS = {
    "created": "ResponseCreatedEvent",
    "in_progress": "ResponseInProgressEvent",
    "output_item.added": "ResponseOutputItemAddedEvent",
    "content_part.added": "ResponseContentPartAddedEvent",
    "output_text.delta": "ResponseTextDeltaEvent",
    "output_text.done": "ResponseTextDoneEvent",
    "content_part.done": "ResponseContentPartDoneEvent",
    "output_item.done": "ResponseOutputItemDoneEvent",
    "completed": "ResponseCompletedEvent",
}

# The clients put them on what they return, and helpers of theirs read them.
_OF_THE_ANSWER = ("_request_id", "_workspace_id")


class CallForm(Protocol):
    """Form of one kind of call, to read and change it. Arguments are those of the SDK's method, by name."""

    def items(self, arguments: Arguments) -> list[ConversationItem]:
        """Returns the conversation that a call sends."""

    def kept_history(self, arguments: Arguments) -> str | None:
        """Returns the id of what the call goes on with, where the provider keeps the history."""
        del arguments
        return None

    def asking_usage(self, arguments: Arguments) -> Arguments | None:
        """Returns a streamed call that asks for its usage; None where that needs no asking."""
        del arguments
        return None

    def with_note(self, arguments: Arguments, note: str) -> Arguments:
        """Returns the call with a note behind its last message."""

    def without_tools(self, arguments: Arguments) -> Arguments:
        """Returns the call, such that the model answers in words; a history may still name the tools."""
        return {**arguments, "tool_choice": "none"} if arguments.get("tools") else arguments

    def last_words(self, arguments: Arguments, text: str) -> Any:
        """Returns what stands in for the answer of the model, as the SDK gives it."""

    def stream_of(self, answer: Any) -> list[Any]:
        """Returns an answer as the items of a stream."""

    def whole(self, parts: Sequence[Any]) -> Any:
        """Returns the answer that the items of a stream make, as far as `ModelCall.of` reads it."""


class ChatCompletions(CallForm):
    """``chat.completions.create`` of OpenAI, and of everybody who offers the same."""

    def asking_usage(self, arguments: Arguments) -> Arguments | None:
        """Returns the call with ``include_usage``, unless its options say something about the stream."""
        if not arguments.get("stream") or arguments.get("stream_options"):
            return None
        return {**arguments, "stream_options": {"include_usage": True}}

    def items(self, arguments: Arguments) -> list[ConversationItem]:
        """Returns the messages of the call; an answer of a tool is a message of its own."""
        items = []
        for message in arguments.get("messages") or ():
            fields = fields_of(message)
            role = fields.get("role")
            results: tuple[ToolResult, ...] = ()
            if role == "tool":
                results = (ToolResult(str(fields.get("tool_call_id")), fields.get("content")),)
            words = fields.get("content") if role == "user" else None
            items.append(ConversationItem(message, role == "assistant", words, results))
        return items

    def with_note(self, arguments: Arguments, note: str) -> Arguments:
        """Adds the note as a message of the user."""
        return {**arguments, "messages": [*arguments["messages"], {"role": "user", "content": note}]}

    def last_words(self, arguments: Arguments, text: str) -> Any:
        """Returns a ``ChatCompletion`` with the text as its message."""
        message = {"role": "assistant", "content": text, "tool_calls": None}
        return sdk_object(
            "openai.types.chat",
            "ChatCompletion",
            {
                "id": f"ebbtide-{time.time_ns()}",
                "object": "chat.completion",
                "created": int(time.time()),
                "model": str(arguments.get("model", "")),
                "choices": [{"index": 0, "finish_reason": "stop", "logprobs": None, "message": message}],
            },
        )

    def stream_of(self, answer: Any) -> list[Any]:
        """Returns the answer as one ``ChatCompletionChunk``."""
        return [
            sdk_object(
                "openai.types.chat",
                "ChatCompletionChunk",
                {
                    "id": answer.id,
                    "object": "chat.completion.chunk",
                    "created": answer.created,
                    "model": answer.model,
                    "choices": [
                        {
                            "index": 0,
                            "finish_reason": "stop",
                            "delta": {"role": "assistant", "content": answer.choices[0].message.content},
                        }
                    ],
                },
            )
        ]

    def whole(self, parts: Sequence[Any]) -> Any:
        """Joins the deltas of words and of calls into one message."""
        words: list[str] = []
        calls: dict[int, dict[str, Any]] = {}
        for delta in _deltas(parts):
            words.append(delta.get("content") or "")
            for call in delta.get("tool_calls") or ():
                fields = fields_of(call)
                function = fields_of(fields.get("function"))
                request = calls.setdefault(
                    fields.get("index") or 0, {"id": None, "name": "", "arguments": ""}
                )
                request["id"] = request["id"] or fields.get("id")
                request["name"] = request["name"] or function.get("name") or ""
                request["arguments"] += function.get("arguments") or ""
        tool_calls = [{"id": call.pop("id"), "type": "function", "function": call} for call in calls.values()]
        message = {"role": "assistant", "content": "".join(words), "tool_calls": tool_calls or None}
        return {"choices": [{"message": message}]}


class Responses(CallForm):
    """``responses.create`` of OpenAI."""

    def kept_history(self, arguments: Arguments) -> str | None:
        """Returns the id of the answer that the call follows, or of its conversation."""
        conversation = arguments.get("conversation")
        if conversation is not None and not isinstance(conversation, str):
            conversation = fields_of(conversation).get("id")
        return arguments.get("previous_response_id") or conversation

    def items(self, arguments: Arguments) -> list[ConversationItem]:
        """Returns the input of the call; a bare text is one item."""
        value = arguments.get("input")
        if isinstance(value, str):
            return [ConversationItem(value, words=value)]
        items = []
        for item in value or ():
            fields = fields_of(item)
            kind, role = fields.get("type"), fields.get("role")
            results: tuple[ToolResult, ...] = ()
            if isinstance(kind, str) and kind.endswith("_call_output"):
                results = (ToolResult(str(fields.get("call_id")), fields.get("output")),)
            is_answer = role == "assistant" or (kind in ("function_call", "reasoning", "custom_tool_call"))
            words = fields.get("content") if role == "user" else None
            items.append(ConversationItem(item, is_answer, words, results))
        return items

    def with_note(self, arguments: Arguments, note: str) -> Arguments:
        """Adds the note as an item of the user."""
        value = arguments.get("input")
        items = [{"role": "user", "content": value}] if isinstance(value, str) else list(value or ())
        return {**arguments, "input": [*items, {"role": "user", "content": note}]}

    def last_words(self, arguments: Arguments, text: str) -> Any:
        """Returns a completed ``Response`` with the text as its message."""
        number = time.time_ns()
        part = {"type": "output_text", "text": text, "annotations": []}
        message = {
            "id": f"msg-ebbtide-{number}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
        return sdk_object(
            "openai.types.responses",
            "Response",
            {
                "id": f"resp-ebbtide-{number}",
                "object": "response",
                "created_at": time.time(),
                "model": str(arguments.get("model", "")),
                "output": [message],
                "parallel_tool_calls": True,
                "tool_choice": "none",
                "tools": [],
                "status": "completed",
            },
        )

    def stream_of(self, answer: Any) -> list[Any]:
        """Returns the answer as the nine events of a stream with one text."""
        whole = answer.model_dump()
        item = whole["output"][0]
        part = item["content"][0]
        begun = {"status": "in_progress"}
        started = {**whole, **begun, "output": []}
        place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        events: list[tuple[str, Arguments]] = [
            ("created", {"response": started}),
            ("in_progress", {"response": started}),
            ("output_item.added", {"output_index": 0, "item": {**item, **begun, "content": []}}),
            ("content_part.added", {**place, "part": {**part, "text": ""}}),
            ("output_text.delta", {**place, "delta": part["text"], "logprobs": []}),
            ("output_text.done", {**place, "text": part["text"], "logprobs": []}),
            ("content_part.done", {**place, "part": part}),
            ("output_item.done", {"output_index": 0, "item": item}),
            ("completed", {"response": whole}),
        ]
        return [
            sdk_object(
                "openai.types.responses",
                _EVENTS[kind],
                {"type": f"response.{kind}", "sequence_number": number, **data},
            )
            for number, (kind, data) in enumerate(events)
        ]

    def whole(self, parts: Sequence[Any]) -> Any:
        """Returns the response that the last event with one holds."""
        for part in reversed(parts):
            response = fields_of(part).get("response")
            if response is not None:
                return response
        return {"output": []}


class Messages(CallForm):
    """``messages.create`` of Anthropic.

    Args:
        types: The module of its classes.
        mark: The beginning of their names.
    """

    def __init__(self, types: str = "anthropic.types", mark: str = "") -> None:
        self._types = types
        self._mark = mark

    def kept_history(self, arguments: Arguments) -> str | None:
        """Returns the id of the answer whose thread the call goes on with."""
        previous = fields_of(arguments.get("thread")).get("previous_message_id")
        return previous if isinstance(previous, str) else None

    def items(self, arguments: Arguments) -> list[ConversationItem]:
        """Returns the messages of the call; answers of tools are blocks in those of the user."""
        items = []
        for message in arguments.get("messages") or ():
            fields = fields_of(message)
            content, role = fields.get("content"), fields.get("role")
            blocks = [] if isinstance(content, str) else [fields_of(block) for block in content or ()]
            results = tuple(
                ToolResult(
                    str(block.get("tool_use_id")), block.get("content"), bool(block.get("is_error", False))
                )
                for block in blocks
                if block.get("type") == "tool_result"
            )
            texts = [block.get("text") for block in blocks if block.get("type") == "text"]
            words = None if role != "user" else content if isinstance(content, str) else texts or None
            items.append(ConversationItem(message, role == "assistant", words, results))
        return items

    def with_note(self, arguments: Arguments, note: str) -> Arguments:
        """Adds the note as a block of the last message if it is the user's: roles alternate."""
        block = {"type": "text", "text": note}
        messages = list(arguments["messages"])
        last = fields_of(messages[-1]) if messages else {}
        if last.get("role") == "user":
            content = last["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
            messages[-1] = {**last, "content": [*blocks, block]}
        else:
            messages.append({"role": "user", "content": [block]})
        return {**arguments, "messages": messages}

    def without_tools(self, arguments: Arguments) -> Arguments:
        """Sets the choice of tools to none, if there are tools; a thread keeps those of its first call."""
        has_tools = arguments.get("tools") or self.kept_history(arguments)
        return {**arguments, "tool_choice": {"type": "none"}} if has_tools else arguments

    def last_words(self, arguments: Arguments, text: str) -> Any:
        """Returns a ``Message`` with the text as its one block."""
        return self._object(
            "Message",
            {
                "id": f"msg-ebbtide-{time.time_ns()}",
                "type": "message",
                "role": "assistant",
                "model": str(arguments.get("model", "")),
                "content": [{"type": "text", "text": text, "citations": None}],
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 0, "output_tokens": 0},
            },
        )

    def stream_of(self, answer: Any) -> list[Any]:
        """Returns the answer as the six events of a stream with one block."""
        start = {**answer.model_dump(), "content": [], "stop_reason": None}
        block = {"type": "text", "text": "", "citations": None}
        text = answer.content[0].text
        return [
            self._object("RawMessageStartEvent", {"type": "message_start", "message": start}),
            self._object(
                "RawContentBlockStartEvent",
                {"type": "content_block_start", "index": 0, "content_block": block},
            ),
            self._object(
                "RawContentBlockDeltaEvent",
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            ),
            self._object("RawContentBlockStopEvent", {"type": "content_block_stop", "index": 0}),
            self._object(
                "RawMessageDeltaEvent",
                {
                    "type": "message_delta",
                    "delta": {"stop_reason": "end_turn", "stop_sequence": None},
                    "usage": {"output_tokens": 0},
                },
            ),
            self._object("RawMessageStopEvent", {"type": "message_stop"}),
        ]

    def _object(self, name: str, data: Mapping[str, Any]) -> Any:
        return sdk_object(self._types, f"{self._mark}{name}", data)

    def whole(self, parts: Sequence[Any]) -> Any:
        """Joins the deltas of each block into one message."""
        blocks: dict[int, dict[str, Any]] = {}
        for part in map(fields_of, parts):
            index = part.get("index")
            if not isinstance(index, int):
                continue
            block = blocks.setdefault(index, {"type": "text", "text": "", "input": ""})
            start, delta = fields_of(part.get("content_block")), fields_of(part.get("delta"))
            block.update({name: start[name] for name in ("type", "id", "name") if start.get(name)})
            block["text"] += delta.get("text") or ""
            block["input"] += delta.get("partial_json") or ""
        return {"role": "assistant", "content": [block for _, block in sorted(blocks.items())]}


def _deltas(parts: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    for part in parts:
        for choice in fields_of(part).get("choices") or ():
            yield fields_of(fields_of(choice).get("delta"))


class PlainObject(SimpleNamespace):
    """Object with the same attributes, if the SDK is not installed: the client only offers its methods."""

    def model_dump(self) -> dict[str, Any]:
        """Returns the object as plain data."""
        plain: dict[str, Any] = json.loads(json.dumps(self, default=vars))
        return plain


def sdk_object(module: str, name: str, data: Mapping[str, Any]) -> Any:
    """Returns an object of an SDK, or one with its attributes.

    Args:
        module: The module of its class.
        data: Its fields, as plain data.

    >>> sdk_object("no_such_sdk", "Answer", {"content": [{"text": "It ends here."}]}).content[0].text
    'It ends here.'
    """
    try:
        kind = getattr(import_module(module), name)
    except ImportError:
        return json.loads(json.dumps(data), object_hook=lambda fields: PlainObject(**fields))
    answer = kind.model_validate(data)
    for private in _OF_THE_ANSWER:
        with suppress(AttributeError, ValueError):
            setattr(answer, private, None)
    return answer
