"""Many sessions on one screen: one sentence, tables by day, project and agent, and the worst runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ebbtide.cli.lines import Line, cell_width, columns
from ebbtide.cli.runs.machine_sessions import AGENT_NAMES
from ebbtide.cli.runs.run_screen import word_style
from ebbtide.cli.runs.session_totals import SessionRun, SessionTotals, avoidable_usd, grouped, wasted_usd, why
from ebbtide.cli.terminal import plain
from ebbtide.report import wording
from ebbtide.report.plurals import count
from ebbtide.traces.sessions.agent_homes import user_folder

_ROWS = 10
_SENTENCE = 160
_UNKNOWN = "?"


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
    tables = (
        ("day", grouped(runs, lambda run: run.part.day), _by_name),
        ("project", grouped(runs, lambda run: run.part.project), _by_cost),
        ("agent", grouped(runs, lambda run: AGENT_NAMES[run.part.file.agent]), _by_cost),
    )
    for title, groups, order in tables:
        if title != "agent" or len(groups) > 1:
            rows = [(name, SessionTotals.of(group)) for name, group in groups.items()]
            lines += [Line(), *_table(title, sorted(rows, key=order), width, everything=everything)]
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


def _by_name(row: tuple[str | None, SessionTotals]) -> tuple[int, ...]:
    """Days, the latest first."""
    return tuple(-ord(character) for character in row[0] or "")


def _by_cost(row: tuple[str | None, SessionTotals]) -> tuple[float, int, str]:
    name, totals = row
    return (-(totals.cost_usd or 0.0), -totals.sessions, name or "")


def _table(
    title: str, rows: Sequence[tuple[str | None, SessionTotals]], width: int, *, everything: bool
) -> list[Line]:
    visible = rows if everything else rows[:_ROWS]
    head = tuple(Line(name, "dim") for name in ("sessions", "cost", "tokens", "wasted", "avoidable", title))
    cells = [(*map(Line, _amounts(totals)), Line.safe(_short(name))) for name, totals in visible]
    lines = _columns([head, *cells], width, right=(0, 1, 2, 3, 4))
    return [*lines, *_more(len(rows) - len(visible))]


def _amounts(totals: SessionTotals) -> tuple[str, ...]:
    if totals.cost_usd is None:
        cost = _UNKNOWN
    else:
        cost = f"{wording.money(totals.cost_usd)}{'+' * (totals.is_partial or bool(totals.unknown_cost))}"
    tokens = _UNKNOWN if totals.tokens is None else f"{totals.tokens:,}"
    return f"{totals.sessions:,}", cost, tokens, _waste(totals.wasted_usd), _waste(totals.avoidable_usd)


def _worst(runs: Sequence[SessionRun], width: int, *, everything: bool) -> list[Line]:
    """The runs that wasted most, then those that came out worst, each with a sentence and its file."""
    ordered = sorted(runs, key=_badness)
    visible = ordered if everything else ordered[:_ROWS]
    folder = wording.folder_of([run.part.file.path for run in runs])
    rows: list[tuple[Line, ...]] = [
        tuple(Line(name, "dim") for name in ("cost", "wasted", "avoidable", "verdict"))
    ]
    rows += [_amounts_of(run) for run in visible]
    head, *firsts = _columns(rows, width, right=(0, 1, 2))
    title = Line("The worst first", "bold").append(f", in {plain(folder)}" if folder else "", "dim")
    lines = [*title.wrap(width), head]
    for run, first in zip(visible, firsts, strict=True):
        path = run.part.file.path.removeprefix(folder)
        below = (Line(plain(why(run.summary), _SENTENCE)), Line.safe(path, "dim"))
        lines += [first, *(Line("  ").extend(part) for line in below for part in line.wrap(width - 2))]
    return [*lines, *_more(len(runs) - len(visible))]


def _amounts_of(run: SessionRun) -> tuple[Line, ...]:
    summary = run.summary
    cost = _UNKNOWN if summary.spent.cost_usd is None else wording.cost(summary.spent)
    amounts = map(_waste, (wasted_usd(summary), avoidable_usd(summary)))
    return Line(cost), *map(Line, amounts), Line(summary.title, word_style(summary))


def _badness(run: SessionRun) -> tuple[Any, ...]:
    summary = run.summary
    saving = (wasted_usd(summary) or 0.0) + (avoidable_usd(summary) or 0.0)
    return (-saving, *wording.badness(summary))


def _columns(rows: Sequence[tuple[Line, ...]], width: int, *, right: tuple[int, ...]) -> list[Line]:
    """Columns as wide as what is in them; the last takes the rest."""
    last = len(rows[0]) - 1
    widths = [max(cell_width(row[number].text) for row in rows) for number in range(last)]
    return columns(rows, [*widths, width - sum(widths) - 2 * last], right=right)


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
