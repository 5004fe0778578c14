"""What may go to a terminal, and in which colour."""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# By the words of `Signal`: its module brings the whole engine, which most commands do not need.
SIGNAL_STYLES = {"CONTINUE": "bold cyan", "SHIP": "bold green", "ESCALATE": "bold yellow"}
CLASS_STYLES = {"HIGH": "green", "MEDIUM": "yellow", "LOW": "red"}

# Everything a terminal could obey: C0 and C1 controls, and marks that reorder text.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


_TRAILING = re.compile(r"(?<![ \t])[ \t]+$", re.MULTILINE)


def plain(text: str, length: int | None = None) -> str:
    """`text` on one line, without anything that a terminal would obey.

    Args:
        text: Text of a conversation, which may hold escape sequences.
        length: Characters to keep; None keeps all.
    """
    line = _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))
    return line if length is None or len(line) <= length else f"{line[: length - 1]}\u2026"


def styled(text: str, style: str = "", *, indent: int = 0) -> Text:
    """Safe text for rich on one line: no markup, no escape sequences."""
    from rich.text import Text

    return Text(" " * indent + plain(text), style=style)


class _Trimmed:
    """Standard output without the blanks that pad cells at the end of a line.

    Args:
        stream: It. What is written holds whole lines.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write some lines; how many characters were given."""
        self._stream.write(_TRAILING.sub("", text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def console(*, stderr: bool = False) -> Console:
    """The terminal; colour and width follow what it can do, and NO_COLOR."""
    from rich.console import Console

    file = None if stderr or shows_colours() else cast("TextIO", _Trimmed(sys.stdout))
    return Console(file=file, stderr=stderr, highlight=False, markup=False, soft_wrap=False)


def print_line(text: str, style: str = "") -> None:
    """Print safe text on one line, in colour where standard output shows colours."""
    if shows_colours():
        console().print(styled(text, style), soft_wrap=True)
    else:
        print(plain(text))


def shows_colours() -> bool:
    """Whether rich would take standard output for a terminal: importing rich to ask takes long."""
    environment = os.environ
    forced = environment.get("FORCE_COLOR") or environment.get("TTY_COMPATIBLE") == "1"
    return bool(forced) or sys.stdout.isatty()


def warn(text: str) -> None:
    """Write a line to standard error, without secrets and without anything that a terminal would obey."""
    from ebbtide.text.redaction import redact

    print(f"ebbtide: {plain(redact(text))}", file=sys.stderr, flush=True)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """Write JSON to standard output; what its encoding does not have is escaped."""
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=indent, allow_nan=False)
    sys.stdout.write(f"{text}\n")
