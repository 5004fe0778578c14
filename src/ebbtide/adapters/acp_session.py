"""Messages of one session of the Agent Client Protocol, as events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ebbtide.bounded import Bounded
from ebbtide.events.effect import Effect
from ebbtide.events.event import (
    LARGEST,
    Event,
    Message,
    ModelCall,
    ModelPart,
    Notice,
    NoticeKind,
    Stop,
    ToolCall,
)
from ebbtide.events.tool_policy import ToolPolicy
from ebbtide.events.usage import Usage
from ebbtide.traces.records import fields

_MOST_CALLS: Final = 4096  # that are remembered
_MOST_AGENTS: Final = 1000
_ENDED: Final = frozenset({"completed", "failed"})
_UNNAMED: Final = frozenset({"", "other"})
_PRINTED: Final = ("terminal_output_delta", "terminal_output")  # extensions, in the order of preference
_READING: Final = ("read", "search", "fetch")
#: Policies of the protocol's kinds of tools; a call without another name is called by its kind.
KINDS: Final = {
    **dict.fromkeys(_READING, ToolPolicy(effect=Effect.READ)),
    **dict.fromkeys(("edit", "delete", "move"), ToolPolicy(effect=Effect.CHANGE)),
}
_STOPS: Final = {"end_turn": Stop.END, "max_tokens": Stop.LENGTH}
_NOTICES: Final = {
    "max_turn_requests": Notice(
        kind=NoticeKind.OTHER,
        text="The maximum number of turns was reached: the agent made all requests of the model that it may.",
    ),
    "refusal": Notice(kind=NoticeKind.ERROR, text="The agent refuses to continue.", error=True),
    "cancelled": Notice(kind=NoticeKind.OTHER, text="The run was cancelled."),
}


@dataclass(slots=True)
class _Agent:
    """The agent of a session, or one that it started: what its model says, and its calls so far."""

    chain: str
    message: object = None  # id of the message whose words come
    words: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    size: int = 0  # characters of both
    batch: int = 0
    has_answer: bool = True  # a call has ended since the batch began: the next one is of another answer

    def hear(self, update: Mapping[str, Any], words: list[str]) -> Iterator[Event]:
        """Takes a piece of what the model says; yields the message before it where another one begins."""
        message = update.get("messageId")
        if message != self.message:
            yield from self.said(None)
        self.message = message
        text = fields.text(fields.mapping(update.get("content")).get("text"))
        if text and self.size < LARGEST:
            words.append(text)
            self.size += len(text)

    def said(self, stop: Stop | None) -> Iterator[Event]:
        """Yields what the model said since its last call, as one call."""
        if self.thoughts:
            yield ModelCall(text="".join(self.thoughts), part=ModelPart.THOUGHT)
        if self.words or stop in (Stop.END, Stop.LENGTH):
            yield ModelCall(text="".join(self.words), stop=stop)
        self.thoughts.clear()
        self.words.clear()
        self.size = 0

    def next_batch(self) -> int:
        """Returns the batch of a call that begins."""
        self.batch += self.has_answer
        self.has_answer = False
        return self.batch


@dataclass(slots=True)
class _OpenCall:
    """A call of a tool that has begun, with what is known of it so far."""

    agent: _Agent
    batch: int
    title: str = ""
    kind: str = ""
    tool: str = ""
    args: object = None
    locations: object = None
    output: object = None
    printed: str = ""
    content: list[Any] = field(default_factory=list)

    def add(self, update: Mapping[str, Any]) -> None:
        """Takes what an update states; what it leaves out stays."""
        self.title = self.title or fields.text(update.get("title")) or ""  # the first is that of the tool
        self.kind = fields.text(update.get("kind")) or self.kind
        meta = fields.mapping(update.get("_meta"))
        self.tool = _extension(meta, "toolName") or self.tool
        piece = next(
            (text for key in _PRINTED if (text := fields.text(fields.mapping(meta.get(key)).get("data")))), ""
        )
        self.printed += piece[: LARGEST - len(self.printed)]
        if update.get("rawInput") is not None:
            self.args = update["rawInput"]
        if update.get("locations") is not None:
            self.locations = update["locations"]
        if update.get("rawOutput") is not None:
            self.output = update["rawOutput"]
        if update.get("content") is not None:
            self.content = fields.items(update["content"])

    def event(self, *, error: bool = False) -> ToolCall:
        """Returns the call as it is known now."""
        args, kind, result = self.args, self.kind if self.kind not in _UNNAMED else "", self._result()
        if args is None and self.title:
            args = {"title": self.title, "locations": self.locations}
            # A title holds what is asked, mostly, and is all that some agents state. Where it alone tells
            # calls apart, only those that read the same words are known to be equal. Others have no kind, so
            # that equal ones are a suspicion and no proof.
            if kind not in _READING or not isinstance(result, str):
                kind = ""
        name = self.tool or kind or self.title or "tool"
        return ToolCall(name=name, args=args, result=result, error=error, batch=self.batch)

    def _result(self) -> object:
        texts, diffs = [], []
        for item in map(fields.mapping, self.content):
            if item.get("type") == "diff":
                diffs.append({"path": item.get("path"), "newText": item.get("newText")})
            words = fields.text(fields.mapping(item.get("content")).get("text"))
            if words is not None:
                texts.append(words)
        return "\n".join(texts) or self.printed or (diffs or None if self.output is None else self.output)


class AcpSession:
    """Makes events of the messages of one session.

    The protocol has no calls of a model: words up to the next call of a tool are one, and calls of tools of
    which none had ended before the last began were asked for at once. Each agent that the session started is
    a chain of its own, as far as the adapter of Claude Code names it.

    Args:
        has_past: True if the session was there before: its cost so far is another run's.

    >>> session = AcpSession()
    >>> call = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "ls", "rawInput": {"path": "."}}
    >>> session.update(call)
    []
    >>> [call] = session.update({"toolCallId": "1", "status": "completed", "rawOutput": "a.txt"})
    >>> call.name, call.args, call.result
    ('ls', {'path': '.'}, 'a.txt')
    """

    def __init__(self, *, has_past: bool = False) -> None:
        self._main = _Agent("")
        self._agents: Bounded[str, _Agent] = Bounded(_MOST_AGENTS)  # below, by the call that started them
        self._calls: Bounded[str, _OpenCall] = Bounded(_MOST_CALLS)
        self._ended: Bounded[str, None] = Bounded(_MOST_CALLS)
        self._counted: float | None = None if has_past else 0.0  # dollars
        self._stated = 0.0

    def prompt(self, params: Mapping[str, Any]) -> list[Event]:
        """Returns what was said and not ended, and the words of the person: None where there are none."""
        blocks = map(fields.mapping, fields.items(params.get("prompt")))
        texts = [words for block in blocks if (words := fields.text(block.get("text"))) is not None]
        return [*self._main.said(None), Message(text="\n".join(texts) if texts else None)]

    def update(self, update: Mapping[str, Any]) -> list[Event]:
        """Returns the events that an update of the session completes."""
        kind = update.get("sessionUpdate")
        if kind in ("agent_message_chunk", "agent_thought_chunk"):
            agent = self._agent(update)
            words = agent.words if kind == "agent_message_chunk" else agent.thoughts
            return _placed(agent, agent.hear(update, words))
        if kind == "plan":
            entries = map(fields.mapping, fields.items(update.get("entries")))
            lines = [f"{entry.get('status')}: {entry.get('content')}" for entry in entries]
            return [Notice(kind=NoticeKind.NOTE, text="\n".join(lines))]
        if kind == "usage_update":
            return self._usage(fields.mapping(update.get("cost")))
        name = fields.text(update.get("toolCallId"))
        return [] if name is None or name in self._ended else self._call(name, update)

    def answer(self, result: Mapping[str, Any]) -> list[Event]:
        """Returns the events that the end of a turn completes: what is open in it, and why it ended."""
        reason = fields.text(result.get("stopReason")) or ""
        return self._end(_STOPS.get(reason), _NOTICES.get(reason))

    def failure(self, error: Mapping[str, Any]) -> list[Event]:
        """Returns the events of a turn that ended in an error."""
        return self._end(
            None, Notice(kind=NoticeKind.ERROR, text=fields.text(error.get("message")), error=True)
        )

    def cut(self) -> list[Event]:
        """Returns the events of a turn in whose middle the agent went away."""
        return self._end(None, Notice(kind=NoticeKind.OTHER, text="The session was interrupted."))

    def _agent(self, update: Mapping[str, Any]) -> _Agent:
        """Returns the agent that an update is of."""
        parent = _extension(fields.mapping(update.get("_meta")), "parentToolUseId")
        if parent is None:
            return self._main
        if parent not in self._agents:
            self._agents[parent] = _Agent(parent)
        return self._agents[parent]

    def _call(self, name: str, update: Mapping[str, Any]) -> list[Event]:
        events: list[Event] = []
        call = self._calls.get(name)
        if call is None:
            agent = self._agent(update)
            events += [*_placed(agent, agent.said(Stop.CALLS)), *self._spent()]
            call = self._calls[name] = _OpenCall(agent, agent.next_batch())
        call.add(update)
        if update.get("status") in _ENDED:
            del self._calls[name]
            self._ended[name] = None
            call.agent.has_answer = True
            events += _placed(call.agent, [call.event(error=update["status"] == "failed")])
        return events

    def _end(self, stop: Stop | None, notice: Notice | None) -> list[Event]:
        events = [event for call in self._calls.values() for event in _placed(call.agent, [call.event()])]
        for agent in self._agents.values():
            events += _placed(agent, agent.said(None))
        self._calls.clear()
        self._agents.clear()
        self._main.has_answer = True
        events += [*self._main.said(stop), *self._spent()]
        return events if notice is None else [*events, notice]

    def _usage(self, cost: Mapping[str, Any]) -> list[Event]:
        """Takes what the session cost so far; a sum in another currency is unknown."""
        total = fields.dollars(cost.get("amount"))
        if total is None or cost.get("currency") != "USD":
            return []
        if self._counted is None:
            self._counted = total
        self._stated = total
        # A sum covers the words before it, which may go on.
        return [] if self._main.words else [*self._spent()]

    def _spent(self) -> Iterator[Event]:
        """Yields what the session cost since that was said last, where it has stated more."""
        if self._counted is not None and self._stated > self._counted:
            yield Notice(kind=NoticeKind.TOTAL, usage=Usage(cost_usd=self._stated - self._counted))
            self._counted = self._stated


def _placed(agent: _Agent, events: Iterator[Event] | list[Event]) -> list[Event]:
    return [replace(event, chain_id=agent.chain) if agent.chain else event for event in events]


def _extension(meta: Mapping[str, Any], key: str) -> str | None:
    """Returns a text that an agent states beside the protocol, in an object of its own."""
    return next(
        (text for value in meta.values() if (text := fields.text(fields.mapping(value).get(key)))), None
    )
