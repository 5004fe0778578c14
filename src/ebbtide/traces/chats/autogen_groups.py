"""AutoGen before 0.4: conversations of named speakers, of whom some run code and some call tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ebbtide.events.event import Event, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.chats.chat_events import ChatEvents
from ebbtide.traces.chats.sniffing import AUTOGEN_EXIT, speaker_of
from ebbtide.traces.records.fields import count, dollars, joined_text, mapping
from ebbtide.traces.records.usage_accounts import UsageLedger

_NO_CODE = re.compile(r"\s*There is no code from the last \d+ messages? for me to execute")
_CODE = re.compile(r"```[ \t]*+(?:(\w+)[ \t]*+)?\r?\n(.*?)\n?[ \t]{0,99}```", re.DOTALL)
_USERS = ("human", "user")


class Group:
    """Reads the messages of one conversation, one by one.

    Code that an executor ran is a call of ``execute_code``: the blocks of the message before, and what came
    out.

    Args:
        chain_id: The chain of its events.
    """

    def __init__(self, chain_id: str = "") -> None:
        self._chain = chain_id
        self._talk = ChatEvents(chain_id)
        self._ledger = UsageLedger()
        self._code: str | None = None

    @property
    def duplicates(self) -> int:
        """Results of calls that were answered before."""
        return self._talk.duplicates

    def add(self, message: Mapping[str, Any]) -> list[Event]:
        """The events that one more message completes."""
        words, name, role = joined_text(message.get("content")), speaker_of(message), message.get("role")
        if role in ("tool", "function"):
            return self._count(self._talk.add(message))
        if message.get("tool_calls") or message.get("function_call"):
            return self._count(self._talk.add({**message, "role": "assistant", "name": name}))
        ran = (AUTOGEN_EXIT.match(words) or _NO_CODE.match(words)) if words else None
        if ran:
            failed = ran.re is _NO_CODE or ran[2] == "failed"
            call = ToolCall(
                name="execute_code",
                args=self._code,
                result=words,
                error=failed,
                agent=name,
                chain_id=self._chain,
            )
            return [call]
        if not words:
            return []
        asks = name.lower() in _USERS if name else role != "assistant"
        self._code = code_in(words)
        spoken = {**message, "role": "user" if asks else "assistant", "content": words, "name": name}
        return self._count(self._talk.add(spoken))

    def finish(self, cost: object = None) -> list[Event]:
        """The calls whose results never came, and what the whole took beyond the messages.

        Args:
            cost: What the result of a chat says of it.
        """
        events = self._count(self._talk.finish())
        report = mapping(mapping(cost).get("usage_excluding_cached_inference"))
        if isinstance(cost, list) and cost:
            report = mapping(cost[-1])  # In the first versions it stands behind what was cached.
        models = [usage for usage in report.values() if isinstance(usage, dict)]
        if models:
            totals = Usage(
                input_tokens=sum(count(usage.get("prompt_tokens")) or 0 for usage in models),
                output_tokens=sum(count(usage.get("completion_tokens")) or 0 for usage in models),
                cost_usd=dollars(report.get("total_cost")),
            )
            events += self._ledger.rest(totals, chain_id=self._chain)
        return events

    def _count(self, events: list[Event]) -> list[Event]:
        return [self._ledger.add(event) for event in events]


def code_in(words: str) -> str | None:
    """The blocks of code in a message."""
    return "\n\n".join(block[1] for block in _CODE.findall(words)) or None
