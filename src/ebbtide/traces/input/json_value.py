"""JSON text in, values out, with every way in which that fails as a TranscriptError.

Strict JSON is read by msgspec; what it refuses goes to Python's own reader, which is slower,
takes a rule for numbers, and says where a text breaks.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

from msgspec.json import Decoder

from ebbtide.errors import TranscriptError

_HEX = "[0-9a-fA-F]{2}"
_ESCAPE = rf"\\(?:u[dD][89abAB]{_HEX}\\u[dD][c-fC-F]{_HEX}|(?P<lone>u[dD][89a-fA-F]{_HEX})|.)"


def _float(text: str) -> float | None:
    value = float(text)
    return value if isfinite(value) else None


def _int(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:  # Python refuses thousands of digits.
        return None


def _constant(_: str) -> None:
    """NaN, Infinity and -Infinity are unknown."""


_decode = Decoder().decode
# A function of our own for every whole number takes as long as all the rest: only where one is too long.
_QUICK = json.JSONDecoder(parse_float=_float, parse_constant=_constant)
_SLOW = json.JSONDecoder(parse_float=_float, parse_int=_int, parse_constant=_constant)


def json_value(text: str | bytes, *, first_line: int = 1) -> Any:
    """The value that a JSON text stands for.

    Where JSON leaves it open: of a key that stands twice the last value counts, as for most readers. NaN,
    Infinity and numbers that Python cannot hold are unknown, so None: JSON has no word for them, and one
    of them in somebody's telemetry is no reason to refuse a conversation. A half surrogate pair is U+FFFD,
    since no output could show it.

    Args:
        text: One JSON value, white space around it; bytes are UTF-8.
        first_line: Line of the file on which the text starts, for error messages.

    Raises:
        TranscriptError: It is not JSON, with line and column, or nested too deeply.
        UnicodeDecodeError: The bytes are no UTF-8.
    """
    try:
        return _decode(text)
    except (ValueError, RecursionError):  # what msgspec raises, and what encoding a half surrogate does
        return _tolerant(text if isinstance(text, str) else text.decode(), first_line)


def value_or_none(text: str | bytes) -> Any:
    """The value that a JSON text stands for; None where it cannot be read."""
    try:
        return json_value(text)
    except (TranscriptError, UnicodeDecodeError, RecursionError):
        return None


def _tolerant(text: str, first_line: int) -> Any:
    if "\\u" in text and ("\\ud" in text or "\\uD" in text):
        text = re.sub(_ESCAPE, _paired, text)
    try:
        return _SLOW.decode(text)
    except json.JSONDecodeError as error:
        raise TranscriptError(
            f"not JSON: {error.msg}, column {error.colno}", line=first_line + error.lineno - 1
        ) from None
    except RecursionError:
        raise too_deep(first_line) from None


def too_deep(line: int | None = None) -> TranscriptError:
    """Returns the error to report of a value with more levels than Python's stack takes."""
    return TranscriptError("nested too deeply to be read", line=line)


def value_at(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that starts at a place in a text, and where it ends.

    Raises:
        JSONDecodeError: No value starts there, or it is cut off.
        RecursionError: It is nested too deeply.
    """
    try:
        value, end = _QUICK.raw_decode(text, start)
    except json.JSONDecodeError:
        raise
    except ValueError:
        value, end = _SLOW.raw_decode(text, start)
    if text.find("\\ud", start, end) >= 0 or text.find("\\uD", start, end) >= 0:
        value = json_value(text[start:end])
    return value, end


def _paired(escape: re.Match[str]) -> str:
    return "\\ufffd" if escape["lone"] else escape[0]
