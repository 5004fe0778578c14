"""Makes text safe for a terminal, and chooses its colours."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from ebbtide.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text


# By the words of `Signal`: its module brings the whole engine, which most commands do not need.
SIGNAL_STYLES = {"CONTINUE": "bold cyan", "SHIP": "bold green", "ESCALATE": "bold yellow"}
CLASS_STYLES = {"HIGH": "green", "MEDIUM": "yellow", "LOW": "red"}

# Everything a terminal could obey: C0 and C1 controls, and marks that reorder text.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str, length: int | None = None) -> str:
    """`text` on one line, without anything that a terminal would obey.

    Args:
        text: Text of a conversation, which may hold escape sequences.
        length: Characters to keep; None keeps all.
    """
    line = _UNSAFE.sub("\N{REPLACEMENT CHARACTER}", " ".join(text.split()))
    return line if length is None or len(line) <= length else f"{line[: length - 1]}\u2026"


def console(*, stderr: bool = False) -> Console:
    """The terminal; colour and width follow what it can do, and NO_COLOR."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, soft_wrap=False)


def short_path(path: str) -> str:
    """Returns a path as people write it, with ``~`` for their folder."""
    inside = path.removeprefix(os.path.expanduser("~"))  # noqa: PTH111 - Path refuses where there is none
    return f"~{inside}" if inside != path and inside.startswith(os.sep) else path


def shows_colours() -> bool:
    """Returns True if rich would take standard output for a terminal: importing rich to ask takes long."""
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


_DEFAULT_WIDTH = 80
_WORD = re.compile(r"(?:\A\s++)?\S+\s*")
_WIDE = ("W", "F")
_NO_WIDTH = ("Mn", "Me", "Cf")


class Line:
    """A line of text in parts, each with a style of rich, such as ``bold red``.

    Args:
        text: Its first part, as it is: what comes out of a run goes through `plain` before.
        style: The style of that part.
    """

    __slots__ = ("parts",)

    def __init__(self, text: str = "", style: str = "") -> None:
        self.parts: list[tuple[str, str]] = [(text, style)] if text else []

    @classmethod
    def safe(cls, text: str, style: str = "", *, indent: int = 0) -> Self:
        """A line of text that may hold anything."""
        return cls(" " * indent + plain(text), style)

    def append(self, text: str, style: str = "") -> Self:
        """Add a part; the line itself, for the next one."""
        if text:
            self.parts.append((text, style))
        return self

    def extend(self, line: Line) -> Self:
        """Add the parts of another line."""
        self.parts += line.parts
        return self

    @property
    def text(self) -> str:
        """The text without styles."""
        return "".join(text for text, _ in self.parts)

    def wrap(self, width: int) -> Iterator[Line]:
        """The line in lines of so many columns at most; a longer word is cut."""
        start = 0
        for end in (*_breaks(self.text, max(1, width)), len(self.text)):
            yield self._cut(start, end)
            start = end

    def to_rich(self) -> Text:
        """The line for rich."""
        from rich.text import Text

        return Text.assemble(*self.parts)

    def _cut(self, start: int, end: int) -> Line:
        cut = Line()
        at = 0
        end = start + len(self.text[start:end].rstrip())
        for text, style in self.parts:
            cut.append(text[max(0, start - at) : max(0, end - at)], style)
            at += len(text)
        return cut


def columns(
    rows: Iterable[Sequence[Line | Sequence[Line]]],
    widths: Sequence[int],
    *,
    gap: int = 2,
    right: Collection[int] = (),
) -> list[Line]:
    """Rows of cells side by side, each broken to its width.

    Args:
        rows: The cells of each row, of a line or several.
        widths: Columns of each cell.
        gap: Columns of space between two cells.
        right: Numbers of the cells that are set to the right.
    """
    lines = []
    for row in rows:
        cells = [
            [part for line in ([cell] if isinstance(cell, Line) else cell) for part in line.wrap(width)]
            for cell, width in zip(row, widths, strict=True)
        ]
        for parts in zip_longest(*cells, fillvalue=Line()):
            line = Line()
            for number, (part, width) in enumerate(zip(parts, widths, strict=True)):
                space = " " * (width - cell_width(part.text))
                before, after = (space, "") if number in right else ("", space)
                is_last = number == len(widths) - 1
                line.append(before).extend(part).append("" if is_last else after + " " * gap)
            lines.append(line)
    return lines


def cell_width(text: str) -> int:
    """Returns the number of terminal columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def terminal_width() -> int:
    """Columns of the terminal: COLUMNS, or those of whichever stream is one, or 80."""
    width = os.environ.get("COLUMNS", "")
    if width.isdecimal() and int(width):
        return int(width)
    for descriptor in range(3):
        try:
            return os.get_terminal_size(descriptor).columns or _DEFAULT_WIDTH
        except OSError:
            continue
    return _DEFAULT_WIDTH


def print_lines(lines: Iterable[Line]) -> None:
    """Print lines as they are, in colour where standard output shows colours."""
    if shows_colours():
        terminal = console()
        for line in lines:
            terminal.print(line.to_rich(), soft_wrap=True)
    else:
        for line in lines:
            print(line.text.rstrip())


def _character_width(character: str) -> int:
    if unicodedata.category(character) in _NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(character) in _WIDE else 1


def _breaks(text: str, width: int) -> Iterator[int]:
    """Yields the start of each line except the first."""
    column = 0
    for match in _WORD.finditer(text):
        start, word = match.start(), match[0]
        length = cell_width(word.rstrip())
        if length > width - column and column:
            yield start
            column = 0
        if length <= width:
            column += cell_width(word)
            continue
        for offset, character in enumerate(word.rstrip()):
            size = _character_width(character)
            if column + size > width:
                yield start + offset
                column = 0
            column += size
        column += len(word) - len(word.rstrip())


@contextlib.contextmanager
def progress_bar(
    title: str, total: int | None, *, above: Callable[[], Sequence[Line]] = tuple
) -> Iterator[Callable[[int], None]]:
    """Show a bar while the block is worked on.

    Args:
        title: What is done.
        total: How many there are to do; None where nobody knows.
        above: What to show above it, as it is at that moment.

    Yields:
        What takes the number of those that are done now.
    """
    if not sys.stderr.isatty() or total == 0:
        yield lambda _: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    class Bar(Progress):
        def get_renderables(self) -> Iterator[RenderableType]:
            yield from (line.to_rich() for line in above())
            yield from super().get_renderables()

    bar = Bar(
        TextColumn(title),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console(stderr=True),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),  # what goes to a file or a pipe goes there
    )
    with bar:
        task = bar.add_task("", total=total)
        yield lambda count: bar.advance(task, count)


_Item = TypeVar("_Item")


def tracked(title: str, items: Iterable[_Item], total: int) -> Iterator[_Item]:
    """Yields items, with a bar that shows how many of them are done; none where the total is 0."""
    with progress_bar(title, total) as advance:
        for item in items:
            yield item
            advance(1)


def write_text(path: Path, text: str) -> None:
    """Write a file.

    Raises:
        ConfigError: It cannot be written.
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_file(path: Path, text: str) -> None:
    """Write a file, and say so; what it raises is as for `write_text`."""
    write_text(path, text)
    print(f"wrote {plain(str(path))}", file=sys.stderr)
