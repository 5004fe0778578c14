"""Calls of one file of a session for the bill, and where to go on when the file has grown."""

from __future__ import annotations

from typing import Any

import msgspec

from ebbtide.budget.ledger.call_ledger import SightedCall
from ebbtide.events.model_call_id import CallId
from ebbtide.events.usage import Usage
from ebbtide.traces.records.codex_thread import CodexThread


class FileCalls(msgspec.Struct, gc=False):
    """The calls of a file, and what its first lines say of the session.

    Args:
        calls: Records of calls, in the order of the file.
        offset: Bytes that were read: to the end of the last whole line.
        thread: The id of the session or thread, as the file names it.
        codex: The thread of a rollout of Codex, and the one that it comes from.
        began: The first time in it, in seconds since 1970.
        model: The model of the calls that come, where lines name it apart.
        tier: The tier of the service, likewise.
        total: Tokens of the whole thread so far, where lines count so.
        models: Models of sub-agents by their ids.
        stated: What sessions state of the whole, by their ids and by model, `""` for all models.
        stated_at: When the latest of them was stated.
    """

    calls: list[SightedCall] = []
    offset: int = 0
    thread: str | None = None
    codex: CodexThread | None = None
    began: float | None = None
    model: str | None = None
    tier: str | None = None
    total: list[int] | None = None
    models: dict[str, str] = {}
    stated: dict[str, dict[str, Usage]] = {}
    stated_at: float | None = None


def sighted_call(call_id: CallId, ts: float | None, usage: Usage, **fields: Any) -> SightedCall:
    """A record of a call, with all that its usage states.

    Args:
        fields: Other fields of `SightedCall`.
    """
    return SightedCall(
        call_id,
        ts,
        usage.model,
        usage.tier,
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.reasoning_tokens,
        usage.cache_write_1h_tokens,
        usage.cost_usd,
        **fields,
    )
