"""The records in one JSON value: those at given paths, in the order of the document.

Small documents are parsed whole. A large one is read piece by piece: only the containers on the way to a
record are taken apart, everything inside them is decoded value by value. Both ways give the same, but where a
key stands twice in one of those containers.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ebbtide.errors import TranscriptError
from ebbtide.traces.input.json_value import json_value, too_deep, value_at

LONGEST = 256_000_000  # characters of one record
_ITEM = "item"
_SPACE = re.compile(r"[ \t\n\r]*")
_NEAR_END = 16  # characters: an error so close to the end of a piece may be the cut
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|["\[\]{},]|[^\s\[\]{},"]+', re.DOTALL)
_HEAD = 1 << 20  # characters
_OF_NUMBERS = "+-.eE0123456789"
_DEEPEST = 3  # levels of what nobody wants are taken apart to keep memory small

Record = tuple[str, Any]


def fitting(paths: Sequence[str], value: object) -> tuple[str, ...]:
    """The paths that can lead to records in a document.

    The empty path, which is the whole value, counts where no other fits.

    Args:
        paths: Those of the format.
        value: The document, or its head.
    """
    longer = tuple(path for path in paths if path)
    if "" not in paths:
        return longer
    firsts = {path.partition(".")[0] for path in longer}
    fits = _ITEM in firsts if isinstance(value, list) else isinstance(value, dict) and firsts & value.keys()
    return longer if fits else ("",)


def records_of(value: Any, paths: Sequence[str]) -> Iterator[Record]:
    """The records of a value that was parsed whole."""
    return _inside(value, "", frozenset(paths), _prefixes(paths))


def _inside(value: Any, path: str, paths: frozenset[str], prefixes: frozenset[str]) -> Iterator[Record]:
    if path in paths:
        yield path, value
    elif path in prefixes:
        if isinstance(value, list):
            below = _below(path, _ITEM)
            for item in value:
                yield from _inside(item, below, paths, prefixes)
        elif isinstance(value, dict):
            for key, item in value.items():
                yield from _inside(item, _below(path, key), paths, prefixes)


def text_from(pieces: Iterator[bytes]) -> Callable[[], str]:
    """Returns a function that gives the text of UTF-8 pieces, one after the other.

    What is no UTF-8 becomes U+FFFD.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def more() -> str:
        for piece in pieces:
            if text := decoder.decode(piece):
                return text
        return decoder.decode(b"", final=True)

    return more


def head_of(text: str) -> Any:
    """The value of which `text` is the beginning, as far as it goes.

    What was cut off is left out: an element of a list, or a key with its value.

    Raises:
        TranscriptError: It does not begin like JSON, or is nested too deeply.
    """
    end = 0
    stack: list[str] = []
    text = text[:_HEAD]
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign == '"':  # A text that is cut off.
            break
        if sign in ("[", "{"):
            stack.append("]" if sign == "[" else "}")
            end = token.end()
        elif sign in ("]", "}"):
            if not stack or stack[-1] != sign:
                break
            stack.pop()
            end = token.end()
            if not stack:
                break  # some exporters write several values one after the other
        elif sign == ",":
            end = token.start()
    return json_value(text[:end] + "".join(reversed(stack)))


