"""One event of an agent's run, and the plain wire form that events are read from."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ebbtide.errors import TranscriptError

_NESTED = 8  # how deep ``repeat`` blocks may stand in each other
_LONGEST = 10_000_000  # events that one file may unfold to


class Phase(StrEnum):
    """How far a call has come."""

    STARTED = "started"
    FINISHED = "finished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call, message or other event of a chain.

    A call may be told twice: STARTED when it is dispatched, so that it can still be blocked, and FINISHED
    with its answer. FINISHED alone is enough to find every loop.

    Args:
        name: Tool or operation; for kind ``llm``: ``message`` (a whole message), ``stream`` (a piece of one),
            ``thought`` or ``generate``; for kind ``system``: ``handoff``, ``condensation``,
            ``context_compaction``, ``retry``, ``run_start`` or ``conversation_start``.
        kind: ``tool``, ``llm``, ``user`` or ``system``; anything else counts as a tool.
        args: Arguments, best as a mapping; None where there are none.
        result: The answer; None where it is not known.
        error: Whether the call failed.
        text: What the model or the user said.
        phase: STARTED or FINISHED.
        chain_id: The chain that it belongs to: one run, or one agent of a session.
        agent: Who acts, where there are several.
        seq: Number of the event in its chain; one that was seen already is ignored. None counts by itself.
        ts: Seconds on any clock of the chain; None where it is not known.
        waited_s: Seconds since the event before, where that is known and `ts` is not.
        batch: Equal for calls that were asked for at once; a call that is in it twice counts once.
        status: HTTP status or the like, where there is one.
        model: The model that was called, where there is one.
        cost_usd: What it cost; None where that is not known.
        input_tokens: Tokens read anew.
        output_tokens: Tokens written.
        cache_read_tokens: Tokens read from a cache.
        cache_write_tokens: Tokens written to a cache.
    """

    name: str
    kind: str = "tool"
    args: object = None
    result: object = None
    error: bool = False
    text: str | None = None
    phase: Phase = Phase.FINISHED
    chain_id: str = ""
    agent: str | None = None
    seq: int | None = None
    ts: float | None = None
    waited_s: float | None = None
    batch: str | int | None = None
    status: int | None = None
    model: str | None = None
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None


_TEXT: Final = ("name", "kind", "text", "chain_id", "agent", "model")
_NUMBER: Final = ("ts", "waited_s", "cost_usd")
_COUNT: Final = (
    "seq",
    "status",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
)


def read_call(event: Mapping[str, Any], path: str = "event") -> Call:
    """The call that one event of the wire form describes.

    Args:
        event: Keys as the fields of `Call`; unknown ones are left aside. ``error`` may be a flag or the
            error's text, which is then the result where there is no other. ``args`` may be JSON in a text.
        path: Place in the document, for the error message.

    Raises:
        TranscriptError: A field has a value that it cannot have.

    >>> read_call({"kind": "tool", "name": "ls", "args": {"path": "."}, "error": None}).args
    {'path': '.'}
    """
    if not isinstance(event, Mapping):
        raise TranscriptError(f"{event!r:.80}: expected an object", path=path)
    fields: dict[str, Any] = {"args": _arguments(event.get("args")), "result": event.get("result")}
    error = event.get("error")
    if isinstance(error, str) and fields["result"] is None:
        fields["result"] = error
    fields["error"] = bool(error)
    if event.get("batch") is not None:
        fields["batch"] = str(event["batch"])
    if event.get("phase") is not None:
        if event["phase"] not in tuple(Phase):
            raise _wrong(event, "phase", path, "started or finished")
        fields["phase"] = Phase(event["phase"])
    for names, kinds, expected in (
        (_TEXT, str, "a text"),
        (_NUMBER, (int, float), "a number"),
        (_COUNT, int, "a whole number"),
    ):
        for name in names:
            value = event.get(name)
            if value is None:
                continue
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise _wrong(event, name, path, expected)
            fields[name] = value
    if "name" not in fields:
        raise _wrong(event, "name", path, "the name of a tool or event")
    return Call(**fields)


def read_calls(events: Iterable[Mapping[str, Any]], path: str = "events") -> Iterator[Call]:
    """The calls of a list of events: blocks unfolded, clocks and rounds carried over, events numbered from 1.

    ``{"repeat": n, "events": [...]}`` stands for n copies. ``system`` events ``clock`` (``args.elapsed_s``)
    and ``round`` (one parallel batch) give no call of their own: they are the waiting time and the batch of
    the next.

    Raises:
        TranscriptError: An event has another shape, or a block repeats too much.
    """
    waited: float | None = None
    batch: str | None = None
    number = 0
    for event, place in _unfolded(events, path, 0):
        call = read_call(event, place)
        number += 1
        if number > _LONGEST:
            raise TranscriptError(f"more than {_LONGEST:,} events", path=place, hint="Split the file.")
        if call.kind == "system" and call.name in ("clock", "round"):
            args = call.args if isinstance(call.args, dict) else {}
            if call.name == "round":
                batch = f"round {number}"
            else:
                elapsed = args.get("elapsed_s")
                if (
                    isinstance(elapsed, bool)
                    or not isinstance(elapsed, int | float)
                    or not math.isfinite(elapsed)
                ):
                    raise TranscriptError(f"elapsed_s = {elapsed!r}: expected seconds", path=f"{place}.args")
                waited = (waited or 0.0) + elapsed
            continue
        fields: dict[str, Any] = {"seq": call.seq if call.seq is not None else number}
        if call.waited_s is None:
            fields["waited_s"] = waited
        if call.batch is None and call.kind != "system":
            fields["batch"] = batch
        waited = None
        yield _replaced(call, fields)


def _replaced(call: Call, fields: Mapping[str, Any]) -> Call:
    return Call(**{name: fields.get(name, getattr(call, name)) for name in Call.__slots__})


def _unfolded(
    events: Iterable[Mapping[str, Any]], path: str, depth: int
) -> Iterator[tuple[Mapping[str, Any], str]]:
    if depth > _NESTED:
        raise TranscriptError(f"blocks stand more than {_NESTED} deep in each other", path=path)
    for index, event in enumerate(events):
        place = f"{path}[{index}]"
        if isinstance(event, Mapping) and "repeat" in event:
            times, inner = event["repeat"], event.get("events")
            if (
                isinstance(times, bool)
                or not isinstance(times, int)
                or times < 0
                or not isinstance(inner, list)
            ):
                raise TranscriptError(
                    f"repeat = {times!r:.40}: expected a whole number, and a list of events beside it",
                    path=place,
                )
            for _ in range(times):
                yield from _unfolded(inner, f"{place}.events", depth + 1)
        else:
            yield event, place


def _arguments(value: object) -> object:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _wrong(event: Mapping[str, Any], name: str, path: str, expected: str) -> TranscriptError:
    return TranscriptError(f"{event.get(name)!r:.80}: expected {expected}", path=f"{path}.{name}")
