"""Places of spans in their trace, and what of them is recorded inside them already."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Flag
from hashlib import blake2b

from ebbtide.bounded import Bounded
from ebbtide.events.usage import Usage
from ebbtide.traces.chats.chain_events import Slot
from ebbtide.traces.chats.message_shapes import ChatMessage
from ebbtide.traces.records.fields import compact
from ebbtide.traces.telemetry.span import Span, SpanKind

MOST_KNOWN = 50_000  # spans, and traces, whose place is remembered
_DEEPEST = 200  # spans in each other

Key = tuple[str, str]


class Detail(Flag):
    """Details that spans inside a span report."""

    NOTHING = 0
    LLM = 1  #: a call of a model
    TOKENS = 2
    COST = 4
    TEXT = 8


@dataclass(slots=True)
class Node:
    """Memory of a span; `usage` and `cost_usd` are None where it reports none."""

    parent: str | None
    kind: SpanKind
    name: str
    conversation: str | None
    agent: str | None
    model: str | None
    usage: Usage | None
    cost_usd: float | None
    slot: Slot | None = None
    wrapper: Span | None = None


class SpanTree:
    """Remembers spans by trace and id, the last of very many.

    Attributes:
        nodes: What is known of each.
    """

    def __init__(self) -> None:
        self.nodes: Bounded[Key, Node] = Bounded(MOST_KNOWN)
        self._details: Bounded[Key, Detail] = Bounded(MOST_KNOWN)
        self._traces: Bounded[str, Detail] = Bounded(MOST_KNOWN)

    def register(self, key: Key, span: Span) -> None:
        """A span is there, again or for the first time."""
        self.nodes[key] = Node(
            span.parent,
            span.kind,
            span.name,
            span.conversation,
            span.agent,
            span.model,
            span.usage if span.has_tokens else None,
            span.cost_usd or None,
        )
        details = self.details_inside(key)
        details |= Detail.LLM if span.kind is SpanKind.LLM else Detail.NOTHING
        details |= Detail.TOKENS if span.has_tokens else Detail.NOTHING
        details |= Detail.COST if span.cost_usd else Detail.NOTHING
        # Only an agent's or a model's words are an answer; a chain's output may be anything.
        if span.kind in (SpanKind.LLM, SpanKind.AGENT) and span.text is not None:
            details |= Detail.TEXT
        if span.trace and span.kind is SpanKind.LLM:
            self._traces[span.trace] = self.details_in_trace(span.trace) | details
        self._note_around(key, span.parent, details)

    def _note_around(self, key: Key, parent: str | None, details: Detail) -> None:
        """Note at all spans around one what it reports."""
        for _ in range(_DEEPEST):
            if parent is None:
                return
            around = (key[0], parent)
            before = self.details_inside(around)
            if before | details == before:
                return
            self.note(around, details)
            node = self.nodes.get(around)
            parent = node.parent if node else None

    def note(self, key: Key, details: Detail) -> None:
        """Something inside a span reports this."""
        self._details[key] = self.details_inside(key) | details

    def details_inside(self, key: Key) -> Detail:
        """Returns what the spans inside one report, as far as their parents are known."""
        return self._details.get(key, Detail.NOTHING)

    def details_in_trace(self, trace: str) -> Detail:
        """Returns what the calls of models in a trace report."""
        return self._traces.get(trace, Detail.NOTHING)

    def details_under(self, key: Key) -> Detail:
        """Returns what is reported inside a span.

        All of a trace is inside its outermost span, though some is missing.
        """
        node = self.nodes.get(key)
        outermost = node is not None and node.parent is None and node.kind is not SpanKind.LLM
        details = self.details_inside(key)
        return details | self.details_in_trace(key[0]) if outermost and key[0] else details

    def around(self, key: Key) -> list[tuple[Key, Node]]:
        """The spans around one, itself first."""
        path = []
        for _ in range(_DEEPEST):
            node = self.nodes.get(key)
            if node is None:
                break
            path.append((key, node))
            if node.parent is None:
                break
            key = (key[0], node.parent)
        return path

    def agent(self, key: Key) -> str | None:
        """Who acts in a span."""
        return next((node.agent for _, node in self.around(key) if node.agent), None)

    def speaks(self, key: Key, span: Span) -> bool:
        """True if the words of a span that calls no model are an agent's: no model in its trace has them.

        It is an agent, or the outermost of its trace; so is one whose outer spans are missing.
        """
        if Detail.LLM in self.details_in_trace(span.trace):
            return False
        return span.kind is SpanKind.AGENT or span.parent is None or (key[0], span.parent) not in self.nodes


_MOST = 20_000  # contexts that are remembered
_MOST_DIGESTED = 16  # contexts of which the digests of all messages are kept


class Contexts:
    """Remembers what models read and said; a later context that begins with all of it goes on with it.

    Programs that call a model directly have a trace for every call, each with the whole conversation so far.
    Instructions, ids of calls and results of tools play no part: they are left out, cut or changed.
    """

    def __init__(self) -> None:
        self._names: Bounded[bytes, str] = Bounded(_MOST)
        self._digested: Bounded[int, tuple[Sequence[ChatMessage], list[bytes]]] = Bounded(_MOST_DIGESTED)

    def remember(self, name: str, inputs: Sequence[ChatMessage], outputs: Sequence[ChatMessage]) -> None:
        """A model said something in the conversation `name`."""
        if not any(message.text or message.requests for message in outputs):
            return
        context = self._contexts([*inputs, *outputs])[-1]
        if not context:
            return
        self._names.renew(context, name)

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
        self._digested.renew(first, (messages, digests))
        return digests


def _digest(context: bytes, message: ChatMessage) -> bytes:
    if message.role not in ("user", "assistant") or not (message.text or message.requests):
        return context
    requests = "".join(f"\0{item.name}\0{compact(item.args)}" for item in message.requests)
    words = f"{message.role}\0{message.text or ''}{requests}"
    return blake2b(words.encode(errors="replace"), key=context, digest_size=16).digest()


_MOST_CALLS = 10_000  # calls that are remembered


class SameCalls:
    """Tells spans of one call by the id of its response, and by their times, which overlap.

    A provider gives every response an id of its own; a scripted model may give the same one again.
    """

    def __init__(self) -> None:
        self._calls: Bounded[str, tuple[Key, float, float]] = Bounded(_MOST_CALLS)

    def first(self, key: Key, span: Span) -> Key | None:
        """The span that recorded the call before this one; None where none did."""
        if span.response is None or span.kind is not SpanKind.LLM:
            return None
        start = -math.inf if span.start is None else span.start
        end = math.inf if span.end is None else span.end
        place, other_start, other_end = self._calls.get(span.response, (None, 0.0, 0.0))
        if place is not None and place != key and start <= other_end and other_start <= end:
            return place
        self._calls[span.response] = key, start, end
        return None


def joined(span: Span, other: Span) -> Span:
    """A span of a call, with what only the other one of the same call reports."""
    return replace(
        span,
        inputs=span.inputs or other.inputs,
        outputs=span.outputs or other.outputs,
        usage=span.usage if span.has_tokens else other.usage,
        cost_usd=span.cost_usd or other.cost_usd,
        conversation=span.conversation or other.conversation,
    )