class RecordScanner:
    """Reads the records of one JSON value of any size.

    Args:
        more: Gives the next piece of the text; an empty one at its end.
        paths: Where the records stand.
        longest: Characters that one record may have.
    """

    def __init__(self, more: Callable[[], str], paths: Sequence[str], *, longest: int = LONGEST) -> None:
        self._more = more
        self._paths = frozenset(paths)
        self._prefixes = _prefixes(paths)
        self._longest = longest
        self._buffer = ""
        self._at = 0
        self._before = 1  # number of the line on which the buffer starts
        self._ended = False

    @property
    def line(self) -> int:
        """Number of the line that is read now, from 1."""
        return self._before + self._buffer.count("\n", 0, self._at)

    def records(self) -> Iterator[Record]:
        """The records, in the order of the document; some tools write several values one after the other.

        Raises:
            TranscriptError: The text is no JSON, with the line, or ends too soon. What was given out before
                stands.
        """
        yield from self._value("")
        while self._peek():
            yield from self._value("")

    def _value(self, path: str, depth: int = 0) -> Iterator[Record]:
        if path in self._paths:
            yield path, self._decoded()
            return
        wanted = path in self._prefixes
        opening = self._peek()
        if opening not in ("[", "{") or not (wanted or depth < _DEEPEST):
            self._decoded()
            return
        below = 0 if wanted else depth + 1
        if opening == "[":
            yield from self._list(path, below)
        else:
            yield from self._object(path, below)

    def _list(self, path: str, depth: int) -> Iterator[Record]:
        self._at += 1
        inside = _below(path, _ITEM) if depth == 0 else "\0"
        if self._peek() == "]":
            self._at += 1
            return
        while True:
            yield from self._value(inside, depth)
            sign = self._peek()
            self._at += 1
            if sign == "]":
                return
            if sign != ",":
                self._at -= 1
                raise self._wrong("expected ',' or ']'")

    def _object(self, path: str, depth: int) -> Iterator[Record]:
        self._at += 1
        if self._peek() == "}":
            self._at += 1
            return
        while True:
            if self._peek() != '"':
                raise self._wrong("expected a key in double quotes")
            key = self._decoded()
            if self._peek() != ":":
                raise self._wrong("expected ':'")
            self._at += 1
            yield from self._value(_below(path, key) if depth == 0 else "\0", depth)
            sign = self._peek()
            self._at += 1
            if sign == "}":
                return
            if sign != ",":
                self._at -= 1
                raise self._wrong("expected ',' or '}'")

    def _peek(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            match = _SPACE.match(self._buffer, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._grow():
                return ""

    def _decoded(self) -> Any:
        """The next value, whole."""
        self._peek()
        while True:
            try:
                value, end = value_at(self._buffer, self._at)
            except json.JSONDecodeError as error:
                cut = error.pos >= len(self._buffer) - _NEAR_END or error.msg.startswith("Unterminated")
                inside = error.pos - self._at
                if cut and self._grow():
                    continue
                self._at += inside
                raise self._wrong(error.msg) from None
            except RecursionError:
                raise too_deep(self.line) from None
            # A number at the very end may go on: of "1.5" and "1e5" the "1" alone is one too.
            if end > len(self._buffer) - 3 and not self._buffer[end:].strip(_OF_NUMBERS):
                inside = end - self._at
                if self._grow():
                    continue
                end = self._at + inside
            self._at = end
            return value

    def _grow(self) -> bool:
        """Read more behind the buffer, and drop what was read already; False at the end."""
        if self._ended:
            return False
        rest = self._buffer[self._at :]
        self._before += self._buffer.count("\n", 0, self._at)
        self._at = 0
        if len(rest) > self._longest:
            raise TranscriptError(
                f"one record is longer than {self._longest:,} characters", line=self._before
            )
        pieces, size = [rest], 0
        # As much again as waits, so that a long record is not tried too often.
        while size <= len(rest):
            piece = self._more()
            if not piece:
                self._ended = True
                break
            pieces.append(piece)
            size += len(piece)
        self._buffer = "".join(pieces)
        return size > 0

    def _wrong(self, what: str) -> TranscriptError:
        if not self._buffer[self._at :].strip() and self._ended:
            return TranscriptError("not JSON: it ends too soon", line=self.line, hint="Was the file cut off?")
        return TranscriptError(f"not JSON: {what}", line=self.line)


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _prefixes(paths: Sequence[str]) -> frozenset[str]:
    prefixes = set()
    for path in paths:
        parts = path.split(".")
        prefixes |= {".".join(parts[:at]) for at in range(len(parts))}
    return frozenset(prefixes)
