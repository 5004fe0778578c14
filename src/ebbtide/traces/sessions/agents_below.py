"""Agents that the agents of a session started, from the records that they left beside it.

A session records the agents that it starts itself. What those start in turn stands in their own files: of
Claude Code in the folder ``subagents`` of the session, of OpenCode in the exports of their sessions. Given
out are their orders and the agents that they start, each at its time; nothing else of them is part of the
session's run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final

from ebbtide.events.event import Event, Message, Phase, Role, ToolCall
from ebbtide.regular_file import open_regular
from ebbtide.traces.input.json_value import value_or_none
from ebbtide.traces.records.fields import identifier, items, joined_text, mapping, seconds, text
from ebbtide.traces.records.joining import STARTS_AGENTS
from ebbtide.traces.records.readers import TraceItem

FORMATS_WITH_AGENTS: Final = frozenset(("claude-code", "opencode"))  #: whose agents leave files of their own
_MOST: Final = 2_000  # files that are looked at
_HEAD: Final = 2_048  # characters of an export that say whose child it is
_MARKS: Final = tuple(f'"{name}"' for name in STARTS_AGENTS)  # one of which a line that starts an agent has


def agents_below(path: Path, form: str) -> list[Event]:
    """Returns the orders and starts of agents below those that a session starts itself, by their time."""
    if form == "claude-code":
        folder = path.parent / path.name.split(".", 1)[0] / "subagents"
        files = sorted(folder.rglob("agent-*.jsonl"))[:_MOST] if folder.is_dir() else []
        events = [event for file in files for event in _claude_code(file)]
    elif form == "opencode":
        events = [event for file in _children(path) for event in _opencode(file)]
    else:
        return []
    return sorted((event for event in events if event.ts is not None), key=lambda event: event.ts or 0.0)


def with_agents_below(events: Iterator[TraceItem], below: list[Event]) -> Iterator[TraceItem]:
    """Yields the events of a session, with others between them where their time has come."""
    place = 0
    for event in events:
        ts = getattr(event, "ts", None)
        while ts is not None and place < len(below) and (below[place].ts or 0.0) <= ts:
            yield below[place]
            place += 1
        yield event
    yield from below[place:]


def _claude_code(file: Path) -> list[Event]:
    """The order of a sub-agent and the agents that it starts; nothing where it starts none."""
    found: list[Event] = []
    try:
        with TextIOWrapper(open_regular(file), encoding="utf-8", errors="replace") as lines:
            first = next(lines, "")
            for line in lines:
                if any(mark in line for mark in _MARKS):
                    found += _starts(_object(line))
    except OSError:
        return []
    head = _object(first)
    order = joined_text(mapping(head.get("message")).get("content"))
    return _with_order(order, seconds(head.get("timestamp")), found)


def _starts(line: Mapping[str, Any]) -> list[Event]:
    """The agents that a line of a sub-agent starts."""
    chain, ts = identifier(line.get("agentId")), seconds(line.get("timestamp"))
    message = mapping(line.get("message"))
    if line.get("type") != "assistant" or chain is None:
        return []
    batch = identifier(message.get("id"))
    return [
        _start(text(block.get("name")), block.get("input"), chain, ts, batch)
        for block in map(mapping, items(message.get("content")))
        if block.get("type") == "tool_use" and block.get("name") in STARTS_AGENTS
    ]


def _children(path: Path) -> Iterator[Path]:
    """The exports beside one that are of sessions below it, as their heads say."""
    parents: dict[str, tuple[str, Path]] = {}
    try:
        files = [file for file in sorted(path.parent.glob("ses_*.json"))[:_MOST] if file != path]
        for file in files:
            with TextIOWrapper(open_regular(file), encoding="utf-8", errors="replace") as stream:
                head = stream.read(_HEAD)
            parent = head.partition('"parentID"')[2].partition('"')[2].partition('"')[0]
            if parent:
                parents[file.stem] = (parent, file)
    except OSError:
        return
    above = {path.stem}
    while found := [name for name, (parent, _) in parents.items() if parent in above]:
        for name in found:
            yield parents.pop(name)[1]
        above |= set(found)


def _opencode(file: Path) -> list[Event]:
    try:
        with open_regular(file) as stream:
            session = _object(stream.read().decode(errors="replace"))
    except OSError:
        return []
    chain, found, order, began = file.stem, [], None, None
    for message in map(mapping, items(session.get("messages"))):
        info = mapping(message.get("info"))
        for part in map(mapping, items(message.get("parts"))):
            if order is None and info.get("role") == "user" and part.get("type") == "text":
                order, began = text(part.get("text")), seconds(mapping(info.get("time")).get("created"))
            elif part.get("tool") in STARTS_AGENTS:
                state = mapping(part.get("state"))
                ts = seconds(mapping(state.get("time")).get("start"))
                batch = identifier(part.get("messageID"))
                found.append(_start(text(part.get("tool")), state.get("input"), chain, ts, batch))
    return _with_order(order, began, found)


def _with_order(order: str | None, ts: float | None, starts: list[Event]) -> list[Event]:
    if not starts or order is None:
        return []
    return [Message(text=order, role=Role.SYSTEM, chain_id=starts[0].chain_id, ts=ts), *starts]


def _start(name: str | None, args: object, chain: str, ts: float | None, batch: str | None) -> Event:
    return ToolCall(name=name or "", args=args, chain_id=chain, ts=ts, phase=Phase.STARTED, batch=batch)


def _object(words: str) -> Mapping[str, Any]:
    return mapping(value_or_none(words))
