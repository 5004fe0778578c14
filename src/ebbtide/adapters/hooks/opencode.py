"""Reports of the plugin for OpenCode: OpenCode has hooks in its own process alone, so the words are ours.

The plugin, in `ebbtide.service`, says ``event`` (``prompt``, ``tool``, ``model``, ``start``, ``end``) and
what OpenCode's own event held. Source: the types of ``@opencode-ai/plugin`` 1.18.33.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ebbtide.adapters.answer_text import answer_text
from ebbtide.adapters.hooks.step import (
    PROBE,
    HookCodec,
    HookReply,
    HookStep,
    IdentifiedCall,
    StepKind,
    read_step,
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


def _read(event: Mapping[str, Any]) -> HookStep | None:
    ids = dict.fromkeys(_KINDS.values(), "id")
    step = read_step(event, kinds=_KINDS, names=("event",), sessions=("session",), ids=ids)
    if step is None:
        return None
    return replace(
        step,
        calls=_calls(event, step.key) if step.kind is StepKind.TOOLS else (),
        is_batch=identifier(event.get("batch")) is not None,
        folder=text(event.get("folder")),
        usage=_usage(event) if step.kind is StepKind.MODEL else None,
    )


def _answer(step: HookStep, reply: HookReply) -> dict[str, Any]:
    """Returns the answer to an event: what is not empty of a reply."""
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
    kinds=_KINDS,
    read=_read,
    answer=_answer,
    can_end=True,
    reader=None,
    known_call=_known_call,
)
