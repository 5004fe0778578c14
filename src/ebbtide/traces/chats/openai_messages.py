"""Messages of OpenAI's and Anthropic's interfaces: a conversation, many of them, or requests with answers.

Messages with ``role`` and ``content``: tools are called in ``tool_calls`` and answered by role ``tool``, or
called by blocks ``tool_use`` and answered by ``tool_result``; items of responses; answers with ``usage``.
Anthropic's input tokens do not include those from the cache. Source: its messages interface, 2023-06-01.

A list of conversations gives each a chain of its own. There are no times, so rates are not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event
from ebbtide.traces.chats.chat_events import ChatEvents, Exchanges, reply_usage
from ebbtide.traces.chats.message_shapes import messages_in
from ebbtide.traces.chats.sniffing import (
    is_answer,
    is_call_of_others,
    is_exchange,
    is_item,
    parts_of_exchange,
    talk_in,
)
from ebbtide.traces.input.document import shape
from ebbtide.traces.records.fields import text
from ebbtide.traces.records.usage_accounts import UsageLedger


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
        if isinstance(value, list):
            return self._run(value, path, {})
        if not isinstance(value, dict):
            raise TranscriptError(f"expected a message, found {shape(value)}")
        if isinstance(value.get("role"), str):
            return self._talk.add(value)
        if is_exchange(value):
            return self._exchanges.add(value)
        if (talk := talk_in(value)) is not None:
            around, messages = talk
            return self._run(messages, path, around)
        if is_answer(value) or is_item(value):
            return self._talk.add(value) if is_item(value) else self._answer(value)
        if is_call_of_others(value):
            raise TranscriptError("a tool call that is not a message", hint="It is left out.")
        return ()  # Logs mix messages with other records.

    def finish(self) -> Sequence[Event]:
        """The calls whose results never came."""
        return [*self._talk.finish(), *self._exchanges.finish()]

    def _answer(self, value: Mapping[str, Any]) -> list[Event]:
        _, response = parts_of_exchange(value)
        messages = messages_in(response or value, "assistant")
        requests = [
            {"id": item.id, "function": {"name": item.name, "arguments": item.args}}
            for part in messages
            for item in part.requests
        ]
        words = "\n\n".join(part.text for part in messages if part.text) or None
        return self._talk.add(
            {**(response or value), "role": "assistant", "content": words, "tool_calls": requests}
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
