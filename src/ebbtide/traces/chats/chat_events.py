"""Events of a conversation that is written down message by message, or as requests and their answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.events.event import Call
from ebbtide.traces.chats.message_parts import Answered, Asked
from ebbtide.traces.chats.message_shapes import Said, said_in
from ebbtide.traces.records.accounts import CLASSES
from ebbtide.traces.records.fields import arguments, dollars, identifier, mapping, seconds, text
from ebbtide.traces.records.joining import Seen, with_fields
from ebbtide.traces.records.token_classes import TokenClasses, anthropic_classes, openai_classes
from ebbtide.traces.telemetry.span_chain import SpanChain

_MOST_OPEN = 1_000  # calls without a result
_SPENT = frozenset((*CLASSES, "cost_usd"))
_CONVERSATION = ("conversation_id", "session_id", "thread_id", "chat_id", "trace_id")
_REQUESTS = ("request", "request_body", "kwargs", "params", "body")
_RESPONSES = ("response", "response_body", "completion", "response_obj")
_CONTEXTS = ("messages", "input", "contents", "prompt")
_TIMES = ("timestamp", "ts", "time", "startTime", "start_time", "created_at", "created")


class ChatEvents:
    """Makes events of messages as they come, each of them told once.

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
        self._open: list[tuple[Asked, Call]] = []
        self._answered = Seen(10_000)
        self._replies = Seen(10_000)
        self._number = 0
        self._replying = False

    def add(self, value: Mapping[str, Any], **fields: Any) -> list[Call]:
        """The events that one more message, or one more item of a response, completes.

        Args:
            value: As the interface of the model has it.
            fields: Fields of `Call` that are known from elsewhere.
        """
        given: list[Call] = []
        item = "role" not in value and "content" not in value
        for said in said_in(value, "assistant"):
            if said.role == "assistant" and not said.answered:
                given += self._reply(said, value, fields, item=item)
            elif said.role == "assistant":
                given += self._reply(said, value, fields, item=item) + self._answers(said.answered, fields)
            else:
                given += self._answers(said.answered, fields)
                given += self._heard(said, fields)
        return given

    def finish(self) -> list[Call]:
        """The calls whose results never came."""
        left = [call for _, call in self._open]
        self._open.clear()
        return left

    def _heard(self, said: Said, fields: Mapping[str, Any]) -> list[Call]:
        self._replying = False
        if said.role not in ("user", "system") or not said.text:
            return []
        name = "message" if said.role == "user" else "instructions"
        call = Call(name=name, kind="user", text=said.text, agent=said.name, chain_id=self.chain_id)
        return [with_fields(call, **{key: value for key, value in fields.items() if key in ("ts", "agent")})]

    def _reply(
        self, said: Said, value: Mapping[str, Any], fields: Mapping[str, Any], *, item: bool
    ) -> list[Call]:
        told = reply_fields(value)
        number = text(value.get("id"))
        # What only thinks, or is cut off before it speaks, was paid for too.
        telling = bool(said.text or said.asked or told.keys() & _SPENT)
        part = number is not None and not item and telling and self._replies.before(number)
        if part:
            told = {key: told[key] for key in ("ts",) if key in told}  # Its usage was told with another part.
            telling = bool(said.text or said.asked)
        # Items of one response stand one by one: they are one reply of the model.
        again = (part or (item and self._replying)) and not said.text
        given = [] if again else self.finish()
        if not again and telling:
            call = Call(name="message", kind="llm", text=said.text, agent=said.name, chain_id=self.chain_id)
            given.append(with_fields(call, **{"model": self.model, **told, **fields}))
            self._number += 1
        self._replying = self._replying or bool(said.text or said.asked)
        batch = f"{self.chain_id}#{self._number}" if item or len(said.asked) > 1 else None
        kept = {**{key: told[key] for key in ("ts",) if key in told}}
        kept |= {key: fields[key] for key in ("ts", "agent") if key in fields}
        for asked in said.asked:
            call = Call(
                name=asked.name, args=asked.args, batch=batch, agent=said.name, chain_id=self.chain_id
            )
            self._open.append((asked, with_fields(call, **kept)))
        while len(self._open) > _MOST_OPEN:
            given.append(self._open.pop(0)[1])
        return given

    def _answers(self, answers: Sequence[Answered], fields: Mapping[str, Any]) -> list[Call]:
        given = []
        if answers:
            self._replying = False
        for answer in answers:
            place = self._place(answer)
            told = {"result": answer.result, "error": answer.error}
            told |= {key: fields[key] for key in ("ts", "error", "status") if key in fields}
            if place is not None:
                asked, call = self._open.pop(place)
                if asked.id:
                    self._answered.before(asked.id)
                given.append(with_fields(call, **told))
            elif answer.id and self._answered.before(answer.id):
                self.duplicates += 1
            else:
                call = Call(name=answer.name or "tool", chain_id=self.chain_id)
                given.append(with_fields(call, **told))
        return given

    def _place(self, answer: Answered) -> int | None:
        """Where the call waits that this answers: by id, by name, or the oldest of those without an id."""
        if answer.id:
            for place, (asked, _) in enumerate(self._open):
                if asked.id == answer.id:
                    return place
        for place, (asked, _) in enumerate(self._open):
            if (answer.id is None or asked.id is None) and answer.name in (None, asked.name):
                return place
        return None


