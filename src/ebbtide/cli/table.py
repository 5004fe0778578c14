"""Tables on a terminal, all drawn here."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ebbtide.cli.terminal import Line, cell_width, columns, plain

_Cell = Sequence[Line]


class Table:
    """Rows of cells below a dim header. A table that is too wide has its widest cells broken first.

    Args:
        *headers: The header of each column.
        right: Numbers of the columns that are set to the right.
        broken: Numbers of the columns whose cells may be broken; None: the last.
        least: Columns of the terminal that those keep.
        gap: Columns of space between two cells.
    """

    def __init__(
        self,
        *headers: str,
        right: Collection[int] = (),
        broken: Collection[int] | None = None,
        least: int = 1,
        gap: int = 2,
    ) -> None:
        self._rows: list[tuple[_Cell, ...]] = [tuple((Line(header, "dim"),) for header in headers)]
        self._right = right
        self._broken = (len(headers) - 1,) if broken is None else broken
        self._least = least
        self._gap = gap

    @classmethod
    def fitting(
        cls,
        columns: Mapping[str, Sequence[str | Line]],
        width: int,
        *,
        optional: Sequence[str],
        last: int,
        right: Collection[str],
        **settings: Any,
    ) -> Table:
        """Returns a table of columns by their headers, without those for which there is no room.

        Args:
            columns: The cells of each.
            width: Columns of the terminal.
            optional: Headers of the columns that may be left out, the least important first.
            last: Columns of the terminal that the last one needs.
            right: Headers of the columns that are set to the right.
        """
        headers = list(columns)
        for left_out in ("", *optional):
            headers = [header for header in headers if header != left_out]
            table = cls(
                *headers, right=[headers.index(each) for each in right if each in headers], **settings
            )
            for row in zip(*map(columns.__getitem__, headers), strict=True):
                table.add(*row)
            if table.room(width) >= last:
                break
        return table

    def add(self, *cells: str | Line | Sequence[Line]) -> None:
        """Adds a row. A text may hold anything; a cell may have several lines."""
        self._rows.append(tuple(map(_cell, cells)))

    def room(self, width: int) -> int:
        """Returns the columns of a terminal that the cells before the last one leave."""
        *widths, _ = self._natural_widths()
        return width - sum(widths) - self._gap * len(widths)

    def lines(self, width: int, *, header: bool = True) -> list[Line]:
        """Returns the lines for a terminal of so many columns."""
        return [line for part in self.parts(width)[not header :] for line in part]

    def parts(self, width: int) -> list[list[Line]]:
        """Returns the lines of the header, and of each row."""
        widths = self._natural_widths()
        excess = sum(widths) + self._gap * (len(widths) - 1) - width
        while excess > 0:
            widest = max(self._broken, key=widths.__getitem__, default=None)
            if widest is None or widths[widest] <= self._least:
                break
            widths[widest] -= 1
            excess -= 1
        return [columns([row], widths, gap=self._gap, right=self._right) for row in self._rows]

    def _natural_widths(self) -> list[int]:
        return [max(map(_width, column)) for column in zip(*self._rows, strict=True)]


def more_rows(number: int, how: str = "--all") -> Iterator[Line]:
    """Yields the line that says how many rows were left out, if any were."""
    if number > 0:
        yield Line(f"and {number:,} more: {how}", "dim")


def _cell(cell: str | Line | Sequence[Line]) -> _Cell:
    if isinstance(cell, str):
        return (Line(plain(cell)),)
    return (cell,) if isinstance(cell, Line) else cell


def _width(cell: _Cell) -> int:
    return max((cell_width(line.text) for line in cell), default=0)
