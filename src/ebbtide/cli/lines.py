"""Lines of styled text: broken to a width here, coloured by rich only where standard output shows colours.

The break is the same on a terminal, in a pipe and in a file; a pipe does not wait for rich to be imported.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Self

from ebbtide.cli.terminal import console, plain, shows_colours

if TYPE_CHECKING:
    from rich.text import Text

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
    def safe(cls, text: str, style: str = "") -> Self:
        """A line of text that may hold anything."""
        return cls(plain(text), style)

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
    rows: Iterable[Sequence[Line]], widths: Sequence[int], *, gap: int = 2, right: Sequence[int] = ()
) -> list[Line]:
    """Rows of cells side by side, of which only the last is broken.

    Args:
        rows: The cells of each row.
        widths: Columns of each cell.
        gap: Columns of space between two cells.
        right: Numbers of the cells that are set to the right.
    """
    lines = []
    indent = Line(" " * (sum(widths[:-1]) + gap * (len(widths) - 1)))
    for *cells, last in rows:
        first = Line()
        for number, (cell, width) in enumerate(zip(cells, widths, strict=False)):
            space = " " * (width - cell_width(cell.text))
            before, after = (space, "") if number in right else ("", space)
            first.append(before).extend(cell).append(after + " " * gap)
        for number, part in enumerate(last.wrap(widths[-1])):
            lines.append(Line().extend(indent if number else first).extend(part))
    return lines


def cell_width(text: str) -> int:
    """How many columns of a terminal a text takes."""
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
    """Where lines begin, but for the first."""
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
