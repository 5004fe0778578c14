"""Which run a call of a model belongs to, told by its messages: a call goes on with the one before."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from ebbtide.adapters.answer_text import answer_text
from ebbtide.events.object_fields import fields_of
from ebbtide.events.provider_answer import ToolRequest, answer_parts

_MOST: Final = 10_000  # conversations that may go on
_MOST_CALLS: Final = 1_000  # of one answer, or that wait for their results
_HASH: Final = 16  # bytes


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer of a tool, as it stands in a conversation.

    Args:
        call_id: The call that it answers.
        content: The answer.
        is_error: Whether the program says that the call failed.
    """

    call_id: str
    content: object
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ConversationItem:
    """One message of a conversation.

    Args:
        value: As the program wrote it.
        is_answer: Whether the model wrote it.
        words: What a person says in it; None where nobody does.
        results: Answers of tools in it.
    """

    value: object
    is_answer: bool = False
    words: object = None
    results: tuple[ToolResult, ...] = ()


@dataclass(slots=True)
class ChatRun:
    """A run, as far as its calls have come.

    Attributes:
        run_id: The run.
        digest: Of all items of its latest call.
        calls: What the model has asked for and not yet got, by id.
        latest: The ids of its latest answer's calls.
        attempt: What its latest call was: the answer that it named, and the digest of its items.
    """

    run_id: str
    digest: bytes = b""
    attempt: tuple[str | None, bytes] = (None, b"")
    calls: dict[str, ToolRequest] = field(default_factory=dict)
    latest: frozenset[str] = frozenset()

    def take(self, answer: object) -> str | None:
        """Note what an answer of the model asks for; its id, where it has one."""
        requests = answer_parts(answer).requests[:_MOST_CALLS]
        for request in requests:
            if request.id is not None:
                self.calls[str(request.id)] = request
        self.latest = frozenset(str(request.id) for request in requests)
        while len(self.calls) > _MOST_CALLS:
            del self.calls[next(iter(self.calls))]
        answer_id = fields_of(answer).get("id")
        return answer_id if isinstance(answer_id, str) else None


class Conversations:
    """The conversations of one client. It may be used from several threads.

    Args:
        new_run: Gives the id of a conversation that goes on with none.
    """

    def __init__(self, new_run: Callable[[], str]) -> None:
        self._new_run = new_run
        self._by_digest: OrderedDict[tuple[bytes, frozenset[str]], ChatRun] = OrderedDict()
        self._by_answer: OrderedDict[str, ChatRun] = OrderedDict()
        self._by_failure: OrderedDict[tuple[str | None, bytes], ChatRun] = OrderedDict()
        self._lock = threading.Lock()

    def place(
        self, items: Sequence[ConversationItem], previous: str | None = None
    ) -> tuple[ChatRun, Sequence[ConversationItem]]:
        """The conversation of a call, and what is new in it: nothing, where the same call has failed before.

        Args:
            items: All messages of the call.
            previous: The id of the answer that it goes on with, where the provider keeps the conversation.
        """
        digests = _digests(items)
        attempt = (previous, digests[-1] if digests else b"")
        with self._lock:
            conversation = self._by_failure.pop(attempt, None)
            if conversation is not None:
                return conversation, ()
            conversation, news = self._placed(items, digests, previous)
        conversation.attempt = attempt
        return conversation, news

    def keep(self, conversation: ChatRun, answer: object) -> None:
        """A conversation may go on from an answer of the model."""
        answer_id = conversation.take(answer)
        with self._lock:
            self._by_digest[conversation.digest, conversation.latest] = conversation
            if answer_id is not None:
                self._by_answer[answer_id] = conversation
            self._forget()

    def fail(self, conversation: ChatRun) -> None:
        """The latest call of a conversation failed: it may be sent again."""
        with self._lock:
            self._by_failure[conversation.attempt] = conversation
            self._forget()

    def _placed(
        self, items: Sequence[ConversationItem], digests: Sequence[bytes], previous: str | None
    ) -> tuple[ChatRun, Sequence[ConversationItem]]:
        if previous is not None and (conversation := self._by_answer.pop(previous, None)) is not None:
            return conversation, items
        for place in range(len(items) - 1, 0, -1):
            item = items[place]
            if not item.is_answer:
                continue
            requests = frozenset(str(request.id) for request in answer_parts(item.value).requests)
            conversation = self._by_digest.pop((digests[place - 1], requests), None)
            if conversation is not None:
                conversation.digest = digests[-1]
                return conversation, items[place + 1 :]
        return ChatRun(self._new_run(), digests[-1] if digests else b""), items

    def _forget(self) -> None:
        for table in (self._by_digest, self._by_answer, self._by_failure):
            while len(table) > _MOST:
                table.popitem(last=False)


def _digests(items: Sequence[ConversationItem]) -> list[bytes]:
    """Of the items up to each of them."""
    running = blake2b(digest_size=_HASH)
    digests = []
    for item in items:
        running.update(_form(item.value).encode("utf-8", "surrogatepass"))
        running.update(b"\0")
        digests.append(running.copy().digest())
    return digests


def _form(value: object) -> str:
    """The same text for the same message, as a dict or as an object of an SDK."""
    if isinstance(value, str):
        return value
    fields: Mapping[str, Any] = fields_of(value)
    stated = {key: item for key, item in fields.items() if item is not None}
    try:
        return json.dumps(stated, sort_keys=True)
    except (TypeError, ValueError):
        return f"{stated.get('role')} {answer_text(value)} {sorted(stated)}"
