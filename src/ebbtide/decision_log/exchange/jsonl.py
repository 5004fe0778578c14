"""A log as JSON lines: one decision a line, in any order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ebbtide.decision_log.exchange.arrivals import Arrival, Broken, Origins, shown
from ebbtide.decision_log.exchange.full import is_full, read_full
from ebbtide.decision_log.exchange.rows import RowFields, decision_of_row
from ebbtide.decision_log.record.record import Decision
from ebbtide.decision_log.record.wire import decision_json
from ebbtide.errors import ConfigError, TranscriptError


def read_jsonl(lines: Iterable[str], source: str, keys: RowFields | None = None) -> Iterator[Arrival]:
    """The decisions of a file, a line each: as `write_jsonl` writes them, or with keys of its own.

    Args:
        lines: The lines; blank ones are passed over.
        source: What messages call the file.
        keys: Which key means what, in lines that `write_jsonl` did not write.
    """
    origins, names = Origins("jsonl"), keys or RowFields()
    for line_number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json_object(line)
            yield read_full(row) if is_full(row) else decision_of_row(row, names, origins)
        except (TranscriptError, ConfigError) as error:
            yield Broken.of(error, source, line_number)


def json_object(text: str) -> Mapping[str, Any]:
    """The JSON object that a text holds. NaN and infinities, which are no JSON, are unknown.

    Raises:
        TranscriptError: It holds none.
    """
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        raise TranscriptError(f"not JSON: {error.msg}, column {error.colno}") from None
    except (ValueError, RecursionError):
        raise TranscriptError("not JSON that can be read: too deep, or a number too long") from None
    if not isinstance(value, Mapping):
        raise TranscriptError(f"expected an object, found {shown(value)}")
    return value


def write_jsonl(decisions: Iterable[Decision]) -> Iterator[str]:
    """A line for each decision, complete."""
    for decision in decisions:
        yield decision_json(decision)
