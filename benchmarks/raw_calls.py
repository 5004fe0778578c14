"""Model calls as the raw lines of session files state them, counted without any reader of Ebbtide.

One call is one message id with its request id, over all files; of its lines the one with the most output
counts. Where a recorder has masked the id, the time and the sizes of the prompt tell calls apart. The result
of a sub-agent states the usage of its last call, which its progress lines leave out: it is a call of its own,
unless another line of the same agent has the same prompt sizes. This is the yardstick of
`benchmarks.quality.bill_sums` and `benchmarks.speed.machine`: it knows nothing but the fields.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KINDS = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
_MASK = "REDACTED"


@dataclass(frozen=True, slots=True)
class RawCall:
    """One call of a model.

    Args:
        identity: Equal for all lines of the call, in any file.
        model: Its model as written.
        at: Its time as written.
        tokens: By `KINDS`; input leaves out cached tokens.
        place: The file and the number of the line, from 1.
        record: The type of the line: ``assistant``, ``progress`` or ``tool result``; for Codex
            ``token_count``, or ``growth`` for what its total has grown by beside the call of that line.
        agent: The sub-agent, as far as the line names it.
    """

    identity: tuple[str, ...]
    model: str
    at: str
    tokens: tuple[int, ...]
    place: str
    record: str
    agent: str = ""

    @property
    def prompt(self) -> tuple[object, ...]:
        """What two records of one call of a sub-agent share."""
        return (self.agent, self.tokens[0], *self.tokens[2:])

    @property
    def day(self) -> str:
        """Its day in UTC."""
        return self.at[:10]


def raw_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines, numbered from 1; broken lines are passed over."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield number, value


def claude_lines(path: Path) -> Iterator[RawCall]:
    """Every line of a Claude Code session that states usage, sub-agents in progress lines included."""
    for number, record in raw_lines(path):
        kind = record.get("type")
        held, agent = record, str(record.get("agentId") or "")
        if kind == "progress":
            data = record.get("data")
            held = data.get("message") if isinstance(data, dict) else None  # type: ignore[assignment]
            agent = str(data.get("agentId") or "") if isinstance(data, dict) else ""
        elif kind == "user":
            yield from _result_call(record, f"{path.name}:{number}")
            continue
        elif kind != "assistant":
            continue
        message = held.get("message") if isinstance(held, dict) else None
        usage = message.get("usage") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(usage, dict):
            continue
        if message.get("model") == "<synthetic>":
            continue
        at = str(held.get("timestamp") or record.get("timestamp") or "")
        tokens = _claude_tokens(usage)
        request = held.get("requestId") or held.get("request_id") or ""
        identity: tuple[str, ...] = (str(message.get("id") or ""), str(request))
        if not identity[0] or any(_MASK in part for part in identity):
            identity = (*identity, at, str(tokens[0]), str(tokens[2]), str(tokens[3] + tokens[4]))
        model, place = str(message.get("model")), f"{path.name}:{number}"
        yield RawCall(identity, model, at, tokens, place, str(kind), agent)


def _result_call(record: dict[str, Any], place: str) -> Iterator[RawCall]:
    """The last call of a sub-agent, where its result states what that took."""
    result = record.get("toolUseResult")
    usage = result.get("usage") if isinstance(result, dict) else None
    if not isinstance(result, dict) or not isinstance(usage, dict) or not result.get("agentId"):
        return
    tokens, agent = _claude_tokens(usage), str(result["agentId"])
    identity = (agent, *map(str, tokens))
    at, model = str(record.get("timestamp") or ""), str(result.get("resolvedModel") or "")
    yield RawCall(identity, model, at, tokens, place, "tool result", agent)


def codex_lines(path: Path) -> Iterator[RawCall]:
    """Every token count of a Codex rollout after which the total has grown, and what grew beside it."""
    model, session = "", path.name
    before: dict[str, Any] | None = None
    for number, record in raw_lines(path):
        payload = record.get("payload")
        if not isinstance(payload, dict):
            continue
        if record.get("type") == "session_meta" and session == path.name:
            session = str(payload.get("id"))
        model = str(payload.get("model") or model) if record.get("type") == "turn_context" else model
        info = payload.get("info")
        if payload.get("type") != "token_count" or not isinstance(info, dict):
            continue
        total, last = info.get("total_token_usage"), info.get("last_token_usage")
        if total == before or not isinstance(last, dict) or not isinstance(total, dict):
            continue
        tokens, at = _codex_tokens(last), str(record.get("timestamp"))
        place, identity = f"{path.name}:{number}", (session, json.dumps(total))
        yield RawCall(identity, model, at, tokens, place, "token_count")
        if before is not None:
            grown = zip(_codex_tokens(total), _codex_tokens(before), tokens, strict=True)
            rest = tuple(max(0, now - then - own) for now, then, own in grown)
            if any(rest):
                yield RawCall((*identity, "growth"), model, at, rest, place, "growth")
        before = total


def counted_once(calls: Iterable[RawCall]) -> list[RawCall]:
    """Each call once, by the line of it that states the most output."""
    best: dict[tuple[str, ...], RawCall] = {}
    for call in calls:
        known = best.get(call.identity)
        if known is None or call.tokens[1] > known.tokens[1]:
            best[call.identity] = call
    stated = {call.prompt for call in best.values() if call.record != "tool result"}
    return [call for call in best.values() if call.record != "tool result" or call.prompt not in stated]


def token_sums(calls: Iterable[RawCall]) -> dict[str, int]:
    """Tokens by `KINDS`."""
    sums = [0] * len(KINDS)
    for call in calls:
        sums = [one + other for one, other in zip(sums, call.tokens, strict=True)]
    return dict(zip(KINDS, sums, strict=True))


def _codex_tokens(usage: dict[str, Any]) -> tuple[int, ...]:
    cached = usage.get("cached_input_tokens") or 0
    return ((usage.get("input_tokens") or 0) - cached, usage.get("output_tokens") or 0, cached, 0, 0)


def _claude_tokens(usage: dict[str, Any]) -> tuple[int, ...]:
    written = usage.get("cache_creation_input_tokens") or 0
    split = usage.get("cache_creation")
    hour = (split.get("ephemeral_1h_input_tokens") or 0) if isinstance(split, dict) else 0
    return (
        usage.get("input_tokens") or 0,
        usage.get("output_tokens") or 0,
        usage.get("cache_read_input_tokens") or 0,
        written - hour,
        hour,
    )
