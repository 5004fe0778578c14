"""Reads the messages that stand in spans: what one span had already is not read again.

Every call of a model is recorded with its whole context, so a run of n calls holds its first message n times.
Reading them is most of the work. What is reused is found by comparing texts, so it is the same as read anew.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.traces.chats.message_shapes import ChatMessage, messages_in
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.telemetry.genai_names import tree_of

_SHORTEST = 500  # characters: reading less takes no longer than looking for it
_MOST_TEXTS = 8  # contexts that grow side by side
_MOST_CHARACTERS = 32_000_000

Fields = tuple[tuple[str, Any], ...]


class MessageMemory:
    """Reads messages like `messages_in`, in bounded memory."""

    def __init__(self) -> None:
        self._texts: list[tuple[str, str, list[ChatMessage]]] = []
        self._messages: OrderedDict[tuple[str, Fields], list[ChatMessage]] = OrderedDict()
        self._characters = 0  # of the messages

    def messages_in(self, value: object, role: str) -> list[ChatMessage]:
        """The messages in a value; of a text that begins with an earlier one, only the rest is read."""
        if (
            not isinstance(value, str)
            or len(value) < _SHORTEST
            or not (value[:2] == "[{" and value[-1] == "]")
        ):
            return messages_in(value, role)
        messages = self._more(value, role)
        if messages is None:
            messages = messages_in(value, role)
        self._texts.insert(0, (value[:-1].rstrip(), role, messages))
        size = 0
        for place, (text, _, _) in enumerate(self._texts):
            size += len(text)
            if place >= _MOST_TEXTS or (place and size > _MOST_CHARACTERS):
                del self._texts[place:]
                break
        return messages

    def messages_listed(self, items: Iterable[Fields], role: str) -> list[ChatMessage]:
        """The messages of a list whose items stand in fields with dotted names, such as ``message.role``."""
        messages: list[ChatMessage] = []
        for fields in items:
            try:
                earlier = self._messages.get((role, fields))
            except TypeError:  # A list among the values.
                messages += messages_in([tree_of(fields)], role)
                continue
            if earlier is None:
                earlier = self._messages[role, fields] = messages_in([tree_of(fields)], role)
                self._characters += _size(fields)
                while self._characters > _MOST_CHARACTERS:
                    (_, oldest), _ = self._messages.popitem(last=False)
                    self._characters -= _size(oldest)
            messages += earlier
        return messages

    def _more(self, value: str, role: str) -> list[ChatMessage] | None:
        """The messages of a known text that this one begins with, and those behind it; None if none is."""
        for place, (text, earlier_role, earlier) in enumerate(self._texts):
            if earlier_role != role or not value.startswith(text):
                continue
            rest = value[len(text) : -1].strip()
            if rest and not (rest[0] == "," and rest[1:].lstrip().startswith("{")):
                continue
            try:
                more = messages_in(json_value(f"[{rest[1:]}]"), role) if rest else []
            except TranscriptError:
                continue
            del self._texts[place]
            return [*earlier, *more]
        return None


def _size(fields: Fields) -> int:
    return 100 + sum(len(name) + (len(value) if isinstance(value, str) else 10) for name, value in fields)
