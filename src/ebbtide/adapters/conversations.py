"""Assignment of a call of a model to its run, by its messages, and of the messages that are new in it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from ebbtide.adapters.answer_text import answer_text
from ebbtide.bounded import Bounded
from ebbtide.events.object_fields import fields_of
from ebbtide.events.provider_answer import ToolRequest, answer_parts

_MOST: Final = 10_000  # conversations that may go on, and calls that may be sent again
_MOST_CALLS: Final = 1_000  # of one answer, or that wait for their results, or that have them
_HASH: Final = 16  # bytes
_DRAWN: Final = 12  # characters at the end of an id that a provider draws, and does not count up
_CACHE_MARK: Final = "cache_control"  # which programs move to the latest message with every call


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Answer of a tool, as it stands in a conversation.

    Args:
        call_id: The call that it answers.
        is_error: True if the program says that the call failed.
    """

    call_id: str
    content: object
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ConversationItem:
    """One message of a conversation.

    Args:
        value: The message as the program wrote it.
        is_answer: True if the model wrote it.
        words: Words of a person in it; None if nobody speaks.
        results: Answers of tools in it.
    """

    value: object
    is_answer: bool = False
    words: object = None
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call of a tool that a model has asked for.

    Args:
        batch: Equal for the calls of one answer, also in another process.
    """

    request: ToolRequest
    batch: str


@dataclass(slots=True)
class ChatRun:
    """A run, as far as its calls have come.

    Attributes:
        calls: Calls that the model has asked for and whose answers it has not yet got, by id.
        answered: The ids of the calls whose answers it has got.
    """

    run_id: str
    calls: Bounded[str, AskedCall] = field(default_factory=lambda: Bounded(_MOST_CALLS))
    answered: Bounded[str, None] = field(default_factory=lambda: Bounded(_MOST_CALLS))

    def ask(self, answer: object, batch: str, *, is_old: bool = False) -> frozenset[str]:
        """Notes what an answer of the model asks for; returns the ids of it.

        Args:
            batch: Batch of its calls.
            is_old: True if it may have been noted before: what was answered then is not asked for again.
        """
        requests = answer_parts(answer).requests[:_MOST_CALLS]
        for request in requests:
            if request.id is not None and not (is_old and str(request.id) in self.answered):
                self.calls[str(request.id)] = AskedCall(request, batch)
        return frozenset(str(request.id) for request in requests)

    def answer(self, call_id: str) -> AskedCall | None:
        """Returns the call that a result is for; None if nobody waits for it."""
        call = self.calls.pop(call_id, None)
        if call is not None:
            self.answered[call_id] = None
        return call


@dataclass(frozen=True, slots=True)
class ChatCall:
    """One call of a model.

    Args:
        conversations: Those that it belongs to.
        digest: Digest of all its items.
        previous: The id of what it goes on with, where the provider keeps the history.
        beginning: Digest of what stands before the first answer.
        news: Words of people and answers of tools that were in no call before.
    """

    run: ChatRun
    conversations: Conversations
    digest: bytes = b""
    previous: str | None = None
    beginning: bytes = b""
    news: Sequence[ConversationItem] = ()


class Conversations:
    """Conversations of one client. It may be used from several threads.

    What a call repeats of an earlier one is no news: it may be sent again after it failed or was refused, or
    for another answer. The history of a run with a name is taken for known even where no call is found that
    it goes on from, since its beginning was rewritten, or the process is another: what follows its latest
    answer is news.

    Args:
        new_run: Returns the id of a conversation that goes on with none.
        run_id: The run of all of them; None distinguishes them by their messages.
    """

    def __init__(self, new_run: Callable[[], str], run_id: str | None = None) -> None:
        self._new_run = new_run
        self._run = None if run_id is None else ChatRun(run_id)
        self._by_answer: Bounded[tuple[bytes, frozenset[str]], ChatRun] = Bounded(_MOST)
        self._by_answer_id: Bounded[str, ChatRun] = Bounded(_MOST)
        # By the ids of what it asks for, also after its beginning: None where two runs have them.
        self._by_ids: Bounded[tuple[bytes, frozenset[str]], ChatRun | None] = Bounded(_MOST)
        self._by_call: Bounded[tuple[str | None, bytes], ChatRun] = Bounded(_MOST)
        self._lock = threading.Lock()

    def place(self, items: Sequence[ConversationItem], previous: str | None = None) -> ChatCall:
        """Returns the run of a call, and what is new in it: nothing, if the same call was sent before.

        Args:
            items: All messages of the call.
        """
        digests = _digests(items)
        digest = digests[-1] if digests else b""
        answers = list(_answers(items))
        beginning = _beginning(digests, answers)
        with self._lock:
            run, start = self._continued(items, digests, answers, previous)
            is_continued = run is not None
            if run is None and (run := self._by_call.get((previous, digest))) is not None:
                return ChatCall(run, self, digest, previous, beginning)
            if run is None and (run := self._run) is not None and answers:
                start = answers[-1][0]
            if run is None:
                run = ChatRun(self._new_run())
            for first, end in answers:
                if first >= start:
                    batch = _batch(digests[first - 1] if first else b"")
                    for item in items[first:end]:
                        run.ask(item.value, batch, is_old=not is_continued)
            # Runs that nobody names may begin with the same words: two such calls are two runs.
            if answers or previous is not None or self._run is not None:
                self._keep_call(run, previous, digest)
        news = [item for item in items[start:] if not item.is_answer]
        return ChatCall(run, self, digest, previous, beginning, news)

    def keep(self, call: ChatCall, answer: object) -> None:
        """Keeps an answer of the model, from which a conversation may go on."""
        ids = call.run.ask(answer, _batch(call.digest))
        answer_id = fields_of(answer).get("id")
        with self._lock:
            self._by_answer[call.digest, ids] = call.run
            for beginning in _marks(call.beginning, ids):
                other = self._by_ids.get((beginning, ids), call.run)
                self._by_ids.renew((beginning, ids), call.run if other is call.run else None)
            for name in (answer_id, call.previous):
                if isinstance(name, str):
                    self._by_answer_id[name] = call.run

    def expect_again(self, call: ChatCall) -> None:
        """Forgets a call that got no answer of the model: it may be sent again."""
        with self._lock:
            self._keep_call(call.run, call.previous, call.digest)

    def _keep_call(self, run: ChatRun, previous: str | None, digest: bytes) -> None:
        self._by_call.renew((previous, digest), run)

    def _continued(
        self,
        items: Sequence[ConversationItem],
        digests: Sequence[bytes],
        answers: Sequence[tuple[int, int]],
        previous: str | None,
    ) -> tuple[ChatRun | None, int]:
        """Returns the run whose latest answer is among the items, and where its news begin."""
        if previous is not None and (run := self._by_answer_id.get(previous)) is not None:
            return run, 0
        windowed: tuple[frozenset[str], int] | None = None
        for first, end in reversed(answers):
            if first:
                parts = (answer_parts(item.value).requests for item in items[first:end])
                ids = frozenset(str(request.id) for requests in parts for request in requests)
                run = self._by_answer.pop((digests[first - 1], ids), None)
                if run is not None:
                    return run, end
                windowed = windowed or (ids, end)
        if windowed is not None and (ids := windowed[0]):
            # A window that drops the middle of a history keeps the ids of the latest calls.
            for beginning in _marks(_beginning(digests, answers), ids):
                if (run := self._by_ids.get((beginning, ids))) is not None:
                    return run, windowed[1]
        return None, 0


def _answers(items: Sequence[ConversationItem]) -> Iterator[tuple[int, int]]:
    """Yields where each answer of the model begins and ends: it may stand in several items."""
    first = None
    for place, item in enumerate(items):
        if item.is_answer and first is None:
            first = place
        elif not item.is_answer and first is not None:
            yield first, place
            first = None
    if first is not None:
        yield first, len(items)


def _marks(beginning: bytes, ids: frozenset[str]) -> Iterator[bytes]:
    """Yields what a run is known by beside the ids: its beginning, or nothing where ids are drawn."""
    if ids:
        yield beginning
        if all(_is_drawn(name) for name in ids):
            yield b""


def _is_drawn(name: str) -> bool:
    """Returns True if an id ends in letters and figures, more than a count or a word has."""
    end = name[-_DRAWN:]
    return len(end) == _DRAWN and end.isalnum() and not end.isalpha()


def _beginning(digests: Sequence[bytes], answers: Sequence[tuple[int, int]]) -> bytes:
    """Returns the digest of what stands before the first answer."""
    end = answers[0][0] if answers else len(digests)
    return digests[end - 1] if end else b""


def _batch(digest: bytes) -> str:
    """Returns the name of the calls that the answer to some messages asks for."""
    return digest.hex()


def _digests(items: Sequence[ConversationItem]) -> list[bytes]:
    """Returns the digests of the items up to each of them."""
    running = blake2b(digest_size=_HASH)
    digests = []
    for item in items:
        running.update(_form(item.value).encode("utf-8", "surrogatepass"))
        running.update(b"\0")
        digests.append(running.copy().digest())
    return digests


def _form(value: object) -> str:
    """Returns the same text for the same message, as a dict or as an object of an SDK."""
    if isinstance(value, str):
        return value
    fields: Mapping[str, Any] = fields_of(value)
    stated = {key: item for key, item in fields.items() if item is not None and key != _CACHE_MARK}
    if isinstance(stated.get("content"), list):
        stated["content"] = _plain_content(stated["content"])
    try:
        return json.dumps(stated, sort_keys=True)
    except (TypeError, ValueError):
        return f"{stated.get('role')} {answer_text(value)} {sorted(stated)}"


def _plain_content(blocks: Sequence[object]) -> object:
    """Returns the content without the mark of a cache; a bare text becomes a block."""
    plain = [
        {key: item for key, item in block.items() if key != _CACHE_MARK} if isinstance(block, dict) else block
        for block in blocks
    ]
    only = plain[0] if len(plain) == 1 else None
    return only["text"] if isinstance(only, dict) and only.keys() == {"type", "text"} else plain
