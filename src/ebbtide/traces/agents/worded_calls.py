"""Sessions of agents whose models call tools in their words, and hear the answers as words.

- Cline and Roo Code: ``api_conversation_history.json`` and ``*.messages.json``. A call is a tag such as
  ``<read_file>`` with a tag for each argument; its answer begins with ``[read_file for 'a.py'] Result:``.
  Newer versions have Anthropic's blocks instead.
- gptme: ``conversation.jsonl``. A call is a code block whose language is a tool, or ``@tool(id): {...}``; the
  messages of the system behind it are its answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ebbtide.events.event import Event
from ebbtide.events.usage import Usage
from ebbtide.traces.agents.message_envelopes import EnvelopeReader
from ebbtide.traces.records.fields import (
    dollars,
    identifier,
    items,
    mapping,
    seconds,
    text,
)
from ebbtide.traces.records.provider_usage import usage_named

_Message = Mapping[str, Any]
# Names of tools have an underline, names of thoughts and of HTML have none.
_TAG: Final = re.compile(r"^[ \t]*<([a-z]{1,40}(?:_[a-z]{1,40}){1,6})>", re.MULTILINE)
_THOUGHT: Final = re.compile(r"<(thinking)>")
_ARGUMENT: Final = re.compile(r"<(\w{1,80})>")
_MOST_UNCLOSED: Final = 50  # names of tags that are looked for in vain
_ANSWER: Final = re.compile(r"\[(\w+)(?: for [^\n]{0,2000})?\] Result:[ \t]*\n?")
_FAILED: Final = re.compile(r"\s*(?:The tool execution failed|<error>|The user denied this operation)")
_NO_TALK: Final = ("<environment_details>", "[TASK RESUMPTION]", "# task_progress")

_FENCE: Final = re.compile(r"```(\w{1,40})(?:[ \t]+([^`]*))?\Z")
_CALL: Final = re.compile(r"@(\w{1,80})\(([\w-]{1,80})\): (?=\{)")
_DECODER: Final = json.JSONDecoder()
_MOST_BROKEN: Final = 20  # calls whose arguments are no JSON
_TOOLS: Final = frozenset(
    "append browser computer gh ipython morph patch read save screenshot shell subagent tmux vision".split()
)


class ClineReader(EnvelopeReader):
    """Reads a session of Cline or Roo Code message by message."""

    def _events(self, record: _Message) -> Sequence[Event]:
        role = record.get("role")
        if not isinstance(role, str):
            return ()
        content = record.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else items(content)
        blocks = list(map(mapping, blocks))
        model = mapping(record.get("modelInfo"))
        self.model = text(model.get("modelId")) or text(model.get("id")) or self.model
        ts = seconds(record.get("ts"))
        if role == "assistant":
            has_blocks = any(block.get("type") == "tool_use" for block in blocks)
            blocks = blocks if has_blocks else [part for block in blocks for part in _spoken(block)]
        else:
            blocks = _heard(blocks)
        return self._said({"role": role, "content": blocks}, ts, self._usage(mapping(record.get("metrics"))))

    def _usage(self, report: _Message) -> Usage | None:
        if not report:
            return None
        tokens = mapping(report.get("tokens"))
        older = {"inputTokens": "prompt", "outputTokens": "completion", "cacheReadTokens": "cached"}
        counts = {**{name: tokens.get(before) for name, before in older.items()}, **report}
        usage = usage_named(counts, *older, "cacheWriteTokens")
        usage.model, usage.cost_usd = self.model, dollars(report.get("cost"))
        return usage if usage.tokens or usage.cost_usd else None


def _spoken(block: _Message) -> list[_Message]:
    """A text of the model without its calls, and the calls."""
    words = text(block.get("text"))
    if block.get("type") != "text" or words is None:
        return [block]
    words, _ = _taken(words, _THOUGHT)
    rest, tags = _taken(words, _TAG)
    calls: list[_Message] = [
        {"type": "tool_use", "name": name, "input": dict(_taken(inner, _ARGUMENT)[1])} for name, inner in tags
    ]
    return [*([{"type": "text", "text": rest.strip()}] if rest.strip() else []), *calls]


def _taken(words: str, opening: re.Pattern[str]) -> tuple[str, list[tuple[str, str]]]:
    """A text without its elements, and the names and contents of these.

    Args:
        words: The text.
        opening: The tag that begins an element; its first group is the name.
    """
    rest: list[str] = []
    elements: list[tuple[str, str]] = []
    unclosed: set[str] = set()
    at = place = 0
    while (tag := opening.search(words, at)) is not None and len(unclosed) < _MOST_UNCLOSED:
        name, at = tag[1], tag.end()
        end = -1 if name in unclosed else words.find(f"</{name}>", at)
        if end < 0:
            unclosed.add(name)
            continue
        rest.append(words[place : tag.start()])
        elements.append((name, words[at:end].removeprefix("\n").removesuffix("\n")))
        at = place = end + len(name) + 3
    return "".join([*rest, words[place:]]), elements


def _heard(blocks: Sequence[_Message]) -> list[_Message]:
    """The answers of tools that an agent heard, as blocks, and what else it heard."""
    heard: list[dict[str, Any]] = []
    answer: dict[str, Any] | None = None  # whose words may stand in the blocks that follow
    for block in blocks:
        words = text(block.get("text")) if block.get("type") == "text" else None
        begun = None if words is None else _ANSWER.match(words)
        if words is not None and begun is not None:
            answer = {"type": "tool_result", "name": begun[1], "content": words[begun.end() :]}
            heard.append(answer)
        elif words is None or answer is None or words.startswith(_NO_TALK):
            heard.append(dict(block))
        else:
            answer["content"] += ("\n" if answer["content"] else "") + words
    for block in heard:
        if block.get("type") == "tool_result" and "tool_use_id" not in block:
            block["is_error"] = _FAILED.match(block["content"]) is not None
    return list(heard)


class GptmeReader(EnvelopeReader):
    """Reads a conversation of gptme message by message."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting = 0  # calls of the last answer of the model that the system has not answered

    def _events(self, record: _Message) -> Sequence[Event]:
        role, words, ts = record.get("role"), text(record.get("content")), seconds(record.get("timestamp"))
        if not isinstance(role, str):
            return ()
        if role == "assistant":
            calls = _written(words or "")
            self._waiting = len(calls)
            message = {"role": role, "content": words, "tool_calls": calls}
            return self._said(message, ts, self._usage(mapping(record.get("metadata"))))
        number = identifier(record.get("call_id"))
        if role == "tool" or number is not None or (role == "system" and self._waiting):
            self._waiting = max(self._waiting - 1, 0)
            return self._said({"role": "tool", "content": words, "tool_call_id": number}, ts)
        self._waiting = 0
        return self._said({"role": role, "content": words}, ts)

    def _usage(self, notes: _Message) -> Usage:
        report = mapping(notes.get("usage")) or notes  # older versions have it without a holder
        self.model = text(notes.get("model")) or self.model
        usage = usage_named(
            report, "input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"
        )
        usage.model, usage.cost_usd = self.model, dollars(notes.get("cost"))
        return usage


def _written(words: str) -> list[_Message]:
    """The calls of tools in the words of a model, in their order."""
    calls: list[_Message] = []
    fence: re.Match[str] | None = None
    body: list[str] = []
    broken, at = 0, 0
    for line in words.split("\n"):
        call = _CALL.match(line)
        if fence is not None and line.rstrip() != "```":
            body.append(line)
        elif fence is not None:
            if fence[1] in _TOOLS:
                calls.append({"name": fence[1], "arguments": _of_block(fence[2] or "", "\n".join(body))})
            fence = None
        elif call is not None and broken < _MOST_BROKEN:
            try:
                args, _ = _DECODER.raw_decode(words, at + call.end())  # it may take several lines
            except ValueError:
                args, broken = line[call.end() :], broken + 1
            calls.append({"name": call[1], "id": call[2], "arguments": args})
        else:
            fence, body = _FENCE.match(line), []
        at += len(line) + 1
    return calls


def _of_block(argument: str, body: str) -> _Message:
    """The arguments of a code block: what stands behind its language, and what stands in it."""
    return {"path": argument.strip(), "content": body} if argument.strip() else {"command": body}
