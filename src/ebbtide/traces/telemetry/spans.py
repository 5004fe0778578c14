"""Spans of any tracing convention, a tree of them, made into events without counting anything twice.

A run of an agent is recorded as spans in each other: the agent, its calls of a model, its calls of tools.
Outer spans repeat what inner ones report: tokens and cost of an agent are the sum over its models, and a
wrapper around a client is a second call of the same model. So a span's usage counts only if no span inside it
has any.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from ebbtide.bounded import Bounded
from ebbtide.events.event import Event, ModelCall, ModelPart
from ebbtide.events.usage import Usage
from ebbtide.traces.chats.chain_events import ChainEvents, Slot
from ebbtide.traces.chats.message_shapes import ChatMessage
from ebbtide.traces.records.joining import Seen
from ebbtide.traces.records.provider_usage import reported
from ebbtide.traces.records.time_order import TimeOrder
from ebbtide.traces.telemetry.span import Span, SpanKind
from ebbtide.traces.telemetry.span_tree import (
    MOST_KNOWN,
    Contexts,
    Detail,
    Key,
    SameCalls,
    SpanTree,
    joined,
)

_MOST_WAITING = 10_000  # spans; one that comes later than that is still read, out of order
_MOST_CHAINS = 1_000
_MOST_PLACES = 100_000  # calls and messages that all chains remember, some 600 bytes each
_SPANS_BETWEEN = 1_000  # two looks at how many they are

# Where a span stands among those that wait: start, end from the late one, number, key, whether it is its end.
_Place = tuple[float, float, int, Key, bool]
_FIRST: _Place = (-math.inf, -math.inf, 0, ("", ""), False)


class SpanEvents:
    """Takes spans in any order, gives events in the order of their time; memory is bounded.

    Spans are looked at in the order of their start, as soon as very many wait or there are no more. A call of
    a model or a tool has the time of its end, what went in the time of the start.

    Args:
        most: So many spans wait.
        resumes: Whether another reader has given events of a chain before; by default no one has.

    Attributes:
        duplicates: Spans that were there before.
        number: Grows with each span.
    """

    def __init__(self, most: int = _MOST_WAITING, resumes: Callable[[str], bool] = lambda _: False) -> None:
        self.duplicates = 0
        self.number = 0
        self._most = most
        self._resumes = resumes
        self._latest = -math.inf
        self._seen = Seen()
        self._begun = Seen()  # traces in which a model was called
        self._waiting: dict[Key, Span] = {}
        self._order: list[_Place] = []
        self._endings: set[Key] = set()
        self._tree = SpanTree()
        self._same_calls = SameCalls()
        self._contexts = Contexts()
        self._conversations: Bounded[str, str] = Bounded(MOST_KNOWN)  # of traces
        self._names: Bounded[str, str] = Bounded(MOST_KNOWN)  # of conversations that began without theirs
        self._bases: Bounded[str, str] = Bounded(MOST_KNOWN)  # conversations of chains
        self._tools_have_spans: Bounded[str, None] = Bounded(MOST_KNOWN)
        self._chains: Bounded[str, ChainEvents] = Bounded(_MOST_CHAINS)
        self._ready = TimeOrder()

    def add(self, span: Span) -> list[Event]:
        """The events that need not wait any longer."""
        self.number += 1
        if self.number % _SPANS_BETWEEN == 0:
            places = sum(chain.size for chain in self._chains.values())
            while places > _MOST_PLACES and len(self._chains) > 1:
                _, chain = self._chains.popitem(last=False)
                places -= chain.size
                self._ready.add(chain.finish())
        key = (span.trace, span.id or f"#{self.number}")
        if key in self._waiting:
            self.duplicates += 1
            self._waiting[key] = span
            self._register(key, span)
            self._await_end(key, span)
            return []
        if span.id is not None and self._seen.before("\0".join(key)):
            self.duplicates += 1
            return []
        self._register(key, span)
        if self._is_same_call(key, span):
            self.duplicates += 1
            return []
        self._waiting[key] = span
        start = span.start if span.start is not None else self._latest
        end = span.end if span.end is not None else start
        self._latest = start
        heapq.heappush(self._order, (start, -end, self.number, key, False))
        self._await_end(key, span)
        events: list[Event] = []
        while len(self._waiting) > self._most:
            events += self._next()
        return events

    def _is_same_call(self, key: Key, span: Span) -> bool:
        """True if another span, not inside this one, records the same call; it learns from this one."""
        first = self._same_calls.first(key, span)
        if first is None or any(place == key for place, _ in self._tree.around(first)):
            return False
        waiting = self._waiting.get(first)
        if waiting is not None:
            self._waiting[first] = joined(waiting, span)
            self._register(first, self._waiting[first])
        return True

    def _await_end(self, key: Key, span: Span) -> None:
        """Look at a span that sums up what is inside it once more, when all of that is over."""
        if key in self._endings or span.kind not in (SpanKind.AGENT, SpanKind.OTHER):
            return
        if span.has_spent or span.text:
            start = span.start if span.start is not None else self._latest
            end = span.end if span.end is not None else start
            heapq.heappush(self._order, (max(start, end), 0.0, self.number, key, True))
            self._endings.add(key)

    def hears(
        self, trace: str, number: str, inputs: Sequence[ChatMessage], outputs: Sequence[ChatMessage]
    ) -> bool:
        """Messages of a call of a model that came apart from its span; False if no such span waits."""
        span = self._waiting.get((trace, number))
        if span is None or span.kind is not SpanKind.LLM:
            return False
        span = replace(span, inputs=[*span.inputs, *inputs], outputs=[*span.outputs, *outputs])
        self._waiting[trace, number] = span
        self._register((trace, number), span)
        return True

    def settle(self, number: int) -> list[Event]:
        """The events of the spans up to a number, and of all that began before them in their traces."""
        latest: dict[str, _Place] = {}
        for place in self._order:
            if place[2] <= number:
                trace = place[3][0]
                latest[trace] = max(latest.get(trace, place), place)
        due = sorted(place for place in self._order if place <= latest.get(place[3][0], _FIRST))
        if due:
            self._order = [place for place in self._order if place > latest.get(place[3][0], _FIRST)]
            heapq.heapify(self._order)
        events: list[Event] = []
        for place in due:
            events += self._look(place)
        for chain in self._chains.values():
            if chain.has_waiting:
                self._ready.add(chain.settle())
        return events + self._ready.released()

    def conversation(self, trace: str) -> str | None:
        """The conversation that a trace is a part of; None while that is not known."""
        return self._conversations.get(trace)

    def base(self, chain_id: str) -> str:
        """The conversation, or the trace, that a chain is a part of."""
        return self._bases.get(chain_id, chain_id)

    def finish(self) -> list[Event]:
        """The events of all that still waits."""
        events: list[Event] = []
        while self._order:
            events += self._next()
        for chain in self._chains.values():
            self._ready.add(chain.finish())
        return events + self._ready.released()

    def _register(self, key: Key, span: Span) -> None:
        self._tree.register(key, span)
        if span.conversation:
            name = self._conversations.get(span.trace)
            if name is None:
                known = self._names.get(span.conversation, span.conversation)
                self._conversations[span.trace] = known
            elif name == span.trace and span.conversation not in self._bases:
                # It goes on under the name with which it began.
                self._names[span.conversation] = name
        if span.kind is SpanKind.TOOL:
            self._note_tools(span.trace)

    def _note_tools(self, trace: str) -> None:
        self._tools_have_spans[trace] = None

    def _next(self) -> list[Event]:
        return self._look(heapq.heappop(self._order))

    def _look(self, place: _Place) -> list[Event]:
        start, _, _, key, ending = place
        span = self._waiting.get(key)
        if span is None:
            return []
        if ending or key not in self._endings:
            del self._waiting[key]
            self._endings.discard(key)
        events = self._ready.released(start)
        if ending:
            self._ended(key, span)
        elif span.kind in (SpanKind.LLM, SpanKind.EMBEDDING):
            self._model(key, span)
        elif span.kind is SpanKind.TOOL:
            self._tool(key, span)
        elif span.kind is SpanKind.OTHER and self._is_open(key, span.name):
            self._tree.nodes[key].kind = SpanKind.TOOL
            self._note_tools(span.trace)
            self._tool(key, span)
        elif span.inputs and Detail.LLM not in self._tree.details_under(key) and self._tree.speaks(key, span):
            self._ready.add(self._chain(key).take_input(span.inputs, span.start))
        return events

    def _model(self, key: Key, span: Span) -> None:
        inside = self._tree.details_inside(key)
        if Detail.LLM in inside:
            self._tree.nodes[key].wrapper = span
            return  # A wrapper around the call that stands inside it.
        span = self._with_sums(key, self._unwrapped(key, span))
        chain = self._chain(key, span if span.kind is SpanKind.LLM else None)
        self._ready.add(chain.take_input(span.inputs, span.start))
        usage = span.usage if Detail.TOKENS not in inside else Usage()
        model = span.model or next((node.model for _, node in self._tree.around(key) if node.model), None)
        cost = span.cost_usd if Detail.COST not in inside else None
        call = ModelCall(
            part=ModelPart.WHOLE if span.kind is SpanKind.LLM else ModelPart.EMBEDDING,
            text=_words(span),
            error=span.error,
            chain_id=chain.chain_id,
            agent=span.agent or self._tree.agent(key),
            ts=span.end if span.end is not None else span.start,
            usage=reported(replace(usage, model=model, cost_usd=cost)),
        )
        self._contexts.remember(chain.chain_id, span.inputs, span.outputs)
        requests = [item for message in span.outputs for item in message.requests]
        self._ready.add(chain.take_reply(call, requests))
        answers = [message for message in span.outputs if message.answers]
        if answers:  # A provider's own tools answer within the same message.
            self._ready.add(chain.take_input(span.outputs, call.ts))

    def _unwrapped(self, key: Key, span: Span) -> Span:
        """A call of a model that says nothing, with what the wrapper around it says."""
        around = self._tree.around(key)[1:2]
        wrapper = around[0][1].wrapper if around else None
        if wrapper is None:
            return span
        around[0][1].wrapper = None
        if any(message.text or message.requests for message in span.outputs):
            return span
        return replace(span, outputs=wrapper.outputs, inputs=span.inputs or wrapper.inputs)

    def _with_sums(self, key: Key, span: Span) -> Span:
        """A call of a model with the tokens and cost that only spans around it report: the first has all."""
        if span.kind is not SpanKind.LLM or span.error or (span.has_tokens and span.cost_usd):
            return span
        for place, node in self._tree.around(key)[1:]:
            if node.kind is SpanKind.TOOL:
                continue
            under = self._tree.details_under(place)
            if node.usage is not None and Detail.TOKENS not in under:
                span = replace(span, usage=node.usage)
                self._tree.note(place, Detail.TOKENS)
            if node.cost_usd is not None and Detail.COST not in under:
                span = replace(span, cost_usd=node.cost_usd)
                self._tree.note(place, Detail.COST)
        return span

    def _tool(self, key: Key, span: Span) -> None:
        chain = self._chain(key)
        slot = Slot(
            id=span.call_id,
            name=span.name,
            args=span.args,
            result=span.result,
            error=span.error,
            status=span.status,
            ts=span.end if span.end is not None else span.start,
            agent=span.agent or self._tree.agent(key),
            cost_usd=span.cost_usd if Detail.COST not in self._tree.details_inside(key) else None,
        )
        around = self._same_call_around(key, span)
        if around is not None and not around.given:
            around.args = slot.args if around.args is None else around.args
            around.result = slot.result if around.result is None else around.result
            around.error = around.error or slot.error
            return
        if around is None:
            self._tree.nodes[key].slot = slot
            self._ready.add(chain.take_call(slot))

    def _ended(self, key: Key, span: Span) -> None:
        """Adds what an agent or a chain reports that nothing inside it does."""
        if self._tree.nodes[key].kind is SpanKind.TOOL:
            return
        under = self._tree.details_under(key)
        is_heard = Detail.LLM in under or Detail.TEXT in under or not self._tree.speaks(key, span)
        words = None if is_heard else span.text
        has_tokens_left = span.has_tokens and Detail.TOKENS not in under
        cost = span.cost_usd if Detail.COST not in under else None
        chain = self._chain(key)
        if words == chain.last_words:
            words = None  # ChatMessage already, by a model whose place in the tree is not known.
        if not words and not has_tokens_left and not cost:
            return
        usage = span.usage if has_tokens_left else Usage()
        call = ModelCall(
            text=words,
            error=span.error,
            chain_id=chain.chain_id,
            agent=span.agent or self._tree.agent(key),
            ts=span.end if span.end is not None else span.start,
            usage=reported(replace(usage, model=span.model, cost_usd=cost)),
        )
        self._ready.add(chain.take_reply(call, ()))

    def _same_call_around(self, key: Key, span: Span) -> Slot | None:
        """The call that two instrumentations record, one inside the other."""
        for _, node in self._tree.around(key)[1:]:
            if node.kind in (SpanKind.LLM, SpanKind.AGENT):
                return None
            if node.kind is SpanKind.TOOL:
                slot = node.slot
                same = slot is not None and slot.name == span.name
                if same and slot is not None and (not span.call_id or not slot.id or span.call_id == slot.id):
                    return slot
                return None
        return None

    def _chain(self, key: Key, model: Span | None = None) -> ChainEvents:
        """The chain that a span belongs to: its conversation, or inside a tool that tool's own.

        Where no conversation is named, the context of a trace's first call of a `model` may show that it goes
        on with an earlier one.
        """
        trace = key[0]
        base, tool = self._place(key)
        if base == trace and model is not None and tool is None and not self._begun.before(trace):
            base = self._contexts.goes_on(model.inputs) or trace
            self._conversations[trace] = base
        if trace not in self._conversations:
            self._conversations[trace] = base
        name = base if tool is None else f"{base}/{tool}"
        self._bases[name] = base
        chain = self._chains.get(name)
        if chain is None:
            chain = ChainEvents(name, is_resumed=tool is None and self._resumes(name))
            silent_longest = self._chains.put(name, chain)
            if silent_longest is not None:
                self._ready.add(silent_longest[1].finish())
        else:
            self._chains.move_to_end(name)
        if trace in self._tools_have_spans:
            chain.tools_have_spans = True
        return chain

    def _place(self, key: Key) -> tuple[str, str | None]:
        """The conversation of a span, else its trace, and the call of a tool that it is inside of."""
        around = self._tree.around(key)
        tools = [place for place, (_, node) in enumerate(around) if place and node.kind is SpanKind.TOOL]
        outside = around[tools[0] :] if tools else around
        inner = next((node.conversation for _, node in outside if node.conversation), None)
        base = self._conversations.get(key[0], key[0]) if inner is None else self._names.get(inner, inner)
        return base, around[tools[0]][0][1] if tools else None

    def _is_open(self, key: Key, name: str) -> bool:
        """True if a model has asked for a call of this tool, in the chain that a span belongs to."""
        base, tool = self._place(key)
        chain = self._chains.get(base if tool is None else f"{base}/{tool}")
        return chain is not None and chain.open_call(name)


def _words(span: Span) -> str | None:
    """Returns what a model said.

    The text is empty where it answered without words, and the reason where it failed.
    """
    is_answer = any(message.role == "assistant" for message in span.outputs)
    failure = span.result if span.error and isinstance(span.result, str) else None
    return span.text or failure or ("" if is_answer else None)
