"""Trajectories of SWE-agent: steps of thought, action and observation, or the history of messages alone.

Steps with ``action`` and ``observation``; what the run took is one notice of usage at its end.

Where it was tried more than once, each attempt is a chain, and the copy of the best one is passed over.

Messages with ``message_type`` or ``agent``, as demonstrations have them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.events.event import Event, Message, ModelCall, Notice, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.records.fields import (
    arguments,
    count,
    dollars,
    identifier,
    items,
    joined_text,
    mapping,
    text,
)
from ebbtide.traces.records.joining import JoiningReader
from ebbtide.traces.records.usage_accounts import UsageLedger

_WORD = re.compile(r"[\w./+-]+")
_LONGEST_NAME = 60


class SweAgentReader:
    """Reads steps one by one. A tool is named by the first word of its action."""

    duplicates = 0

    def __init__(self) -> None:
        self._info: Mapping[str, Any] = {}
        self._usage: list[Notice] = []
        self._attempts = 0
        self._trying = False

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The message and the tool call of a step."""
        record = mapping(value)
        if path == "info":
            self._info = record
        elif path == "attempts.item.info":
            self._usage += _usage(record, f"attempt {self._attempts}")
            self._trying = False
        elif path == "attempts.item.trajectory.item":
            self._attempts += not self._trying
            self._trying = True
            return _events_of(record, f"attempt {self._attempts}")
        elif not self._attempts:
            return _events_of(record, "")
        return ()

    def finish(self) -> Sequence[Event]:
        """Returns the usage of the run as a whole, or else of each of its attempts."""
        return _usage(self._info) if "model_stats" in self._info else self._usage


class SweAgentHistoryReader(JoiningReader):
    """Reads messages one by one; an observation belongs to the call that it names, or to the last action."""

    def __init__(self) -> None:
        super().__init__()
        self._info: Mapping[str, Any] = {}
        self._answers = 0

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that this message completes."""
        message = mapping(value)
        if path == "info":
            self._info = message
            return ()
        role, words = message.get("role"), joined_text(message.get("content"))
        if role == "assistant":
            return self._action(message, words)
        if role == "tool" or (message.get("message_type") == "observation" and len(self._calls)):
            names = [name for entry in items(message.get("tool_call_ids")) if (name := identifier(entry))]
            waiting = names[0] if names else self._calls.first_waiting()
            return self._calls.close(waiting, else_call=ToolCall(name="tool"), result=message.get("content"))
        if role == "user" and words:
            return (Message(text=words, agent=text(message.get("agent"))),)
        return ()

    def finish(self) -> Sequence[Event]:
        """Calls without an observation, and what the run took as a whole."""
        return [*self._calls.finish(), *_usage(self._info)]

    def _action(self, message: Mapping[str, Any], words: str | None) -> Sequence[Event]:
        agent = text(message.get("agent"))
        self._answers += 1
        events: list[Event] = [*self._calls.finish()]
        events.append(ModelCall(text=text(message.get("thought")) or words or "", agent=agent))
        action = text(message.get("action"))
        calls = items(message.get("tool_calls"))
        for at, entry in enumerate(calls):
            function = mapping(mapping(entry).get("function"))
            call = ToolCall(
                name=(action and _name_of(action)) or text(function.get("name")) or "tool",
                args={"command": action} if action else arguments(function.get("arguments")),
                agent=agent,
                batch=self._answers,
            )
            events += self._calls.open(
                identifier(mapping(entry).get("id")) or f"action {self._answers} {at}", call
            )
        if not calls and action and action.strip():
            call = ToolCall(name=_name_of(action), args={"command": action}, agent=agent)
            events += self._calls.open(f"action {self._answers}", call)
        return events


def _name_of(action: str) -> str:
    word = _WORD.search(action)
    return word[0][:_LONGEST_NAME] if word else "action"


def _events_of(step: Mapping[str, Any], chain: str) -> list[Event]:
    if not step:
        return []
    words = text(step.get("thought")) or text(step.get("response"))
    events: list[Event] = []
    if words or "response" in step:
        events.append(ModelCall(text=words or "", chain_id=chain))
    action = text(step.get("action"))
    if action is not None and action.strip():
        args, result = {"command": action}, step.get("observation")
        events.append(ToolCall(name=_name_of(action), args=args, result=result, chain_id=chain))
    return events


def _usage(info: Mapping[str, Any], chain: str = "") -> Sequence[Notice]:
    """Returns the usage of a whole run, as ``info.model_stats`` states it."""
    stats = mapping(info.get("model_stats"))
    totals = Usage(
        input_tokens=count(stats.get("tokens_sent")),
        output_tokens=count(stats.get("tokens_received")),
        cost_usd=dollars(stats.get("instance_cost", stats.get("total_cost"))),
    )
    return UsageLedger().rest(totals, chain_id=chain)
