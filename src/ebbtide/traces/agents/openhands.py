"""Events of OpenHands, of its V0 (``action``, ``observation``) and of its V1 (``kind``).

One event a line, a list of events, an object around one, or runs of an evaluation a line.

The costs that events carry grow over a run; each model call gets what came on top. What the ``metrics``
of a run have beyond its events is a notice of usage. Early evaluations have an action and its
observation as a pair.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ebbtide.bounded import Bounded
from ebbtide.errors import TranscriptError
from ebbtide.events.event import Event, Message, ModelCall, Notice, NoticeKind, ToolCall
from ebbtide.events.usage import Usage, possible_part, total
from ebbtide.traces.agents.sniffing import OPENHANDS_EVENT, OPENHANDS_LISTS
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.input.record_sign import is_like
from ebbtide.traces.input.source import readable
from ebbtide.traces.records.fields import (
    arguments,
    count,
    dollars,
    identifier,
    items,
    joined_text,
    mapping,
    seconds,
    shown,
    text,
)
from ebbtide.traces.records.joining import OpenCalls, Seen
from ebbtide.traces.records.provider_usage import has_spent, has_tokens, openai_usage, reported
from ebbtide.traces.records.usage_accounts import RunningTotal, UsageLedger


class OpenHandsReader:
    """Reads events one by one; several runs in a file are chains of their own."""

    def __init__(self) -> None:
        self._run = _Run("")
        self._duplicates = 0

    @property
    def duplicates(self) -> int:
        """Events that were there before."""
        return self._duplicates + self._run.duplicates

    def read(self, value: Any, path: str) -> Sequence[Event]:
        """The events that this record completes."""
        if path == "metrics":
            self._run.take_totals(mapping(value))
            return ()
        inner = [] if path not in ("", "item") or is_like(value, OPENHANDS_EVENT) else _listed(value)
        if not inner:
            return [event for record in _records([value]) for event in self._run.read(record)]
        # A whole run in one line.
        run = _Run(identifier(value.get("instance_id")) or "")
        events = [event for record in _records(inner) for event in run.read(record)]
        run.take_totals(mapping(value.get("metrics")))
        events += run.finish()
        self._duplicates += run.duplicates
        return events

    def finish(self) -> Sequence[Event]:
        """Returns the events that were still open."""
        return self._run.finish()


def _listed(value: object) -> list[Any]:
    """The events of a whole run."""
    run = mapping(value)
    return next((run[key] for key in OPENHANDS_LISTS if isinstance(run.get(key), list)), [])


def _records(values: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    """The events among values; an action and its observation may be a pair."""
    for value in values:
        yield from (event for event in items(value) or [value] if isinstance(event, dict))


class _Run:
    """One run."""

    def __init__(self, chain: str) -> None:
        self._chain = chain
        self._v0, self._v1 = V0Events(chain), V1Events(chain)
        self._seen = Seen()
        self._ledger = UsageLedger()
        self._totals = Usage()
        self._ts: float | None = None
        self._repeated = 0

    @property
    def duplicates(self) -> int:
        return self._repeated + self._v0.calls.duplicates + self._v1.calls.duplicates

    def read(self, record: Mapping[str, Any]) -> Iterator[Event]:
        name = identifier(record.get("id"))
        if name is not None and self._seen.before(name):
            self._repeated += 1
            return
        reader = self._v1 if isinstance(record.get("kind"), str) else self._v0
        reader.ts = self._ts = seconds(record.get("timestamp")) or self._ts
        for event in reader.read(record):
            yield self._ledger.add(event)

    def take_totals(self, metrics: Mapping[str, Any]) -> None:
        if metrics:
            self._totals = totals_of(metrics)

    def finish(self) -> Sequence[Event]:
        calls = [self._ledger.add(call) for events in (self._v0, self._v1) for call in events.calls.finish()]
        return [*calls, *self._ledger.rest(self._totals, chain_id=self._chain, ts=self._ts)]


class RunEvents:
    """The state of one run.

    Args:
        chain: Its chain.
    """

    def __init__(self, chain: str) -> None:
        self.calls = OpenCalls()
        self.ts: float | None = None
        self._chain = chain
        self._responses = Seen()

    @property
    def common(self) -> dict[str, Any]:
        """The chain and the present time, for an event."""
        return {"chain_id": self._chain, "ts": self.ts}


def totals_of(metrics: Mapping[str, Any]) -> Usage:
    """The cost and the tokens of a run so far."""
    report = metrics.get("accumulated_token_usage")
    # Early versions report model calls one by one.
    calls = [mapping(usage) for usage in items(metrics.get("token_usages")) if mapping(usage)]
    totals = openai_usage(report) if report else total(list(map(openai_usage, calls)))
    if report:
        totals.reasoning_tokens = possible_part(
            count(mapping(report).get("reasoning_tokens")), totals.output_tokens
        )
    totals.cost_usd = dollars(metrics.get("accumulated_cost"))
    return totals


_EVENT_FILE = re.compile(r"(?:event-)?(\d+)(?:-[0-9A-Fa-f-]+)?\.json")
_STATE = "base_state.json"
_STATE_EVENT = b'{"kind": "ConversationStateUpdateEvent", "key": "full_state", "value": '
_LARGEST_FIRST = 8 << 20  # bytes of the first event, which has the tools and their descriptions


def is_conversation(path: str | os.PathLike[str]) -> bool:
    """True if this is such a folder: its event files stand in it, or in its folder ``events``.

    Raises:
        OSError: It cannot be read.
    """
    first = min(_event_files(_events_of(Path(path))), default=None)
    if first is None or first[-1].stat().st_size > _LARGEST_FIRST:
        return False
    with suppress(TranscriptError):
        return is_like(json_value(_read(first[-1]).decode(errors="replace")), OPENHANDS_EVENT)
    return False


def conversation_lines(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """The events as JSON lines, by the numbers of their files; at the end the state, which has the costs.

    Args:
        path: A folder for which `is_conversation` holds.

    Raises:
        TranscriptError: A file cannot be read.
    """
    folder = _events_of(Path(path))
    for _, _, file in sorted(_event_files(folder)):
        yield _line(_read(file))
    state = folder.parent / _STATE if folder.name == "events" else folder / _STATE
    if state.is_file():
        yield _line(_STATE_EVENT + _read(state) + b"}")


def _events_of(folder: Path) -> Path:
    inside = folder / "events"
    return inside if inside.is_dir() else folder


def _event_files(folder: Path) -> Iterator[tuple[int, str, Path]]:
    if folder.is_dir():
        for file in folder.iterdir():
            if (match := _EVENT_FILE.fullmatch(file.name)) is not None and file.is_file():
                yield int(match[1]), file.name, file


def _read(file: Path) -> bytes:
    with readable(file):
        return file.read_bytes()


def _line(data: bytes) -> bytes:
    # Line ends stand only between the parts of JSON, never in its texts.
    return data.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"


_NO_CALLS = frozenset(
    (
        "change_agent_state",
        "initialize",
        "loop_recovery",
        "null",
        "pause",
        "recall",
        "reset",
        "resume",
        "start",
        "stop",
        "streaming_chunk",
        "system",
    )
)
_NO_ANSWERS = frozenset(("agent_state_changed", "null", "recall", "condense"))
_BOOKKEEPING = frozenset(
    (
        "thought",
        "blocking",
        "keep_prompt",
        "hidden",
        "confirmation_state",
        "is_input",
        "is_static",
        "security_risk",
        "final_thought",
        "safety_risk",
    )
)
_MOST_IDS = 10_000  # calls whose ids of the model are remembered


class V0Events(RunEvents):
    """Reads the events of one run."""

    def __init__(self, chain: str) -> None:
        super().__init__(chain)
        self._growing = RunningTotal()
        self._ids: Bounded[str, str] = Bounded(_MOST_IDS)  # ids of actions by those of the model's calls
        self._nameless = 0
        self._latest: str | None = None  # an action without an id, whose answer comes next

    def read(self, event: Mapping[str, Any]) -> Iterator[Event]:
        """The events that this one completes."""
        if isinstance(event.get("observation"), str):
            yield from self._answer(event)
        elif isinstance(event.get("action"), str):
            yield from self._action(event)

    def _action(self, event: Mapping[str, Any]) -> Iterator[Event]:
        action, args, source = event["action"], mapping(event.get("args")), event.get("source")
        if action == "message":
            words = text(args.get("content")) or text(event.get("message"))
            if source == "user":
                yield Message(text=words, **self.common)
            else:
                yield from self._model_call(event, words)
            return
        if action == "condensation":
            yield Notice(kind=NoticeKind.COMPACTION, **self.common)
        if action in _NO_CALLS or action.startswith("condensation"):
            return
        request = mapping(event.get("tool_call_metadata"))
        if source != "user":
            yield from self._model_call(event, text(args.get("thought")) or text(args.get("final_thought")))
        call = ToolCall(
            name=text(request.get("function_name")) or action,
            args={key: value for key, value in args.items() if key not in _BOOKKEEPING},
            batch=identifier(mapping(request.get("model_response")).get("id")),
            agent=None if source in ("agent", None) else text(source),
            **self.common,
        )
        key = identifier(event.get("id"))
        yield from self.calls.open(self._key(key, request), call)

    def _key(self, key: str | None, request: Mapping[str, Any]) -> str:
        if key is None:
            self._nameless += 1
            key = self._latest = f"nameless {self._nameless}"
        if (name := identifier(request.get("tool_call_id"))) is not None:
            self._ids[name] = key
        return f"action {key}"

    def _model_call(self, event: Mapping[str, Any], words: str | None) -> Iterator[Event]:
        response = mapping(mapping(event.get("tool_call_metadata")).get("model_response"))
        name = identifier(response.get("id"))
        usage = Usage()
        if name is None or not self._responses.before(name):
            usage = openai_usage(response.get("usage"))
        elif not words:
            return
        totals = totals_of(mapping(event.get("llm_metrics")))
        grown = self._growing.growth(totals)
        if has_tokens(totals):
            usage = grown
        usage.cost_usd = grown.cost_usd
        if words or response or has_spent(grown):
            usage.model = text(response.get("model"))
            yield ModelCall(text=words or "", usage=reported(usage), **self.common)

    def _answer(self, event: Mapping[str, Any]) -> Iterator[Event]:
        kind, cause = event["observation"], identifier(event.get("cause"))
        if cause is None:
            # The answer of a delegate names the call of the model alone.
            cause = self._ids.get(
                identifier(mapping(event.get("tool_call_metadata")).get("tool_call_id")) or ""
            )
        if kind in _NO_ANSWERS and (cause is None or not len(self.calls)):
            return
        if cause is None:
            cause, self._latest = self._latest, None
        extras = mapping(event.get("extras"))
        code = extras.get("exit_code", mapping(extras.get("metadata")).get("exit_code"))
        failed = kind == "error" or (isinstance(code, int) and code not in (0, -1))
        result = event.get("content")
        if cause is None and kind == "error":
            yield Notice(kind=NoticeKind.ERROR, text=text(result), error=True, **self.common)
            return
        key = f"action {cause}" if cause is not None else None
        yield from self.calls.close(key, result=result, error=failed, ts=self.ts)


_OVER = ("completed", "failed")  # a call that another agent made


class V1Events(RunEvents):
    """Reads the events of one run."""

    def __init__(self, chain: str) -> None:
        super().__init__(chain)
        self._growing: dict[str, RunningTotal] = {}  # by what a model is used for

    def read(self, event: Mapping[str, Any]) -> Iterator[Event]:
        """The events that this one completes."""
        kind = event["kind"]
        if kind == "MessageEvent":
            yield from self._message(event)
        elif kind == "ActionEvent":
            yield from self._action(event)
        elif kind == "ACPToolCallEvent":
            yield from self._foreign(event)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            yield from self._answer(event)
        elif kind.startswith("Condensation") and "Request" not in kind and "Summary" not in kind:
            yield Notice(kind=NoticeKind.COMPACTION, **self.common)
        elif kind == "ConversationErrorEvent":
            words = text(event.get("detail"))
            yield Notice(kind=NoticeKind.ERROR, text=words, error=True, **self.common)
        elif kind == "ConversationStateUpdateEvent":
            value = mapping(event.get("value"))
            stats = value if event.get("key") == "stats" else mapping(value.get("stats"))
            for use, metrics in mapping(stats.get("usage_to_metrics")).items():
                yield from self._usage(mapping(metrics), use)

    def _message(self, event: Mapping[str, Any]) -> Iterator[Event]:
        words, source = joined_text(mapping(event.get("llm_message")).get("content")), event.get("source")
        if source == "agent":
            yield ModelCall(text=words or "", usage=reported(self._grown(event)), **self.common)
        elif words and source == "user":
            yield Message(text=words, **self.common)
        elif words:
            yield Notice(kind=NoticeKind.NOTE, text=words, **self.common)

    def _action(self, event: Mapping[str, Any]) -> Iterator[Event]:
        response = identifier(event.get("llm_response_id"))
        thought = joined_text(event.get("thought"))
        grown = self._grown(event)
        again = response is not None and self._responses.before(response)
        if thought or not again:
            yield ModelCall(text=thought or "", usage=reported(grown), **self.common)
        elif has_spent(grown):
            yield Notice(kind=NoticeKind.USAGE, usage=grown, **self.common)
        request = mapping(event.get("tool_call"))
        action = mapping(event.get("action"))
        args = arguments(request.get("arguments")) if "arguments" in request else None
        if args is None:
            args = {key: value for key, value in action.items() if key != "kind"}
        name = text(event.get("tool_name")) or text(request.get("name")) or text(action.get("kind")) or "tool"
        key = identifier(event.get("tool_call_id")) or identifier(event.get("id"))
        yield from self.calls.open(key, ToolCall(name=name, args=args, batch=response, **self.common))

    def _foreign(self, event: Mapping[str, Any]) -> Iterator[Event]:
        """A call of an agent that OpenHands drives, recorded whenever more is known of it."""
        name = text(event.get("title")) or text(event.get("tool_kind")) or "tool"
        call = ToolCall(name=name, args=event.get("raw_input"), **self.common)
        key, status = identifier(event.get("tool_call_id")), event.get("status")
        if status not in _OVER and event.get("is_error") is not True:
            yield from self.calls.open(key, call)
            return
        result = event.get("raw_output")
        result = result if result is not None else event.get("content")
        failed = status == "failed" or event.get("is_error") is True
        yield from self.calls.close(key, else_call=call, result=result, error=failed, ts=self.ts)

    def _answer(self, event: Mapping[str, Any]) -> Iterator[Event]:
        observation = mapping(event.get("observation"))
        result: object = event.get("error") or event.get("rejection_reason")
        failed = result is not None
        if result is None:
            result = _result(observation)
            code = observation.get("exit_code", mapping(observation.get("metadata")).get("exit_code"))
            failed = observation.get("is_error") is True or (isinstance(code, int) and code not in (0, -1))
        key = identifier(event.get("tool_call_id")) or identifier(event.get("action_id"))
        call = ToolCall(name=text(event.get("tool_name")) or "tool", **self.common)
        yield from self.calls.close(key, else_call=call, result=result, error=failed, ts=self.ts)

    def _grown(self, event: Mapping[str, Any]) -> Usage:
        """Returns the growth of the totals that early versions put into their events."""
        return self._running("").growth(totals_of(mapping(event.get("metrics"))))

    def _usage(self, metrics: Mapping[str, Any], use: str) -> Iterator[Event]:
        grown = self._running(use).growth(totals_of(metrics))
        if has_spent(grown):
            grown.model = text(metrics.get("model_name"))
            yield Notice(kind=NoticeKind.USAGE, usage=grown, **self.common)

    def _running(self, use: str) -> RunningTotal:
        return self._growing.setdefault(use, RunningTotal())


def _result(observation: Mapping[str, Any]) -> object:
    """Returns what was observed: its text where it has some, or all that is recorded of it."""
    for key in ("content", "output"):
        content = observation.get(key)
        if isinstance(content, list) and all(mapping(part).get("type", "text") == "text" for part in content):
            return joined_text(content) or ""
        if content is not None:
            return shown(content)
    return {key: entry for key, entry in observation.items() if key != "kind"} or None
