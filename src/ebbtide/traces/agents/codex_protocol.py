"""Calls as Codex printed them before it printed items: an event where one begins, and one where it ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ebbtide.traces.records.fields import mapping, shown, text

BEGIN: Final = "_begin"  #: how the types of events end
END: Final = "_end"
_ABOUT = frozenset(
    ("type", "call_id", "cwd", "parsed_cmd", "auto_approved", "turn_id", "process_id", "source")
)


def call_begun(event: Mapping[str, Any]) -> dict[str, Any]:
    """The name and the arguments of a call, as fields of `ToolCall`."""
    invocation = mapping(event.get("invocation"))
    if invocation:
        args: object = invocation["arguments"] or {} if "arguments" in invocation else None
        return {"name": text(invocation.get("tool")) or "tool", "args": args}
    args = {key: value for key, value in event.items() if key not in _ABOUT}
    return {"name": (text(event.get("type")) or "tool").removesuffix(BEGIN), "args": args}


def call_ended(event: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a call and whether it failed, as fields of `ToolCall`."""
    result = mapping(event.get("result"))
    if result:
        answer = mapping(result.get("Ok"))
        failed = "Err" in result or answer.get("is_error") is True or answer.get("isError") is True
        return {"result": result.get("Err") or shown(answer.get("content")), "error": failed}
    printed = (text(event.get("stdout")) or "") + (text(event.get("stderr")) or "")
    code = event.get("exit_code")
    is_printed = any(isinstance(event.get(key), str) for key in ("aggregated_output", "stdout", "stderr"))
    return {
        "result": text(event.get("aggregated_output")) or printed or ("" if is_printed else None),
        "error": event.get("success") is False or (isinstance(code, int) and code != 0),
    }
