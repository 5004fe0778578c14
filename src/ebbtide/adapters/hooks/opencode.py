"""Reports of the plugin for OpenCode: OpenCode has hooks in its own process alone, so the words are ours.

The plugin, in `ebbtide.service`, says ``event`` (``prompt``, ``tool``, ``model``, ``start``, ``end``) and
what OpenCode's own event held. Source: the types of ``@opencode-ai/plugin`` 1.18.33.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ebbtide.adapters.answer_text import answer_text
from ebbtide.adapters.hooks.step import (
    PROBE,
    HookCodec,
    HookReply,
    HookStep,
    IdentifiedCall,
    StepKind,
    fingerprint,
)
from ebbtide.events.event import ToolCall
from ebbtide.events.usage import Usage
from ebbtide.traces.records.fields import count, dollars, identifier, mapping, text

_KINDS: Final = {
    "start": StepKind.START,
    "prompt": StepKind.PROMPT,
    "tool": StepKind.TOOLS,
    "model": StepKind.MODEL,
    "end": StepKind.END,
}


def read_opencode(event: Mapping[str, Any]) -> HookStep | None:
    """Returns the step that an event of the plugin is; None if it says nothing to us."""
    session, name = identifier(event.get("session")), text(event.get("event")) or ""
    kind = _KINDS.get(name)
    if session is None or kind is None:
        return None
    key = f"{name} {identifier(event.get('id')) or fingerprint(event)}"
    return HookStep(
        kind=kind,
        event=name,
        session=session,
        key=key,
        calls=_calls(event, key) if kind is StepKind.TOOLS else (),
        is_batch=identifier(event.get("batch")) is not None,
        prompt=text(event.get("prompt")),
        folder=text(event.get("folder")),
        usage=_usage(event) if kind is StepKind.MODEL else None,
    )


def answer_opencode(step: HookStep, reply: HookReply) -> dict[str, Any]:
    """Returns the answer to an event, for the plugin: what is not empty of a reply."""
    del step
    parts = {"note": reply.note, "end": reply.end, "message": reply.message}
    return {name: words for name, words in parts.items() if words}


def _calls(event: Mapping[str, Any], key: str) -> tuple[IdentifiedCall, ...]:
    name = text(event.get("tool"))
    if name is None:
        return ()
    call = ToolCall(
        name=name,
        args=event.get("args"),
        result=answer_text(event["output"]) if "output" in event else None,
        error=event.get("failed") is True,
        batch=identifier(event.get("batch")),
    )
    return (IdentifiedCall(key=key, call=call),)


def _usage(event: Mapping[str, Any]) -> Usage:
    tokens = mapping(event.get("tokens"))
    cache, thought = mapping(tokens.get("cache")), count(tokens.get("reasoning"))
    output = count(tokens.get("output"))
    return Usage(
        model=text(event.get("model")),
        input_tokens=count(tokens.get("input")),
        output_tokens=None if output is None else output + (thought or 0),
        cache_read_tokens=count(cache.get("read")),
        cache_write_tokens=count(cache.get("write")),
        reasoning_tokens=None if output is None else thought,
        cost_usd=dollars(event.get("cost")),
    )


def _known_call(number: int) -> dict[str, Any]:
    call = {"tool": "bash", "args": {"command": PROBE}, "output": "none"}
    return {"event": "tool", "session": PROBE, "id": str(number), "batch": str(number), **call}


OPENCODE: Final = HookCodec(
    name="opencode",
    title="OpenCode",
    read=read_opencode,
    answer=answer_opencode,
    can_end=True,
    reader=None,
    known_call=_known_call,
)
