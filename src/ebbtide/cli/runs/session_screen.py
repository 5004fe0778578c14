"""Many sessions on one screen: one sentence, tables by day, project and agent, and the worst runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ebbtide.cli.lines import Line, cell_width, columns
from ebbtide.cli.runs.machine_sessions import AGENT_NAMES
from ebbtide.cli.runs.run_screen import word_style
from ebbtide.cli.runs.session_totals import SessionRun, SessionTotals, avoidable_usd, grouped, wasted_usd, why
from ebbtide.cli.terminal import plain
from ebbtide.report import wording
from ebbtide.report.plurals import count
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.traces.sessions.agent_homes import user_folder

_ROWS = 10
_SENTENCE = 160
_UNKNOWN = "?"
_LAST = 24  # columns that the names of a table need, where they are longer
_NARROWEST = 8  # columns of the last column, however narrow the terminal


def session_screen(
    runs: Sequence[SessionRun], period: str, width: int, *, everything: bool = False
) -> list[Line]:
    """The screen of some sessions.

    Args:
        runs: Their files, checked; at least one.
        period: From when they are, in words; empty for any time.
        width: Columns.
        everything: Show every row and every run.
    """
    totals = SessionTotals.of(runs)
    lines = list(Line(_sentence(totals, period), "bold").wrap(width))
    by_day = sorted(_rows(runs, lambda run: run.part.day), key=lambda row: row[0], reverse=True)
    by_project = _rows(runs, lambda run: _short(run.part.project))
    by_agent = _rows(runs, lambda run: AGENT_NAMES[run.part.file.agent])
    lines += [Line(), *_table("day", by_day, width, everything=everything)]
    lines += [Line(), *_table("project", sorted(by_project, key=_by_cost), width, everything=everything)]
    if len(by_agent) > 1:
        lines += [Line(), *_table("agent", sorted(by_agent, key=_by_cost), width, everything=everything)]
    return [*lines, Line(), *_worst(runs, width, everything=everything)]


def _sentence(totals: SessionTotals, period: str) -> str:
    sessions = f"{count(totals.sessions, 'session')}{f' {period}' if period else ''}"
    if totals.cost_usd is None:
        return f"{sessions}; their cost is unknown."
    cost = f"{wording.money(totals.cost_usd)}{'+' * totals.is_partial}"
    rest = f", and {totals.unknown_cost:,} of unknown cost" if totals.unknown_cost else ""
    amounts = ((totals.wasted_usd, "bought nothing"), (totals.avoidable_usd, "could have been avoided"))
    shares = [
        f"{wording.money(amount)}{_share(amount, totals.cost_usd)} of it {what}"
        for amount, what in amounts
        if amount
    ]
    if shares:
        waste = f"{', and '.join(shares)}."
    else:
        waste = "What it bought is unknown." if totals.wasted_usd is None else "No waste was found."
    return f"{sessions}: {cost}{rest}. {waste}"


def _share(amount: float, cost: float) -> str:
    return f" ({amount / cost:.0%})" if amount >= 0.01 * cost > 0 else ""


def _rows(runs: Sequence[SessionRun], key: Callable[[SessionRun], str]) -> list[tuple[str, SessionTotals]]:
    return [(name, SessionTotals.of(group)) for name, group in grouped(runs, key).items()]


def _by_cost(row: tuple[str, SessionTotals]) -> tuple[float, int, str]:
    name, totals = row
    return (-(totals.cost_usd or 0.0), -totals.sessions, name)


def _table(
    title: str, rows: Sequence[tuple[str, SessionTotals]], width: int, *, everything: bool
) -> list[Line]:
    visible = rows if everything else rows[:_ROWS]
    cells = [{**_amounts(totals), title: name} for name, totals in visible]
    longest = max(cell_width(plain(name)) for name, _ in visible)
    names = list(cells[0])
    # What there is no room for, the least important first.
    for name in ("tokens", "avoidable"):
        if _room(names, cells, width) < min(longest, _LAST):
            names.remove(name)
    head = [Line(name, "dim") for name in names]
    lines = [head, *([Line.safe(row[name]) for name in names] for row in cells)]
    widths = [*_widths(names, cells), max(_room(names, cells, width), _NARROWEST)]
    return [*columns(lines, widths, right=range(len(names) - 1)), *_more(len(rows) - len(visible))]


def _widths(names: Sequence[str], cells: Sequence[Mapping[str, str]]) -> list[int]:
    """Of all columns but the last."""
    return [max(len(name), *(len(row[name]) for row in cells)) for name in names[:-1]]


def _room(names: Sequence[str], cells: Sequence[Mapping[str, str]], width: int) -> int:
    """What is left for the last column."""
    return width - sum(_widths(names, cells)) - 2 * (len(names) - 1)


def _amounts(totals: SessionTotals) -> dict[str, str]:
    if totals.cost_usd is None:
        cost = _UNKNOWN
    else:
        cost = f"{wording.money(totals.cost_usd)}{'+' * (totals.is_partial or bool(totals.unknown_cost))}"
    return {
        "sessions": f"{totals.sessions:,}",
        "cost": cost,
        "tokens": _UNKNOWN if totals.tokens is None else f"{totals.tokens:,}",
        "wasted": _waste(totals.wasted_usd),
        "avoidable": _waste(totals.avoidable_usd),
    }


def _worst(runs: Sequence[SessionRun], width: int, *, everything: bool) -> list[Line]:
    """The runs that wasted most, then those that came out worst, each with a sentence and its file."""
    ordered = sorted(runs, key=_badness)
    visible = ordered if everything else ordered[:_ROWS]
    folder = wording.folder_of([run.summary.source for run in runs])
    rows = [_amounts_of(run.summary) for run in visible]
    names = ("cost", "wasted", "avoidable", "verdict")
    widths = [*_widths(names, rows), max(_room(names, rows, width), _NARROWEST)]
    title = Line("The worst first", "bold").append(f", in {plain(folder)}" if folder else "", "dim")
    lines = [*title.wrap(width), *columns([[Line(name, "dim") for name in names]], widths, right=(0, 1, 2))]
    for run, row in zip(visible, rows, strict=True):
        *amounts, verdict = row.values()
        first = [*map(Line, amounts), Line(verdict, word_style(run.summary))]
        path = run.summary.source.removeprefix(folder)
        below = (Line(plain(why(run.summary), _SENTENCE)), Line.safe(path, "dim"))
        lines += columns([first], widths, right=(0, 1, 2))
        lines += [Line("  ").extend(part) for line in below for part in line.wrap(width - 2)]
    return [*lines, *_more(len(runs) - len(visible))]


def _amounts_of(summary: RunSummary) -> dict[str, str]:
    return {
        "cost": _UNKNOWN if summary.spent.cost_usd is None else wording.cost(summary.spent),
        "wasted": _waste(wasted_usd(summary)),
        "avoidable": _waste(avoidable_usd(summary)),
        "verdict": summary.title,
    }


def _badness(run: SessionRun) -> tuple[Any, ...]:
    summary = run.summary
    saving = (wasted_usd(summary) or 0.0) + (avoidable_usd(summary) or 0.0)
    return (-saving, *wording.badness(summary))


def _waste(amount: float | None) -> str:
    return _UNKNOWN if amount is None else wording.money(amount) if amount else "-"


def _short(name: str | None) -> str:
    """A path with ``~`` for the user's folder."""
    if name is None:
        return "unknown"
    user = user_folder()
    inside = name.removeprefix(user)
    return f"~{inside}" if inside != name and inside.startswith(os.sep) else name


def _more(number: int) -> list[Line]:
    return [Line(f"and {number:,} more: --all", "dim")] if number else []
