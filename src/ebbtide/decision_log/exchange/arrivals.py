"""Arrivals of another log: decisions, and lines that could not be read."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from ebbtide.decision_log.record.record import Decision
from ebbtide.errors import ConfigError, TranscriptError


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A part of a file that could not be read; the rest of it was.

    Args:
        what: What is wrong, and what to do about it.
        source: Name of the file.
        line: Its number in the file, from 1; None where the whole file is meant.
    """

    what: str
    source: str
    line: int | None = None

    @classmethod
    def of(cls, error: TranscriptError | ConfigError, source: str, line: int | None = None) -> Broken:
        """Makes one of an error and its place."""
        if isinstance(error, TranscriptError):
            line = line if error.line is None else error.line
            what = str(TranscriptError(error.what, path=error.path, hint=error.hint))
        else:
            what = str(error)
        return cls(what=what, source=source, line=line)

    def __str__(self) -> str:
        return f"{self.source}{'' if self.line is None else f':{self.line}'}: {self.what}"


Arrival = Decision | Broken


class Origins:
    """Names for what has no id of its own, the same each time a file is read.

    The order of equal rows in one file distinguishes them.

    Args:
        kind: Name of the format.
    """

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._rows: Counter[str] = Counter()

    def of(self, row: Mapping[str, Any]) -> str:
        """The name of a row, made of what it says."""
        digest = _digest(json.dumps(row, sort_keys=True, default=str))
        self._rows[digest] += 1
        return f"{self._kind}:{digest}#{self._rows[digest]}"

    def known_as(self, name: str, description: str) -> str:
        """The name of a row that has an id. Two logs may both have a 7, so what it says counts too."""
        return f"{self._kind}:{_digest(name + chr(0) + description)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="backslashreplace")).hexdigest()[:32]


_SHOWN = 60  # characters of a value in a message
_MILLISECONDS = 1e11  # as seconds this is the year 5138
_LATEST = 253402300799.0  # the last second of the year 9999

_Label = TypeVar("_Label", bound=StrEnum)


def shown(value: object) -> str:
    """A value for a message, cut."""
    return json.dumps(value, ensure_ascii=False, default=str)[:_SHOWN]


def text(row: Mapping[str, Any], key: str) -> str | None:
    """The text at `key`; None where there is none, or only white space.

    Raises:
        TranscriptError: The value is no text.
    """
    value = row.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        raise TranscriptError(f"expected a text, found {shown(value)}", path=key)
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise TranscriptError("a text that is not UTF-8", path=key, hint="Save the file as UTF-8.")
    return value if value.strip() else None


def texts(row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """The texts at `key`: a list, a JSON list inside a text, or a text with one a line.

    Raises:
        TranscriptError: The value is none of that.
    """
    value = row.get(key)
    if isinstance(value, str):
        content = text(row, key) or ""
        parts = _json_list(content)
        value = content.splitlines() if parts is None else parts
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise TranscriptError(f"expected a list of texts, found {shown(value)}", path=key)
    entries = ((f"{key}[{at}]", entry) for at, entry in enumerate(value))
    return tuple(entry for place, item in entries if (entry := text({place: item}, place)))


def number(row: Mapping[str, Any], key: str) -> float | None:
    """The number at `key`, or the one that a text there writes; None where there is none.

    Raises:
        TranscriptError: The value is no number, or not a finite one.
    """
    value = row.get(key)
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        result = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        result = math.nan
    if not math.isfinite(result):
        raise TranscriptError(f"expected a number, found {shown(value)}", path=key)
    return result


def moment(row: Mapping[str, Any], key: str) -> float | None:
    """The time at `key` in seconds since the epoch: seconds, milliseconds, or ISO 8601 (UTC without a zone).

    Raises:
        TranscriptError: The value is no time from 1970 to 9999.
    """
    value = row.get(key)
    if isinstance(value, str) and not _is_number(value):
        if not value.strip():
            return None
        try:
            instant = datetime.fromisoformat(value.strip())
            seconds = (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            seconds = math.nan
    else:
        seconds_or_ms = number(row, key)
        if seconds_or_ms is None:
            return None
        seconds = seconds_or_ms / 1000 if seconds_or_ms >= _MILLISECONDS else seconds_or_ms
    if not 0 <= seconds <= _LATEST:
        raise TranscriptError(
            f"expected a time, found {shown(value)}",
            path=key,
            hint="Seconds or milliseconds since 1970, or such as 2026-03-01T10:00:00Z.",
        )
    return seconds


def label(row: Mapping[str, Any], key: str, kind: type[_Label]) -> _Label | None:
    """The label at `key`; None where there is none.

    Raises:
        TranscriptError: There is no such label.
    """
    value = text(row, key)
    if value is None:
        return None
    name = value.strip().lower().replace(" ", "_").replace("-", "_")
    if name not in tuple(kind):
        raise TranscriptError(f"{shown(value)} is not one of {', '.join(kind)}", path=key)
    return kind(name)


def tables(row: Mapping[str, Any], key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects in the list at `key`, each with its place.

    Raises:
        TranscriptError: The value is no list of objects.
    """
    value = row.get(key)
    for at, entry in enumerate([] if value is None else value if isinstance(value, list) else [value]):
        if not isinstance(entry, Mapping):
            raise TranscriptError(f"expected an object, found {shown(entry)}", path=f"{key}[{at}]")
        yield f"{key}[{at}]", entry


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _json_list(value: str) -> list[Any] | None:
    if not value.lstrip().startswith("["):
        return None
    try:
        parts = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return parts if isinstance(parts, list) else None
