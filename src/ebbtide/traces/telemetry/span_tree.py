"""Where spans stand in their trace, and what of them is recorded inside them already."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from enum import Flag

from ebbtide.events.usage import Usage
from ebbtide.traces.chats.chain_events import Slot
from ebbtide.traces.telemetry.span import Span
from ebbtide.traces.telemetry.span_kind import SpanKind

MOST_KNOWN = 50_000  # spans, and traces, whose place is remembered
_DEEPEST = 200  # spans in each other

Key = tuple[str, str]


class Detail(Flag):
    """What spans inside a span report."""

    NOTHING = 0
    LLM = 1  #: a call of a model
    TOKENS = 2
    COST = 4
    TEXT = 8


@dataclass(slots=True)
class Node:
    """What is remembered of a span; `usage` and `cost_usd` are None where it reports none."""

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
        self.nodes: OrderedDict[Key, Node] = OrderedDict()
        self._details: OrderedDict[Key, Detail] = OrderedDict()
        self._traces: OrderedDict[str, Detail] = OrderedDict()

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
        if len(self.nodes) > MOST_KNOWN:
            self.nodes.popitem(last=False)
        details = self.details_inside(key)
        details |= Detail.LLM if span.kind is SpanKind.LLM else Detail.NOTHING
        details |= Detail.TOKENS if span.has_tokens else Detail.NOTHING
        details |= Detail.COST if span.cost_usd else Detail.NOTHING
        # Only an agent's or a model's words are an answer; a chain's output may be anything.
        if span.kind in (SpanKind.LLM, SpanKind.AGENT) and span.text is not None:
            details |= Detail.TEXT
        if span.trace and span.kind is SpanKind.LLM:
            self._traces[span.trace] = self.details_in_trace(span.trace) | details
            if len(self._traces) > MOST_KNOWN:
                self._traces.popitem(last=False)
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
        if len(self._details) > MOST_KNOWN:
            self._details.popitem(last=False)

    def details_inside(self, key: Key) -> Detail:
        """What the spans inside one report, as far as their parents are known."""
        return self._details.get(key, Detail.NOTHING)

    def details_in_trace(self, trace: str) -> Detail:
        """What the calls of models in a trace report."""
        return self._traces.get(trace, Detail.NOTHING)

    def details_under(self, key: Key) -> Detail:
        """What is reported inside a span; all of a trace is inside its outermost, though some is missing."""
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
        """Whether the words of a span that calls no model are an agent's: no model in its trace has them.

        It is an agent, or the outermost of its trace; so is one whose outer spans are missing.
        """
        if Detail.LLM in self.details_in_trace(span.trace):
            return False
        return span.kind is SpanKind.AGENT or span.parent is None or (key[0], span.parent) not in self.nodes
