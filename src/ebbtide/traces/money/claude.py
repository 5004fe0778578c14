"""Calls of a Claude Code session: on lines of the model, of sub-agents in progress, and in their results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from ebbtide.events.model_call_id import CallId
from ebbtide.traces.money.file_calls import FileCalls, sighted_call
from ebbtide.traces.records.calls_once import nameless_call
from ebbtide.traces.records.claude_totals import take_total
from ebbtide.traces.records.fields import dollars, identifier, mapping, seconds, text
from ebbtide.traces.records.provider_usage import anthropic_usage, has_spent

_SYNTHETIC = "<synthetic>"
_SERVER = "mcp__"
_STATED = b'"cost-state"'
_RESULTS = (b'{"type":"result"', b'{"type": "result"')


class _Block(msgspec.Struct, gc=False):
    type: Any = None
    name: Any = None


class _Message(msgspec.Struct, gc=False):
    id: Any = None
    model: Any = None
    usage: msgspec.Raw = msgspec.Raw()
    content: list[_Block] | str | None = None


class _Held(msgspec.Struct, gc=False):
    timestamp: Any = None
    requestId: Any = None  # noqa: N815 - the name on the line
    message: _Message | None = None


class _Data(msgspec.Struct, gc=False):
    agentId: Any = None  # noqa: N815
    message: _Held | None = None


class _Line(msgspec.Struct, gc=False):
    type: Any = None
    timestamp: Any = None
    sessionId: Any = None  # noqa: N815
    requestId: Any = None  # noqa: N815
    request_id: Any = None
    agentId: Any = None  # noqa: N815
    parent_tool_use_id: Any = None
    isSidechain: Any = None  # noqa: N815
    costUSD: Any = None  # noqa: N815
    attributionSkill: Any = None  # noqa: N815
    message: _Message | None = None
    data: _Data | None = None
    toolUseResult: msgspec.Raw = msgspec.Raw()  # noqa: N815


class _Result(msgspec.Struct, gc=False):
    agentId: Any = None  # noqa: N815
    resolvedModel: Any = None  # noqa: N815
    usage: msgspec.Raw = msgspec.Raw()


_LINE = msgspec.json.Decoder(_Line)
_RESULT = msgspec.json.Decoder(_Result)
_Mark = tuple[object, ...]


def add_calls(found: FileCalls, lines: Iterable[bytes]) -> None:
    """Add the calls on some lines of a session file to those that were found before.

    Args:
        found: What the lines before gave.
        lines: The lines that follow, each whole.
    """
    latest: dict[CallId, _Mark] = {}
    for raw in lines:
        if b'"usage"' not in raw and found.began is not None and not _states(raw):
            continue
        line = _decoded(raw)
        if line is None:
            continue
        if found.began is None:
            found.began = seconds(line.timestamp)
            found.thread = identifier(line.sessionId)
        kind = line.type
        if kind == "assistant" and line.message is not None:
            agent = identifier(line.parent_tool_use_id)
            if agent is None and line.isSidechain:
                agent = identifier(line.agentId)
            held = _Held(line.timestamp, line.requestId or line.request_id, line.message)
            _add(found, latest, held, agent, line)
        elif kind == "progress" and line.data is not None and line.data.message is not None:
            held = line.data.message
            if held.message is not None and (agent := identifier(line.data.agentId)) is not None:
                if held.timestamp is None:
                    held.timestamp = line.timestamp
                _add(found, latest, held, agent, line)
        elif kind in ("cost-state", "result"):
            take_total(found.stated, msgspec.json.decode(raw))
            found.stated_at = seconds(line.timestamp) or _latest(found)
        elif kind == "user" and line.toolUseResult and b"agentId" in raw:
            _add_result(found, line)


def _states(raw: bytes) -> bool:
    """Returns True if a line may state what all of its session took."""
    return _STATED in raw or raw.startswith(_RESULTS)


def _add(found: FileCalls, latest: dict[CallId, _Mark], held: _Held, agent: str | None, line: _Line) -> None:
    """Add a record of a call, unless it says the same as the one before it."""
    message = held.message
    if message is None or not message.usage or message.model == _SYNTHETIC:
        return
    name = CallId.of(identifier(message.id), identifier(held.requestId))
    server = _server_of(message.content)
    skill = text(line.attributionSkill)
    mark: _Mark = (bytes(message.usage), line.costUSD, server, skill, agent)
    if name is not None:
        if latest.get(name) == mark:
            return
        latest[name] = mark
    usage, ts = anthropic_usage(msgspec.json.decode(message.usage)), seconds(held.timestamp)
    usage.model, usage.cost_usd = text(message.model), dollars(line.costUSD)
    if agent is not None and usage.model is not None:
        found.models[agent] = usage.model
    call_id = name or nameless_call(ts, usage) or CallId.at(found.thread or "", len(found.calls))
    is_own = found.thread is None or line.sessionId in (None, found.thread)
    found.calls.append(
        sighted_call(call_id, ts, usage, is_own=is_own, agent=agent, skill=skill, server=server)
    )


def _add_result(found: FileCalls, line: _Line) -> None:
    """Add the last call of a sub-agent, where its result states what that took."""
    try:
        result = _RESULT.decode(line.toolUseResult)
    except msgspec.MsgspecError:
        return
    agent = identifier(result.agentId)
    if agent is None or not result.usage:
        return
    usage = anthropic_usage(msgspec.json.decode(result.usage))
    if not has_spent(usage):
        return
    usage.model = text(result.resolvedModel) or found.models.get(agent)
    found.calls.append(
        sighted_call(CallId.at(agent, "result"), seconds(line.timestamp), usage, is_result=True, agent=agent)
    )


def _latest(found: FileCalls) -> float | None:
    """The time of the last call with one."""
    return next((call.ts for call in reversed(found.calls) if call.ts is not None), None)


def _server_of(content: Sequence[_Block] | str | None) -> str | None:
    """The MCP server of the first tool of one that is called, as Claude Code writes it into its name."""
    if not isinstance(content, list):
        return None
    for block in content:
        if type(block.name) is str and block.name.startswith(_SERVER):
            return block.name.removeprefix(_SERVER).partition("__")[0] or None
    return None


def _decoded(raw: bytes) -> _Line | None:
    try:
        return _LINE.decode(raw)
    except msgspec.ValidationError:
        return _lenient(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _lenient(raw: bytes) -> _Line | None:
    """A line in which some field is of another class than usual: what can be read of it."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    if not isinstance(value, dict):
        return None
    names = ("type", "timestamp", "sessionId", "requestId", "request_id", "agentId", "parent_tool_use_id")
    line = _Line()
    for name in (*names, "isSidechain", "costUSD", "attributionSkill"):
        setattr(line, name, value.get(name))
    line.message = _message(value.get("message"))
    data = mapping(value.get("data"))
    held = mapping(data.get("message"))
    message = _message(held.get("message"))
    line.data = _Data(data.get("agentId"), _Held(held.get("timestamp"), held.get("requestId"), message))
    if isinstance(result := value.get("toolUseResult"), dict):
        line.toolUseResult = msgspec.Raw(msgspec.json.encode(result))
    return line


def _message(value: object) -> _Message | None:
    if not isinstance(value, dict):
        return None
    usage, content = value.get("usage"), value.get("content")
    blocks = [
        _Block(block.get("type"), block.get("name")) if isinstance(block, dict) else _Block()
        for block in (content if isinstance(content, list) else ())
    ]
    encoded = msgspec.Raw(msgspec.json.encode(usage)) if isinstance(usage, dict) else msgspec.Raw()
    return _Message(value.get("id"), value.get("model"), encoded, blocks)
