"""Which conversation a call of a model goes on with, told by its context."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

from ebbtide.traces.chats.message_shapes import ChatMessage
from ebbtide.traces.records.fields import compact

_MOST = 20_000  # contexts that are remembered
_MOST_DIGESTED = 16  # contexts of which the digests of all messages are kept


class Contexts:
    """Remembers what models were told and said; a later context that begins with all of it goes on with it.

    Programs that call a model directly have a trace for every call, each with the whole conversation so far.
    Instructions, ids of calls and results of tools play no part: they are left out, cut or changed.
    """

    def __init__(self) -> None:
        self._names: OrderedDict[bytes, str] = OrderedDict()
        self._digested: OrderedDict[int, tuple[Sequence[ChatMessage], list[bytes]]] = OrderedDict()

    def remember(self, name: str, inputs: Sequence[ChatMessage], outputs: Sequence[ChatMessage]) -> None:
        """A model said something in the conversation `name`."""
        if not any(message.text or message.requests for message in outputs):
            return
        context = self._contexts([*inputs, *outputs])[-1]
        if not context:
            return
        self._names[context] = name
        self._names.move_to_end(context)
        if len(self._names) > _MOST:
            self._names.popitem(last=False)

    def goes_on(self, inputs: Sequence[ChatMessage]) -> str | None:
        """The conversation whose context, its last answer included, this one begins with."""
        contexts = self._contexts(inputs)
        return next((name for context in reversed(contexts) if (name := self._names.get(context))), None)

    def _contexts(self, messages: Sequence[ChatMessage]) -> list[bytes]:
        """Digests of a context up to each of its messages; those of an earlier context are not made again."""
        if not messages:
            return []
        first = id(messages[0])  # Lives as long as it stands in a context that is kept.
        earlier, digests = self._digested.get(first, ((), []))
        same = next(
            (at for at, (one, other) in enumerate(zip(earlier, messages, strict=False)) if one is not other),
            min(len(earlier), len(messages)),
        )
        digests = digests[:same]
        for message in messages[same:]:
            digests.append(_digest(digests[-1] if digests else b"", message))
        self._digested[first] = (messages, digests)
        self._digested.move_to_end(first)
        if len(self._digested) > _MOST_DIGESTED:
            self._digested.popitem(last=False)
        return digests


def _digest(context: bytes, message: ChatMessage) -> bytes:
    if message.role not in ("user", "assistant") or not (message.text or message.requests):
        return context
    requests = "".join(f"\0{item.name}\0{compact(item.args)}" for item in message.requests)
    words = f"{message.role}\0{message.text or ''}{requests}"
    return blake2b(words.encode(errors="replace"), key=context, digest_size=16).digest()
