"""Reading fields of JSON that somebody else wrote: what has the wrong type is as good as absent."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.traces.input.json_value import json_value

_EMPTY: Mapping[str, Any] = {}
_MILLISECONDS = 1e11  # seconds until the year 5138: a larger number counts milliseconds
_MICROSECONDS = 1e14
_NANOSECONDS = 1e17
_LONGEST_DIGITS = 40
_MOST_TOKENS = 100_000_000_000
_MOST_USD = 1e12


def mapping(value: object) -> Mapping[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else _EMPTY


def items(value: object) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def text(value: object) -> str | None:
    """The text, or None; an empty one is None too."""
    return value if isinstance(value, str) and value else None


def identifier(value: object) -> str | None:
    """A text or a whole number that names something, as a text; None for anything else."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 128:
        return str(value)
    return None


def count(value: object) -> int | None:
    """A number of tokens or the like, 0 to 1e11; None for anything else. Texts of digits count."""
    if type(value) is not int:
        if (isinstance(value, float) and value.is_integer()) or (
            isinstance(value, str) and value.isdecimal() and len(value) <= _LONGEST_DIGITS
        ):
            value = int(value)
        else:
            return None
    return value if 0 <= value <= _MOST_TOKENS else None


def dollars(value: object) -> float | None:
    """A cost in dollars, 0 to 1e12; None for anything else. Texts of numbers count."""
    if isinstance(value, str) and len(value) <= _LONGEST_DIGITS:
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _MOST_USD else None


def seconds(value: object) -> float | None:
    """Seconds since 1970 of a time in any usual form; None for anything else.

    Numbers, or texts of digits, are seconds, milliseconds, microseconds or nanoseconds by their size; texts
    are ISO 8601. A time without a zone is taken as UTC: only differences count.

    >>> seconds("1970-01-01T00:00:01.5Z"), seconds("1500000000000000000"), seconds("soon")
    (1.5, 1500000000.0, None)
    """
    if isinstance(value, str):
        if value.isdecimal() and len(value) <= _LONGEST_DIGITS and len(value) != 8:  # 20260131 is a day
            value = int(value)
        else:
            return _iso(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    size = abs(value)
    if size >= _MICROSECONDS:
        value = value / (1e9 if size >= _NANOSECONDS else 1e6) if size < 1e21 else math.nan
    elif size >= _MILLISECONDS:
        value /= 1e3
    return float(value) if math.isfinite(value) else None


def from_json(value: object) -> object:
    """Returns the value of a text that is a JSON object or list; anything else as it is."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json_value(value)
        except TranscriptError:
            return value
    return value


def joined_text(content: object) -> str | None:
    """The text of a message: a text, or the text parts of a list, a blank line between them; None if none.

    A part is a text, or an object with ``text`` and, if it has a type, one with "text" in its name.
    """
    if isinstance(content, str):
        return content or None
    parts = [words for part in items(content) if (words := _part(part))]
    return "\n\n".join(parts) or None


def arguments(value: object) -> object:
    """Arguments of a call: a text of JSON is what it stands for, and an empty text stands for none."""
    return {} if value == "" else from_json(value)


def shown(value: object) -> object:
    """A result as a text where it is one, or a list of text parts; anything else as it came.

    A list without parts, or with empty texts alone, is an empty text: the answer is there and says nothing.
    """
    if isinstance(value, list) and all(isinstance(_part(part), str) for part in value):
        return joined_text(value) or ""
    return value


def compact(value: object) -> str:
    """JSON of a value, in one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _part(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return None
    kind, words = part.get("type", "text"), part.get("text")
    return words if isinstance(kind, str) and "text" in kind and isinstance(words, str) else None


def _iso(value: str) -> float | None:
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
