"""Items as ``codex exec --json`` prints them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ebbtide.events.event import Event, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.traces.records.fields import mapping, text
from ebbtide.traces.records.provider_usage import openai_usage, reported

_KNOWN = frozenset(
    ("id", "type", "item_type", "status", "aggregated_output", "exit_code", "result", "error", "tool")
)
_RESULTS = ("aggregated_output", "result", "error")
_NO_CALLS = ("reasoning", "todo_list")


def printed_events(value: Mapping[str, Any], *, ts: float | None) -> Sequence[Event]:
    """The events of one printed line.

    An item counts when it is complete. The tokens of a turn come at its end, as a notice of a total.

    Args:
        value: The line.
        ts: Its time, where it has one.
    """
    kind = value.get("type")
    if kind == "turn.completed":
        return [Notice(kind=NoticeKind.TOTAL, ts=ts, usage=reported(openai_usage(value.get("usage"))))]
    if kind in ("turn.failed", "error"):
        return [_error(text(value.get("message")) or text(mapping(value.get("error")).get("message")), ts)]
    item = mapping(value.get("item"))
    form = text(item.get("type")) or text(item.get("item_type"))
    if kind != "item.completed" or form is None or form in _NO_CALLS:
        return ()
    if form == "error":
        return [_error(text(item.get("message")), ts)]
    if form in ("agent_message", "assistant_message"):
        return [ModelCall(text=text(item.get("text")) or "", ts=ts)]
    code = item.get("exit_code")
    failed = item.get("status") == "failed" or bool(item.get("error")) or (code is not None and code != 0)
    results = [item[key] for key in _RESULTS if item.get(key) is not None]
    result = next((result for result in results if result), "" if results else None)
    args: object = {key: entry for key, entry in item.items() if key not in _KNOWN}
    if form == "mcp_tool_call" and "arguments" not in item:
        args = None  # Early versions name the server alone.
    return [ToolCall(name=text(item.get("tool")) or form, args=args, result=result, error=failed, ts=ts)]


def _error(words: str | None, ts: float | None) -> Notice:
    return Notice(kind=NoticeKind.ERROR, text=words, error=True, ts=ts)