class Exchanges:
    """Makes events of requests with their answers; every request repeats the conversation so far."""

    def __init__(self) -> None:
        self._chains: OrderedDict[str, SpanChain] = OrderedDict()
        self._asked: OrderedDict[str, Said] = OrderedDict()

    def add(self, value: Mapping[str, Any]) -> list[Call]:
        """The events that one more exchange completes."""
        request, response = parts_of_exchange(value)
        name = identifier(next((value[key] for key in _CONVERSATION if value.get(key)), None)) or ""
        chain = self._chains.get(name)
        given: list[Call] = []
        if chain is None:
            chain = self._chains[name] = SpanChain(name)
            if len(self._chains) > _MOST_OPEN:
                given += self._chains.popitem(last=False)[1].finish()
        told = {**reply_fields(request), **reply_fields(value), **reply_fields(response)}
        # A request may name the answer before it in place of repeating it.
        before = self._asked.get(identifier(request.get("previous_response_id")) or "")
        context = {key: told for key, told in request.items() if key not in _RESPONSES}
        heard = said_in(context, "user")
        given += chain.heard([before, *heard] if before else heard, told.get("ts"))
        failed = value.get("error") or response.get("error")
        outputs = said_in(response or None, "assistant")
        if response or failed:
            words = "\n\n".join(said.text for said in outputs if said.text) or None
            call = Call(name="message", kind="llm", text=words, chain_id=name)
            if failed:
                told |= {"error": True, "result": failed}
            asked = [item for said in outputs for item in said.asked]
            given += chain.said(with_fields(call, **told), asked)
            if asked and (number := identifier(response.get("id"))):
                self._asked[number] = Said(role="assistant", asked=tuple(asked))
                if len(self._asked) > _MOST_OPEN:
                    self._asked.popitem(last=False)
        return given

    def finish(self) -> list[Call]:
        """The events that still waited."""
        return [call for chain in self._chains.values() for call in chain.finish()]


def parts_of_exchange(value: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The request and the answer in a record of both; either may be empty."""
    request: Mapping[str, Any] = {}
    response: Mapping[str, Any] = {}
    for key in _REQUESTS:
        request = request or _body(value.get(key))
    for key in _RESPONSES:
        found = value.get(key)
        words = isinstance(found, str) and arguments(found) is found
        response = response or ({"role": "assistant", "content": found} if words else _body(found))
    # A batch of Anthropic's tells how each request went, around the answer.
    response = response or _body(mapping(value.get("result")).get("message"))
    if any(key in value for key in _CONTEXTS):
        request = request or value
    if any(key in value for key in ("choices", "candidates")) or isinstance(value.get("output"), list):
        response = response or value
    return request, response


def is_exchange(value: Any) -> bool:
    """Whether this holds a request of a model and its answer."""
    if not isinstance(value, dict) or isinstance(value.get("role"), str):
        return False
    request, response = parts_of_exchange(value)
    if not any(key in request for key in _CONTEXTS):
        return False
    failed = request is not value and bool(value.get("error") or response.get("error"))
    return failed or bool(response and said_in(response, "assistant"))


def reply_fields(value: Mapping[str, Any]) -> dict[str, Any]:
    """Model, tokens, cost and time of a reply, as far as they are told."""
    usage = mapping(value.get("usage")) or mapping(mapping(value.get("response_metadata")).get("token_usage"))
    found: dict[str, Any] = {key: count for key, count in classes_of(usage).items() if count is not None}
    model = text(value.get("model"))
    if model is not None:
        found["model"] = model
    for cost in (usage.get("cost"), value.get("response_cost"), value.get("cost_usd"), value.get("cost")):
        if (paid := dollars(cost)) is not None:
            found["cost_usd"] = paid
            break
    for key in _TIMES:
        if (ts := seconds(value.get(key))) is not None:
            found["ts"] = ts
            break
    return found


def classes_of(usage: Mapping[str, Any]) -> TokenClasses:
    """Tokens by class of OpenAI's or Anthropic's usage, which name and count them differently."""
    if "prompt_tokens" in usage or "input_tokens_details" in usage or "output_tokens_details" in usage:
        return openai_classes(usage)
    return anthropic_classes(usage)


def _body(value: Any) -> Mapping[str, Any]:
    told = mapping(arguments(value))
    inner = mapping(arguments(told.get("body")))
    return inner or told
