"""One chain of a trace: what models said and asked for, and the calls of tools, each once.

A call of a tool can be recorded three times: the model asks for it, a span of its own runs it, and the next
input of the model repeats both question and answer. A `Slot` is where these meet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as field_of
from hashlib import blake2b
from typing import Any

from ebbtide.bounded import Bounded
from ebbtide.events.event import Event, Message, ModelCall, Role, ToolCall
from ebbtide.events.provider_answer import ToolRequest
from ebbtide.events.usage import Usage
from ebbtide.traces.chats.message_parts import ToolAnswer
from ebbtide.traces.chats.message_shapes import ChatMessage, pairs
from ebbtide.traces.records.fields import compact

_MOST = 10_000  # messages and calls that a chain remembers
_MOST_WAITING = 1_000  # events that wait for what may still be learned about them
_NO_ARGS: tuple[object, ...] = (None, {}, "")


@dataclass(slots=True, kw_only=True, eq=False)
class Slot:
    """A call of a tool, as far as it is known.

    Attributes:
        spanned: A span of its own records it.
        answered: Its result is known, if only by an input.
        given: It was given out.
    """

    id: str | None
    name: str
    args: object = None
    result: object = None
    error: bool = False
    status: int | None = None
    ts: float | None = None
    agent: str | None = None
    batch: str | None = None
    cost_usd: float | None = None
    spanned: bool = False
    answered: bool = False
    given: bool = False

    def call(self, chain_id: str) -> ToolCall:
        """The event; the slot lets go of what may be large."""
        self.given = True
        call = ToolCall(
            name=self.name,
            args=self.args,
            result=self.result,
            error=self.error,
            status=self.status,
            ts=self.ts,
            agent=self.agent,
            batch=self.batch,
            usage=None if self.cost_usd is None else Usage(cost_usd=self.cost_usd),
            chain_id=chain_id,
        )
        self.args = self.result = None
        return call


@dataclass(slots=True)
class _Reply:
    """Reply of a model, and the calls that it asked for."""

    call: ModelCall
    slots: list[Slot] = field_of(default_factory=list)


class ChainEvents:
    """Takes what the spans of one chain report, in the order of their start, and gives its events.

    Args:
        chain_id: Its name.
        is_resumed: Whether this goes on with a chain of which another reader has given events: what stands in
            its first input is in them.

    Attributes:
        tools_have_spans: Whether calls of tools have spans here. Then what a model asks for and no span runs
            was no call of a tool, but its way to answer in a given form.
        last_words: What a model said last.
    """

    def __init__(self, chain_id: str, *, is_resumed: bool = False) -> None:
        self.chain_id = chain_id
        self._is_resumed = is_resumed
        self.tools_have_spans = False
        self.last_words: str | None = None
        self._queue: list[_Reply | Slot] = []
        self._made = 0
        self._places: Bounded[str, list[Slot]] = Bounded(_MOST)
        self._heard: Counter[bytes] = Counter()

    def take_input(self, messages: Sequence[ChatMessage], ts: float | None) -> list[Event]:
        """Returns what is new in an input of a model: messages, and results of calls.

        The context comes again with every input, so the n-th equal message of an input is new only if no
        input before had so many.
        """
        fresh: list[tuple[int, Event]] = []
        here: Counter[bytes] = Counter()
        for number, message in enumerate(messages):
            if message.role not in ("user", "system") or not message.text:
                continue
            key = blake2b(f"{message.role}\0{message.text}".encode(errors="replace"), digest_size=12).digest()
            here[key] += 1
            if here[key] > self._heard[key]:
                self._heard[key] = here[key]
                fresh.append((number, self._message(message, ts)))
        while len(self._heard) > _MOST:
            del self._heard[next(iter(self._heard))]
        counts: Counter[str] = Counter()
        waiting = {id(item) for item in self._queue}
        for request, answer, number in pairs(messages):
            slot = self._meet(request, answer, counts, ts)
            if slot is not None and id(slot) not in waiting:
                self._queue.remove(slot)
                fresh.append((number, slot.call(self.chain_id)))
        self._take_answers(messages, ts)
        fresh.sort(key=lambda entry: entry[0])
        events = self._flushed() + [call for _, call in fresh]
        if self._is_resumed and messages:
            self._is_resumed = False
            return []
        return events

    def _message(self, message: ChatMessage, ts: float | None) -> Message:
        role = Role.USER if message.role == "user" else Role.SYSTEM
        return Message(text=message.text, role=role, agent=message.name, ts=ts, chain_id=self.chain_id)

    def take_reply(self, call: ModelCall, requests: Sequence[ToolRequest]) -> list[Event]:
        """Takes a reply of a model and the calls that it asks for; returns the events that are complete."""
        if call.text and not call.error:
            self.last_words = call.text
        if not requests and not self._queue:
            return [call]
        reply = _Reply(call)
        self._queue.append(reply)
        batch = f"{self.chain_id}#{self._made}" if len(requests) > 1 else None
        for item in requests:
            slot = Slot(id=item.id, name=item.name, args=item.args, ts=call.ts, agent=call.agent, batch=batch)
            self._keep(slot)
            reply.slots.append(slot)
        return self._flushed(everything=True) if len(self._queue) > _MOST_WAITING else []

    @property
    def size(self) -> int:
        """Number of things that it remembers: calls, by id and by arguments, and messages."""
        return len(self._places) + len(self._heard)

    @property
    def has_waiting(self) -> bool:
        """True if something waits."""
        return bool(self._queue)

    def open_call(self, name: str) -> bool:
        """True if a call of this tool was asked for, and no span has run it yet."""
        return any(isinstance(item, Slot) and not item.spanned and item.name == name for item in self._queue)

    def take_call(self, slot: Slot) -> list[Event]:
        """Takes the report of a tool's span; returns the events that are complete."""
        self.tools_have_spans = True
        call = self._asked_for(slot)
        if call is None:
            slot.spanned = True
            slot.answered = slot.result is not None
            self._keep(slot)
            return self._flushed(everything=True) if len(self._queue) > _MOST_WAITING else []
        if slot.id and call.id is None:
            self._name(call, slot.id)
        call.spanned = True
        call.args = slot.args if call.args in _NO_ARGS and slot.args is not None else call.args
        call.result = slot.result if slot.result is not None else call.result
        call.answered = call.answered or call.result is not None
        call.error = call.error or slot.error
        call.status = slot.status if slot.status is not None else call.status
        if slot.ts is not None:  # A tool may run while the answer that asks for it still streams.
            call.ts = slot.ts if call.ts is None else max(slot.ts, call.ts)
        call.agent = slot.agent or call.agent
        call.cost_usd = slot.cost_usd if slot.cost_usd is not None else call.cost_usd
        self._put(call)
        events: list[Event] = []
        while (
            self._queue
            and isinstance(first := self._queue[0], _Reply)
            and any(item.spanned for item in first.slots)
        ):
            events.append(self._reply(first))
            del self._queue[0]
        return events

    def settle(self) -> list[Event]:
        """The events of which nothing more is to be learned, but what spans that still run may tell."""
        events: list[Event] = []
        queue: list[_Reply | Slot] = []
        for item in self._queue:
            if isinstance(item, _Reply):
                events.append(item.call)
            elif item.spanned or item.answered:
                events.append(item.call(self.chain_id))
            else:
                queue.append(item)
        self._queue = queue
        return events

    def finish(self) -> list[Event]:
        """The events that still wait."""
        return self._flushed(everything=True)

    def _meet(
        self, request: ToolRequest, answer: ToolAnswer | None, counts: Counter[str], ts: float | None
    ) -> Slot | None:
        """Match a call in an input with the one that is known: the n-th equal one, since ids may return."""
        place = f"#{request.id}" if request.id else _alike(request.name, request.args)
        counts[place] += 1
        slots = self._places.get(place, ())
        slot = slots[counts[place] - 1] if len(slots) >= counts[place] else None
        if slot is None and request.id:
            same = self._places.get(_alike(request.name, request.args), ())
            slot = next((item for item in same if item.id is None), None)
            if slot is not None:
                self._name(slot, request.id)
        if slot is None:
            if self.tools_have_spans or answer is None:
                return None  # A span records it, or none of this run ever did it.
            slot = Slot(id=request.id, name=request.name, args=request.args, ts=ts)
            self._keep(slot)
        if answer is None or slot.answered or slot.given:
            return None
        self._answer(slot, answer, ts)
        return slot

    def _take_answers(self, messages: Sequence[ChatMessage], ts: float | None) -> None:
        """Results in an input that leaves out who asked: requests that go on with an earlier one do."""
        repeated = {item.id for message in messages for item in message.requests}
        for message in messages:
            for answer in message.answers:
                if answer.id is None or answer.id in repeated:
                    continue
                slots = self._places.get(f"#{answer.id}", ())
                slot = next((item for item in slots if not item.answered and not item.given), None)
                if slot is not None:
                    self._answer(slot, answer, ts)

    def _answer(self, slot: Slot, answer: ToolAnswer, ts: float | None) -> None:
        slot.answered = True
        slot.result = answer.result
        slot.error = slot.error or answer.error
        if not slot.spanned:
            slot.ts = ts if ts is not None else slot.ts
        self._put(slot)

    def _asked_for(self, slot: Slot) -> Slot | None:
        """The call that this span runs, if a model asked for it."""
        if slot.id and (named := self._places.get(f"#{slot.id}")):
            return next((item for item in named if not item.spanned and not item.given), None)
        waiting = [
            item
            for item in self._queue
            if isinstance(item, Slot) and not item.spanned and item.name == slot.name
        ]
        # Ids can be of two kinds: ADK gives calls its own, and records the model's.
        place = _alike(slot.name, slot.args)
        same = next((item for item in waiting if _alike(item.name, item.args) == place), None)
        return same or next((item for item in waiting if slot.id is None or item.id is None), None)

    def _keep(self, slot: Slot) -> None:
        self._made += 1
        self._put(slot)
        if slot.id:
            self._at(f"#{slot.id}").append(slot)
        self._at(_alike(slot.name, slot.args)).append(slot)

    def _name(self, slot: Slot, name: str) -> None:
        slot.id = name
        self._at(f"#{name}").append(slot)

    def _at(self, place: str) -> list[Slot]:
        return self._places.setdefault(place, [])

    def _put(self, slot: Slot) -> None:
        if not slot.given and not any(item is slot for item in self._queue):
            self._queue.append(slot)

    def _flushed(self, *, everything: bool = False) -> list[Event]:
        events: list[Event] = []
        queue: list[_Reply | Slot] = []
        for item in self._queue:
            if isinstance(item, _Reply):
                events.append(self._reply(item))
            elif item.spanned or item.answered or (everything and not self.tools_have_spans):
                events.append(item.call(self.chain_id))
            elif not self.tools_have_spans and not everything:
                queue.append(item)
        self._queue = queue
        return events

    def _reply(self, reply: _Reply) -> ModelCall:
        unused = not any(slot.spanned or slot.answered for slot in reply.slots)
        if not reply.call.text and self.tools_have_spans and unused and reply.slots:
            reply.call.text = "\n\n".join(compact(slot.args) for slot in reply.slots)
        return reply.call


def _alike(name: str, args: Any) -> str:
    key = f"{name}\0{compact(args)}" if args not in _NO_ARGS else f"{name}\0"
    return key if len(key) < 200 else blake2b(key.encode(errors="replace"), digest_size=16).hexdigest()
