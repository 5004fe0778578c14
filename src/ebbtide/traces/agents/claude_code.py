"""Sessions of Claude Code: its session files, and what ``--output-format stream-json`` prints."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from ebbtide.events.event import Call
from ebbtide.traces.agents.claude_code_sidechains import Sidechains
from ebbtide.traces.formats import Event
from ebbtide.traces.input.document import Content, Document
from ebbtide.traces.records.accounts import Ledger, UsageOnce
from ebbtide.traces.records.fields import (
    count,
    dollars,
    identifier,
    items,
    joined_text,
    mapping,
    seconds,
    shown,
    text,
)
from ebbtide.traces.records.joining import OpenCalls, Seen
from ebbtide.traces.records.token_classes import anthropic_classes

_SPOKEN = ("user", "assistant")
_MARKS = ("parentUuid", "isSidechain", "leafUuid", "parent_tool_use_id")
_OTHERS = ("file-history-snapshot", "queue-operation", "attachment", "cost-state", "ai-title")
_COUNTS = {  # of a model's usage in a result, by the field of a call
    "input_tokens": "inputTokens",
    "output_tokens": "outputTokens",
    "cache_read_tokens": "cacheReadInputTokens",
    "cache_write_tokens": "cacheCreationInputTokens",
}
# What the tool says in the user's name.
_INJECTED = re.compile(
    r"\s*<(?:local-command-(?:stdout|stderr|caveat)|bash-std(?:out|err)|task-notification|system-reminder)>"
)
_SYNTHETIC = "<synthetic>"


class ClaudeCode:
    """Lines of the types ``user`` and ``assistant`` around messages of Anthropic's interface.

    A model call takes a line for each block of its answer, all with the same usage: it is counted once, as it
    stands last. Lines of other types are passed over, but for compactions and costs.
    """

    name = "claude-code"
    description = "sessions of Claude Code: JSON lines of the types 'user' and 'assistant' with a 'message'"
    paths = ("item", "")

    def refusal(self, document: Document) -> str | None:
        """Why `document` is not one; None if it is."""
        if document.content not in (Content.JSON, Content.JSON_LINES):
            return "not JSON"
        head = document.head
        if document.content is Content.JSON and isinstance(head[0], list):
            head = tuple(head[0][:10])
        if any(map(_is_line, head)):
            return None
        return "no line of type 'user' or 'assistant' with a message, and no other line of a session"

    def event_reader(self) -> ClaudeCodeReader:
        """A reader before the first line."""
        return ClaudeCodeReader()


@dataclass(slots=True, kw_only=True)
class _Message:
    """A model call whose lines still come."""

    id: str | None
    chain: str
    told: dict[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    calls: list[tuple[str | None, Call]] = field(default_factory=list)
    closed: list[Mapping[str, Any]] = field(default_factory=list)
    model: str | None = None
    agent: str | None = None
    ts: float | None = None
    error: bool = False


class ClaudeCodeReader:
    """Reads a session line by line.

    A model call is given out when its chain goes on after it. The lines of a sub-agent are a chain of their
    own, named by its id where it has one.
    """

    def __init__(self) -> None:
        self._messages: dict[str, _Message] = {}
        self._calls = OpenCalls()
        self._lines = Seen()
        self._usage = UsageOnce()
        self._ledger = Ledger()
        self._chains = Sidechains()
        self._totals: dict[str, dict[str, Any]] = {}  # by session
        self._repeated = 0
        self._ts: float | None = None

    @property
    def duplicates(self) -> int:
        """Lines and calls that were there before."""
        return self._repeated + self._calls.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that this line completes."""
        if not isinstance(value, dict):
            return ()
        kind, message = value.get("type"), value.get("message")
        if kind in _SPOKEN and isinstance(message, dict):
            name = identifier(value.get("uuid"))
            chain, agent = self._chains.of(value)
            # Some tools give several lines one id: only the same line twice is a duplicate.
            check = crc32(_marks_of(message.get("content")).encode(errors="replace"))
            if name is not None and self._lines.before(f"{name} {kind} {check}"):
                self._repeated += 1
                return ()
            self._ts = seconds(value.get("timestamp")) or self._ts
            read = self._assistant if kind == "assistant" else self._user
            return [self._ledger.add(call) for call in read(value, message, chain, agent)]
        if kind in ("cost-state", "result"):
            session = identifier(value.get("sessionId") or value.get("session_id")) or ""
            totals = self._totals.setdefault(session, {})
            for key, total in _totals_of(value).items():
                # Each one stands for the whole session up to it.
                totals[key] = max(total, totals.get(key, total))
        elif kind == "system" and value.get("subtype") == "compact_boundary":
            chain, agent = self._chains.of(value)
            ts = seconds(value.get("timestamp"))
            done = self._flushed(chain)
            compaction = Call(kind="system", name="condensation", chain_id=chain, agent=agent, ts=ts)
            return [*map(self._ledger.add, done), compaction]
        return ()

    def finish(self) -> Sequence[Event]:
        """What was still open, and the cost and tokens that no call carries, as an event ``usage``."""
        found = [call for chain in tuple(self._messages) for call in self._flushed(chain)]
        found += self._calls.finish()
        for call in found:
            self._ledger.add(call)
        total: dict[str, Any] = {}
        for session in self._totals.values():
            for key, value in session.items():
                total[key] = total.get(key, 0) + value
        cost = total.pop("cost_usd", None)
        tokens: Any = total
        return [*found, *self._ledger.rest(tokens, cost_usd=cost, ts=self._ts)]

    def _assistant(
        self, line: Mapping[str, Any], message: Mapping[str, Any], chain: str, agent: str | None
    ) -> list[Call]:
        name = identifier(message.get("id")) or identifier(line.get("requestId"))
        held = self._messages.get(chain)
        done: list[Call] = []
        if held is None or name is None or held.id != name:
            done = self._flushed(chain)
            held = self._messages[chain] = _Message(id=name, chain=chain, agent=agent)
        held.ts = seconds(line.get("timestamp")) or held.ts
        model = text(message.get("model"))
        held.model = held.model if model in (None, _SYNTHETIC) else model
        held.error = held.error or bool(line.get("isApiErrorMessage"))
        usage = anthropic_classes(message.get("usage"))
        held.told.update({key: count for key, count in usage.items() if count is not None})
        cost = dollars(line.get("costUSD"))
        if cost is not None:
            held.told["cost_usd"] = cost
        content = message.get("content")
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else items(content):
            self._block(mapping(block), held)
        return done

    def _block(self, block: Mapping[str, Any], held: _Message) -> None:
        kind = block.get("type")
        if not isinstance(kind, str):
            return
        if kind == "text":
            if said := text(block.get("text")):
                held.texts.append(said)
        elif kind.endswith("tool_use"):
            call = Call(
                name=text(block.get("name")) or "tool",
                args=block.get("input"),
                chain_id=held.chain,
                agent=held.agent,
                ts=held.ts,
                batch=held.id,
            )
            held.calls.append((identifier(block.get("id")), call))
        elif kind.endswith("tool_result"):
            held.closed.append(block)

    def _flushed(self, chain: str) -> list[Call]:
        """The model call of a chain, complete, and those of its tool calls that need no waiting."""
        held = self._messages.pop(chain, None)
        if held is None:
            return []
        new = self._usage.beyond(held.id, held.told)
        said = "\n\n".join(held.texts) or None
        found: list[Call] = []
        first = not held.id or not self._lines.before(f"message {chain} {held.id}")
        told: dict[str, Any] = {
            "chain_id": chain,
            "agent": held.agent,
            "model": held.model,
            "ts": held.ts,
            **new,
        }
        if first or said:
            found.append(Call(kind="llm", name="message", text=said, error=held.error, **told))
        elif any(new.values()):
            # A later line of a call that was given out already, with more tokens than before.
            found.append(Call(kind="system", name="usage", **told))
        for name, call in held.calls:
            found += self._calls.opened(name, call)
        for block in held.closed:
            found += self._result(block, held.ts)
        return found

    def _user(
        self, line: Mapping[str, Any], message: Mapping[str, Any], chain: str, agent: str | None
    ) -> list[Call]:
        found = self._flushed(chain)
        ts = seconds(line.get("timestamp"))
        content = message.get("content")
        for block in items(content):
            if (text(mapping(block).get("type")) or "").endswith("tool_result"):
                found += self._result(block, ts)
        said = joined_text(content)
        if said is None:
            return found
        kind, name = "user", "message"
        if line.get("isCompactSummary"):
            kind, name = "system", "summary"
        elif line.get("isMeta") or _INJECTED.match(said):
            kind, name = "system", "note"
        found.append(Call(kind=kind, name=name, text=said, chain_id=chain, ts=ts))
        return found

    def _result(self, block: Mapping[str, Any], ts: float | None) -> Sequence[Call]:
        result: dict[str, Any] = {
            "result": shown(block.get("content")),
            "error": block.get("is_error") is True,
        }
        if ts is not None:
            result["ts"] = ts
        return self._calls.closed(identifier(block.get("tool_use_id")), **result)


