"""Trajectories of mini-swe-agent: chat messages with commands, their output and cost.

Messages of the roles ``user``, ``assistant``, ``tool`` and ``exit``, alone or in an object.

Where ``extra`` does not list the commands, the one code block of the answer is it; then the next message
is its output. An answer that could not be parsed is no message: it stands in ``extra`` of the complaint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.records.fields import (
    arguments,
    dollars,
    identifier,
    items,
    joined_text,
    mapping,
    seconds,
    text,
)
from ebbtide.traces.records.joining import JoiningReader
from ebbtide.traces.records.provider_usage import openai_usage, reported
from ebbtide.traces.records.usage_accounts import UsageLedger

_BLOCK = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n?```", re.DOTALL)
_RETURN_CODE = re.compile(r"\s*<returncode>\s*(-?\d+)\s*</returncode>")
_TOOL = "bash"


class MiniSweAgentReader(JoiningReader):
    """Reads messages one by one."""

    def __init__(self) -> None:
        super().__init__()
        self._ledger = UsageLedger()
        self._model: str | None = None
        self._cost: float | None = None
        self._ts: float | None = None
        self._answers = 0
        self._is_refused = False  # the latest answer, which had no command

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that this message completes."""
        message = mapping(value)
        if path == "info":
            self._cost = dollars(mapping(message.get("model_stats")).get("instance_cost"))
            model = mapping(mapping(message.get("config")).get("model"))
            self._model = text(model.get("model_name")) or self._model
            return ()
        extra = mapping(message.get("extra"))
        self._ts = seconds(extra.get("timestamp")) or seconds(message.get("created_at")) or self._ts
        role = message.get("role")
        if role == "assistant" or message.get("object") == "response":
            return [self._ledger.add(event) for event in self._answer(message, extra)]
        words = joined_text(message.get("content"))
        if role in ("tool", "exit") or message.get("type") == "function_call_output":
            return self._observation(message, extra, words)
        if role != "user":
            return ()
        if "interrupt_type" in extra:
            return self._interrupted(extra, words)
        if len(self._calls):
            return self._observation(message, extra, words)
        return self._words(words)

    def _words(self, words: str | None) -> Sequence[Event]:
        """Returns the event of words to the agent: of a person, or of the harness on a missing command."""
        if not words:
            return ()
        if self._is_refused:
            return (Notice(kind=NoticeKind.NOTE, text=words, error=True, ts=self._ts),)
        return (Message(text=words, ts=self._ts),)

    def finish(self) -> Sequence[Event]:
        """Commands without output, and the cost that no message carries."""
        return [*self._calls.finish(), *self._ledger.rest(Usage(cost_usd=self._cost), ts=self._ts)]

    def _answer(self, message: Mapping[str, Any], extra: Mapping[str, Any]) -> Sequence[Event]:
        events: list[Event] = [*self._calls.finish()]
        self._answers += 1
        response = message if message.get("object") == "response" else mapping(extra.get("response"))
        words = joined_text(message.get("content")) or _output_text(message)
        events.append(self._model_call(words, response, extra))
        commands = _commands(message, extra, words)
        self._is_refused = not commands
        for at, (name, command) in enumerate(commands):
            call = ToolCall(name=_TOOL, args={"command": command}, batch=self._answers, ts=self._ts)
            events += self._calls.open(name or f"command {self._answers} {at}", call)
        return events

    def _interrupted(self, extra: Mapping[str, Any], words: str | None) -> Sequence[Event]:
        """Returns the events of what is said in place of output, after the answer that it complains of."""
        events: list[Event] = [*self._calls.finish()]
        if "response" in extra or "cost" in extra:
            response = mapping(extra.get("response"))
            choice = mapping(mapping(next(iter(items(response.get("choices"))), None)).get("message"))
            answer = joined_text(choice.get("content")) or _output_text(response)
            answer = answer or text(extra.get("model_response"))
            events.append(self._ledger.add(self._model_call(answer, response, extra)))
        if words:
            events.append(Message(text=words, ts=self._ts))
        return events

    def _model_call(
        self, words: str | None, response: Mapping[str, Any], extra: Mapping[str, Any]
    ) -> ModelCall:
        spent = response.get("usage") or extra.get("usage")
        usage = openai_usage(spent)
        usage.model = text(response.get("model")) or self._model
        # Routers state the cost with the tokens.
        usage.cost_usd = dollars(extra.get("cost") or mapping(spent).get("cost"))
        return ModelCall(text=words or "", ts=self._ts, usage=reported(usage))

    def _observation(
        self, message: Mapping[str, Any], extra: Mapping[str, Any], words: str | None
    ) -> Sequence[ToolCall]:
        call_id = identifier(message.get("tool_call_id")) or identifier(message.get("call_id"))
        waiting = call_id or self._calls.first_waiting()
        if waiting is None:
            return ()
        output = next((extra[key] for key in ("raw_output", "output") if key in extra), None)
        output = output if output is not None else message.get("output", words)
        output = output if output is not None else ""  # The message is there, and empty.
        code = extra.get("returncode")
        match = _RETURN_CODE.match(words or "") if code is None else None
        failed = code != 0 if isinstance(code, int) else bool(match and match[1] != "0")
        failed = failed or bool(extra.get("exception_info"))
        calls = [*self._calls.close(waiting, result=output, error=failed, ts=self._ts)]
        if call_id is None and message.get("role") == "user":
            # One message answers all commands of an answer, where it names none.
            calls += self._calls.finish()
        return calls


def _commands(
    message: Mapping[str, Any], extra: Mapping[str, Any], words: str | None
) -> list[tuple[str | None, str]]:
    """The commands of an answer, with the ids of their calls where they have one."""
    if isinstance(extra.get("actions"), list):
        actions = [mapping(action) for action in extra["actions"]]
        return [
            (identifier(action.get("tool_call_id")), command)
            for action in actions
            if (command := text(action.get("command"))) is not None
        ]
    calls = [mapping(call) for call in items(message.get("tool_calls"))]
    if calls:
        pairs = [(call, mapping(arguments(mapping(call.get("function")).get("arguments")))) for call in calls]
        return [(identifier(call.get("id")), text(args.get("command")) or "") for call, args in pairs]
    blocks = _BLOCK.findall(words or "")
    return [(None, blocks[0])] if len(blocks) == 1 else []


def _output_text(message: Mapping[str, Any]) -> str | None:
    """The text of an answer of the responses interface."""
    parts = [joined_text(mapping(part).get("content")) for part in items(message.get("output"))]
    return "\n\n".join(part for part in parts if part) or None
