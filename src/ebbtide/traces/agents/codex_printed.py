"""Items as ``codex exec --json`` prints them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ebbtide.events.event import Call
from ebbtide.traces.records.fields import mapping, text
from ebbtide.traces.records.token_classes import openai_classes

PRINTED: Final = (
    "thread.started",
    "turn.started",
    "turn.completed",
    "turn.failed",
    "item.started",
    "item.updated",
    "item.completed",
    "error",
)
_KNOWN = frozenset(
    ("id", "type", "item_type", "status", "aggregated_output", "exit_code", "result", "error", "tool")
)
_NO_CALLS = ("reasoning", "todo_list")


def printed_calls(value: Mapping[str, Any], *, ts: float | None) -> Sequence[Call]:
    """The events of one printed line.

    An item counts when it is complete. The tokens of a turn come at its end, as an event ``usage``.

    Args:
        value: The line.
        ts: Its time, where it has one.
    """
    kind = value.get("type")
    if kind == "turn.completed":
        usage: dict[str, Any] = dict(openai_classes(value.get("usage")))
        return [Call(kind="system", name="usage", ts=ts, **usage)]
    if kind in ("turn.failed", "error"):
        return [_error(text(value.get("message")) or text(mapping(value.get("error")).get("message")), ts)]
    item = mapping(value.get("item"))
    form = text(item.get("type")) or text(item.get("item_type"))
    if kind != "item.completed" or form is None or form in _NO_CALLS:
        return ()
    if form == "error":
        return [_error(text(item.get("message")), ts)]
    if form in ("agent_message", "assistant_message"):
        return [Call(kind="llm", name="message", text=text(item.get("text")), ts=ts)]
    code = item.get("exit_code")
    failed = item.get("status") == "failed" or bool(item.get("error")) or (code is not None and code != 0)
    result = next((item[key] for key in ("aggregated_output", "result", "error") if item.get(key)), None)
    args = {key: entry for key, entry in item.items() if key not in _KNOWN}
    return [Call(name=text(item.get("tool")) or form, args=args, result=result, error=failed, ts=ts)]


def _error(said: str | None, ts: float | None) -> Call:
    return Call(kind="system", name="error", text=said, error=True, ts=ts)