def _totals_of(value: Mapping[str, Any]) -> dict[str, Any]:
    """What a line tells of its whole session.

    The tokens of a session file are those of its lines: its totals have those of sub-agents in other files.
    """
    if value.get("type") == "cost-state":
        found: dict[str, Any] = {"cost_usd": dollars(value.get("totalCostUSD"))}
    else:
        models = [mapping(model) for model in mapping(value.get("modelUsage")).values()]
        counts = _COUNTS if models else {}
        found = {key: sum(count(model.get(name)) or 0 for model in models) for key, name in counts.items()}
        found["cost_usd"] = dollars(value.get("total_cost_usd"))
    return {key: total for key, total in found.items() if total is not None}


def _marks_of(content: object) -> str:
    """What tells the content of one line from that of another: its texts and its ids."""
    if isinstance(content, str):
        return content
    blocks = [mapping(block) for block in items(content)]
    names = ("type", "text", "thinking", "id", "tool_use_id")
    return "\n".join(text(block.get(name)) or "" for block in blocks for name in names)


def _is_line(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    kind, message = value.get("type"), value.get("message")
    if kind in _SPOKEN and isinstance(message, dict):
        return message.get("role") == kind or any(mark in value for mark in _MARKS)
    if kind in _OTHERS:
        return True
    if kind == "summary" or (isinstance(kind, str) and kind not in _SPOKEN and "sessionId" in value):
        return "leafUuid" in value or "sessionId" in value
    return kind == "system" and "subtype" in value and ("session_id" in value or "uuid" in value)
