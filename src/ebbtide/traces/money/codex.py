"""Calls of a Codex rollout: what each count of tokens adds to the total of its thread."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ebbtide.events.model_call_id import CallId
from ebbtide.traces.money.file_calls import FileCalls, sighted_call
from ebbtide.traces.records.codex_thread import TOTALS, CodexThread, codex_tier
from ebbtide.traces.records.fields import count, identifier, mapping, seconds, text
from ebbtide.traces.records.provider_usage import openai_usage

_WANTED = (b'"token_count"', b'"turn_context"', b'"session_meta"', b'"thread_settings_applied"')


class _Payload(msgspec.Struct, gc=False):
    type: Any = None
    id: Any = None
    forked_from_id: Any = None
    model: Any = None
    service_tier: Any = None
    info: Any = None
    thread_settings: Any = None


class _Line(msgspec.Struct, gc=False):
    type: Any = None
    timestamp: Any = None
    payload: _Payload | None = None


_LINE = msgspec.json.Decoder(_Line)


def add_calls(found: FileCalls, lines: Iterable[bytes]) -> None:
    """Add the calls on some lines of a rollout to those that were found before.

    A call is known by the total of its thread after it. A fork copies what came before under its own id, but
    names the thread that it comes from, whose ids these calls have.

    Args:
        found: What the lines before gave.
        lines: The lines that follow, each whole.
    """
    for raw in lines:
        if not any(word in raw for word in _WANTED):
            continue
        try:
            line = _LINE.decode(raw)
        except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
            continue
        payload = line.payload
        if payload is None:
            continue
        if found.began is None:
            found.began = seconds(line.timestamp)
        if line.type == "session_meta":
            _enter(found, payload, seconds(line.timestamp))
        elif line.type == "turn_context":
            found.model = text(payload.model) or found.model
        elif payload.type == "thread_settings_applied":
            settings = mapping(payload.thread_settings)
            found.model = text(settings.get("model")) or found.model
            if "service_tier" in settings:
                found.tier = codex_tier(settings["service_tier"])
        elif payload.type == "token_count":
            _add(found, payload, seconds(line.timestamp))


def _enter(found: FileCalls, payload: _Payload, ts: float | None) -> None:
    """Take metadata of a thread: what was counted before them is no part of its totals."""
    if found.codex is None:
        found.codex = CodexThread(began=found.began)
    if found.codex.enter(identifier(payload.id), identifier(payload.forked_from_id), ts):
        found.model = found.tier = None
    found.total = None


def _add(found: FileCalls, payload: _Payload, ts: float | None) -> None:
    info = mapping(payload.info)
    last, total = mapping(info.get("last_token_usage")), mapping(info.get("total_token_usage"))
    if not last or not total:
        return
    whole = [count(total.get(name)) or 0 for name in TOTALS]
    before = found.total
    if whole == before:
        return
    found.total = whole
    found.codex = found.codex or CodexThread(began=found.began)
    found.codex.has_counts = True
    own = [count(last.get(name)) or 0 for name in TOTALS]
    tier = codex_tier(payload.service_tier) or found.tier
    name = " ".join(map(str, whole))
    if any(own):
        _append(found, name, own, ts, tier)
    if before is not None:
        grown = [max(0, now - then - part) for now, then, part in zip(whole, before, own, strict=True)]
        grown[1] = min(grown[1], grown[0])
        if any(grown):
            _append(found, f"{name} growth", grown, ts, tier)


def _append(found: FileCalls, name: str, amounts: list[int], ts: float | None, tier: str | None) -> None:
    usage = openai_usage(dict(zip(TOTALS, amounts, strict=True)))
    usage.model, usage.tier = found.model, tier
    thread = found.codex or CodexThread()
    call_id = CallId.at(thread.of_count(ts), name)
    found.calls.append(sighted_call(call_id, ts, usage, is_replay=thread.replays(ts)))
