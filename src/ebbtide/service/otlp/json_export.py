"""The JSON form of OTLP, whose ids are hexadecimal and whose whole numbers are texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.service.otlp.export import Export, SignalKind, usable
from ebbtide.traces.input.document import shape
from ebbtide.traces.input.json_value import json_value
from ebbtide.traces.records.fields import items, mapping
from ebbtide.traces.telemetry.raw_spans import GROUPS, SCOPES, raw_logs, raw_spans


def read_json(body: bytes, signal: SignalKind) -> Export:
    """What is in a body.

    Raises:
        TranscriptError: It is no such JSON.
    """
    try:
        return _export(json_value(body), signal)
    except UnicodeDecodeError as error:
        raise TranscriptError(f"not UTF-8: {error.reason}") from None
    except RecursionError:
        raise TranscriptError("nested too deeply to be read") from None


def _export(value: Any, signal: SignalKind) -> Export:
    if not isinstance(value, dict):
        raise TranscriptError(f"expected an object with resourceSpans, found {shape(value)}")
    if signal is SignalKind.TRACES:
        return usable(list(raw_spans(value)), _count(value, GROUPS, SCOPES, ("spans",)))
    return Export(logs=tuple(raw_logs(value)) if signal is SignalKind.LOGS else ())


def _count(value: Mapping[str, Any], *levels: tuple[str, ...]) -> int:
    """Items at the lowest of some levels of lists."""
    holders: list[Any] = [value]
    for names in levels:
        holders = [item for holder in holders for name in names for item in items(mapping(holder).get(name))]
    return len(holders)
