"""Events of a conversation that is written down message by message, or as requests and their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.bounded import Bounded
from ebbtide.events.event import Event, Message, ModelCall, ModelPart, Notice, NoticeKind, Role, ToolCall
from ebbtide.events.provider_answer import ToolRequest
from ebbtide.events.usage import COUNTS, Usage
from ebbtide.traces.chats.chain_events import ChainEvents
from ebbtide.traces.chats.message_parts import ToolAnswer
from ebbtide.traces.chats.message_shapes import ChatMessage, messages_in
from ebbtide.traces.chats.sniffing import RESPONSES, parts_of_exchange
from ebbtide.traces.records.fields import compact, dollars, identifier, mapping, seconds, text
from ebbtide.traces.records.injected_words import persons_words
from ebbtide.traces.records.joining import Seen
from ebbtide.traces.records.provider_usage import has_tokens, reported, usage_by_keys

_MOST_OPEN = 1_000  # calls without a result
_CONVERSATION = ("conversation_id", "session_id", "thread_id", "chat_id", "trace_id")
_TIMES = ("timestamp", "ts", "time", "startTime", "start_time", "created_at", "created")


class ChatEvents:
    """Makes events of messages as they come, each of them once.

    A call of a tool waits for its result, up to the next message of the model.

    Args:
        chain_id: The chain of the events.
        model: The model that replies, where a reply does not say so.

    Attributes:
        duplicates: Results of calls that were answered before.
    """

    def __init__(self, chain_id: str = "", *, model: str | None = None) -> None:
        self.chain_id = chain_id
        self.model = model
        self.duplicates = 0
        self._open: list[tuple[ToolRequest, ToolCall]] = []
        self._answered = Seen(10_000)
        self._replies = Seen(10_000)
        self._number = 0
        self._replying = False

    def add(self, value: Mapping[str, Any], **fields: Any) -> list[Event]:
        """The events that one more message, or one more item of a response, completes.

        Args:
            value: As the interface of the model has it.
            fields: ``agent``, ``ts`` and ``usage``, where they are known from elsewhere.
        """
        events: list[Event] = []
        if "ts" not in fields and (ts := reply_time(value)) is not None:
            fields["ts"] = ts
        item = "role" not in value and "content" not in value
        for message in messages_in(value, "assistant"):
            if message.role == "assistant" and not message.answers:
                events += self._reply(message, value, fields, item=item)
            elif message.role == "assistant":
                events += self._reply(message, value, fields, item=item) + self._answers(
                    message.answers, fields
                )
            else:
                events += self._answers(message.answers, fields)
                events += self._heard(message, fields)
        return events

    def finish(self) -> list[Event]:
        """The calls whose results never came."""
        calls: list[Event] = [call for _, call in self._open]
        self._open.clear()
        return calls

    def _heard(self, message: ChatMessage, fields: Mapping[str, Any]) -> list[Event]:
        self._replying = False
        if message.role not in ("user", "system") or not message.text:
            return []
        role = Role.USER if message.role == "user" else Role.SYSTEM
        agent, ts = fields.get("agent", message.name), fields.get("ts")
        words = persons_words(message.text) if role is Role.USER else message.text
        if not words:
            return [Notice(kind=NoticeKind.NOTE, text=message.text, ts=ts, chain_id=self.chain_id)]
        return [Message(text=words, role=role, agent=agent, ts=ts, chain_id=self.chain_id)]

    def _reply(
        self, message: ChatMessage, value: Mapping[str, Any], fields: Mapping[str, Any], *, item: bool
    ) -> list[Event]:
        usage: Usage = fields.get("usage") or reply_usage(value)
        ts = fields.get("ts", reply_time(value))
        agent = fields.get("agent", message.name)
        number = text(value.get("id"))
        # What only thinks, or is cut off before it speaks, was paid for too.
        paid = has_tokens(usage) or usage.cost_usd is not None
        telling = bool(message.text or message.requests or paid)
        part = number is not None and not item and telling and self._replies.before(number)
        if part:
            usage = Usage()  # It came with another part.
            telling = bool(message.text or message.requests)
        # Items of one response stand one by one: they are one reply of the model.
        again = (part or (item and self._replying)) and not message.text
        events: list[Event] = [] if again else self.finish()
        common: dict[str, Any] = {"agent": agent, "ts": ts, "chain_id": self.chain_id}
        if not again and telling:
            usage.model = usage.model or self.model
            # AutoGen's logs name an agent so where it speaks to nobody.
            thinks = agent is not None and agent.endswith("(thought)")
            kind = ModelPart.THOUGHT if thinks else ModelPart.WHOLE
            events.append(ModelCall(text=message.text or "", part=kind, usage=reported(usage), **common))
            self._number += 1
        self._replying = self._replying or bool(message.text or message.requests)
        batch = f"{self.chain_id}#{self._number}" if item or len(message.requests) > 1 else None
        for request in message.requests:
            self._open.append(
                (request, ToolCall(name=request.name, args=request.args, batch=batch, **common))
            )
        while len(self._open) > _MOST_OPEN:
            events.append(self._open.pop(0)[1])
        return events

    def _answers(self, answers: Sequence[ToolAnswer], fields: Mapping[str, Any]) -> list[Event]:
        events: list[Event] = []
        if answers:
            self._replying = False
        for answer in answers:
            place = self._place(answer)
            if place is not None:
                request, call = self._open.pop(place)
                if request.id:
                    self._answered.before(request.id)
            elif answer.id and self._answered.before(answer.id):
                self.duplicates += 1
                continue
            else:
                call = ToolCall(name=answer.name or "tool", chain_id=self.chain_id)
            call.result, call.error = answer.result, answer.error
            call.ts = fields.get("ts", call.ts)
            events.append(call)
        return events

    def _place(self, answer: ToolAnswer) -> int | None:
        """Returns the index of the open call that this answers: by id, by name, or the oldest without id."""
        if answer.id:
            for place, (request, _) in enumerate(self._open):
                if request.id == answer.id:
                    return place
        for place, (request, _) in enumerate(self._open):
            if (answer.id is None or request.id is None) and answer.name in (None, request.name):
                return place
        return None


class Exchanges:
    """Makes events of requests with their answers; every request repeats the conversation so far."""

    def __init__(self) -> None:
        self._chains: Bounded[str, ChainEvents] = Bounded(_MOST_OPEN)
        self._asked: Bounded[str, ChatMessage] = Bounded(_MOST_OPEN)

    def add(self, value: Mapping[str, Any]) -> list[Event]:
        """The events that one more exchange completes."""
        request, response = parts_of_exchange(value)
        name = identifier(next((value[key] for key in _CONVERSATION if value.get(key)), None)) or ""
        chain = self._chains.get(name)
        events: list[Event] = []
        if chain is None:
            chain = ChainEvents(name)
            began_first = self._chains.put(name, chain)
            if began_first is not None:
                events += began_first[1].finish()
        ts = reply_time(response, value, request)
        # A request may name the answer before it in place of repeating it.
        before = self._asked.get(identifier(request.get("previous_response_id")) or "")
        context = {key: part for key, part in request.items() if key not in RESPONSES}
        messages = messages_in(context, "user")
        events += chain.take_input([before, *messages] if before else messages, ts)
        failure = value.get("error") or response.get("error")
        outputs = messages_in(response or None, "assistant")
        if response or failure:
            words = "\n\n".join(output.text for output in outputs if output.text) or ("" if outputs else None)
            if failure and not words:
                words = text(mapping(failure).get("message")) or compact(failure)
            usage = reported(reply_usage(response, value, request))
            call = ModelCall(text=words, error=bool(failure), usage=usage, ts=ts, chain_id=name)
            requests = [item for output in outputs for item in output.requests]
            events += chain.take_reply(call, requests)
            if requests and (number := identifier(response.get("id"))):
                self._asked[number] = ChatMessage(role="assistant", requests=tuple(requests))
        return events

    def finish(self) -> list[Event]:
        """The events that still waited."""
        return [event for chain in self._chains.values() for event in chain.finish()]


def reply_usage(*records: Mapping[str, Any]) -> Usage:
    """Model, tokens and cost of a reply: each from the first of the records that has it."""
    usage = Usage()
    for record in records:
        report = mapping(record.get("usage"))
        report = report or mapping(mapping(record.get("response_metadata")).get("token_usage"))
        counts = usage_by_keys(report)
        for name in COUNTS:
            if getattr(usage, name) is None:
                setattr(usage, name, getattr(counts, name))
        usage.model = usage.model or text(record.get("model"))
        costs = (report.get("cost"), record.get("response_cost"), record.get("cost_usd"), record.get("cost"))
        for cost in costs:
            if usage.cost_usd is None:
                usage.cost_usd = dollars(cost)
    usage.drop_impossible_parts()
    return usage


def reply_time(*records: Mapping[str, Any]) -> float | None:
    """The time of a reply, from the first of the records that has one."""
    times = (seconds(record.get(key)) for record in records for key in _TIMES)
    return next((ts for ts in times if ts is not None), None)
