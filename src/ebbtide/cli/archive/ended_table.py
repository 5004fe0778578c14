"""A table of what ending runs would have saved and cost: the same for results and for sweeps."""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide.batch.sweep.ended_runs import EndedRuns
from ebbtide.cli.lines import Line, cell_width, columns, terminal_width
from ebbtide.report.wording import money

_COUNTS = ("runs", "failed", "right", "95%", "successes lost", "calls saved")
_MONEY = ("saved", "95%", "lost")
_LEAST_WIDTH = 24  # of the last column


def ended_table(rows: Sequence[tuple[str, EndedRuns] | str], *, is_priced: bool) -> list[Line]:
    """The table.

    Args:
        rows: By what runs were ended, and which; a text alone is the heading of the rows behind it.
        is_priced: Whether any cost is known: else there is no column of money.
    """
    header = [Line(name, "dim") for name in (*_COUNTS, *(_MONEY if is_priced else ()), "by")]
    cells = [None if isinstance(row, str) else _cells(*row, is_priced=is_priced) for row in rows]
    table = [header, *filter(None, cells)]
    widths = [max(cell_width(row[place].text) for row in table) for place in range(len(header) - 1)]
    widths.append(max(_LEAST_WIDTH, terminal_width() - sum(widths) - 2 * len(widths)))
    lines: list[Line] = []
    for row, line in zip(rows, cells, strict=True):
        if isinstance(row, str):
            lines += [Line(), Line.safe(row, "bold")]
        lines += columns([line or header], widths, right=range(len(header) - 1))
    return lines


def _cells(text: str, ended: EndedRuns, *, is_priced: bool) -> list[Line]:
    share = "" if ended.lost_share is None else f" ({ended.lost_low:.1%} to {ended.lost_high:.1%})"
    counts = [
        f"{ended.runs:,}",
        f"{ended.failed:,}",
        "" if ended.precision is None else _percent(ended.precision),
        f"{_percent(ended.precision_low)} to {_percent(ended.precision_high)}" if ended.runs else "",
        f"{ended.lost_successes:,}{share}",
        f"{ended.saved_calls:,}",
    ]
    amounts = [
        "" if ended.saved_usd is None else money(ended.saved_usd),
        "" if ended.saved_low is None else f"{money(ended.saved_low)} to {money(ended.saved_high)}",
        "" if ended.lost_usd is None else money(ended.lost_usd),
    ]
    return [*map(Line, counts + amounts * is_priced), Line.safe(text)]


def _percent(share: float) -> str:
    """A share that is neither none nor all does not read as if it were."""
    return f"{share:.1%}" if 0 < share < 0.005 or 0.995 <= share < 1 else f"{share:.0%}"
