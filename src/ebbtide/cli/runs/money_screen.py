"""The money of this machine's sessions on a screen and as JSON, before anything is known of their course."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from ebbtide.budget.prices import Prices
from ebbtide.budget.tally import UNITS, dollars
from ebbtide.cli.runs.check_format import CheckFormat
from ebbtide.cli.runs.ignoring import ignored_runs
from ebbtide.cli.runs.machine_sessions import AGENT_NAMES, MachineSessions
from ebbtide.cli.runs.money import MoneyKey, MoneySums, SessionMoney
from ebbtide.cli.runs.session_filter import SessionFilter
from ebbtide.cli.table import Table, more_rows
from ebbtide.cli.terminal import Line, cell_width, plain, print_json, print_lines, terminal_width
from ebbtide.report.plurals import count
from ebbtide.supervision.run_options import RunOptions
from ebbtide.text.redaction import redact
from ebbtide.traces.money.money_cache import MoneyCache
from ebbtide.traces.sessions.agent_homes import user_folder

ROWS = 10  #: of a table that are shown without `--all`
_LAST = 24  # columns that the names of a table need, where they are longer
_NAMES_BY_VALUE = {agent.value: name for agent, name in AGENT_NAMES.items()}
_ON_SCREEN = (MoneyKey.DAY, MoneyKey.PROJECT, MoneyKey.AGENT)
UNKNOWN = "?"
NARROWEST = 8  #: columns of the last column, however narrow the terminal
_ALWAYS = (MoneyKey.DAY, MoneyKey.PROJECT, MoneyKey.AGENT, MoneyKey.MODEL, MoneyKey.TREE)


def show_money(
    machine: MachineSessions,
    options: RunOptions,
    by: MoneyKey | None,
    cache: MoneyCache,
    *,
    form: CheckFormat,
    everything: bool,
) -> SessionMoney:
    """Print what sessions cost, each call once; JSON and CSV only where nothing else is wanted.

    Args:
        machine: The sessions.
        options: By what they are priced, and whether secrets are masked.
        by: By what to sum, and print nothing else; None sums by day, project and agent.
        cache: What is known of the files.
        form: What to print.
        everything: Show every row.

    Returns:
        The calls.
    """
    is_ignored = ignored_runs()
    files = [part.file for path, part in machine.parts.items() if not is_ignored(path)]
    money = SessionMoney.read(
        files,
        options.prices or Prices(),
        cache,
        since=machine.selection.since,
        until=machine.selection.until,
        timezone=options.timezone,
    )
    if files or form is not CheckFormat.TEXT:
        print_money(money, machine.selection, by, options, form=form, everything=everything)
    return money


def print_money(
    money: SessionMoney,
    selection: SessionFilter,
    by: MoneyKey | None,
    options: RunOptions,
    *,
    form: CheckFormat,
    everything: bool,
) -> None:
    """Print sums of calls; JSON and CSV only where nothing else is wanted.

    Args:
        money: The calls.
        selection: From when they are.
        by: As for `show_money`.
        options: The zone in which days begin, and whether secrets are masked.
        form: What to print.
        everything: Show every row.
    """
    if form is CheckFormat.TEXT:
        shown: Callable[[str], str] = redact if options.redact else str
        keys = _ON_SCREEN if by is None else (by,)
        lines = money_screen(
            money, selection.period, terminal_width(), shown, keys=keys, everything=everything
        )
        print_lines(lines)
        sys.stdout.flush()
    elif by is not None:
        wire = totals_wire(money, selection, by, options)
        if form is CheckFormat.CSV:
            from ebbtide.cli.runs.csv_table import sums_csv

            sys.stdout.write(sums_csv(by.value, wire[f"by_{by}"]))
        else:
            print_json(wire, indent=None)


def totals_wire(
    money: SessionMoney,
    selection: SessionFilter,
    by: MoneyKey | None,
    options: RunOptions,
) -> dict[str, Any]:
    """The last line: the sum of all calls, each once, and sums by key.

    Args:
        money: The calls.
        selection: From when they are.
        by: As for `show_money`.
        options: The zone in which days begin, and whether secrets are masked.
    """
    shown: Callable[[str], str] = redact if options.redact else str
    wire = money.wire(_ALWAYS if by is None else (by,))
    for name, rows in wire.items():
        if name.startswith("by_"):
            key = name.removeprefix("by_")
            for row in rows:
                row[key] = shown(row[key])
    return {
        "schema": 2,
        "type": "totals",
        "since": _iso(selection.since),
        "until": _iso(selection.until),
        "timezone": options.timezone,
        "sessions": len(money.total().sessions),
        **wire,
    }


def _iso(ts: float | None) -> str | None:
    return None if ts is None else datetime.fromtimestamp(ts, UTC).isoformat()


def money_screen(
    money: SessionMoney,
    period: str,
    width: int,
    shown: Callable[[str], str] = str,
    *,
    keys: Sequence[MoneyKey] = _ON_SCREEN,
    everything: bool = False,
) -> list[Line]:
    """The screen of what some sessions cost, each call once.

    Args:
        money: Their calls.
        period: From when they are, in words; empty for any time.
        width: Columns.
        shown: Masks secrets in a name.
        keys: By what to sum: a table each.
        everything: Show every row.
    """
    lines = list(Line(_sentence(money, period), "bold").wrap(width))
    for key in keys:
        rows = [(_name_of(key, shown(name)), sums) for name, sums in money.by(key).items()]
        if len(keys) == 1 or (rows and (key is not MoneyKey.AGENT or len(rows) > 1)):
            lines += [Line(), *_table(key.value, rows, width, everything=everything)]
    return lines


def _name_of(key: MoneyKey, name: str) -> str:
    if key is MoneyKey.AGENT:
        return _NAMES_BY_VALUE.get(name, name)
    return short(name) if key is MoneyKey.PROJECT else name


def _sentence(money: SessionMoney, period: str) -> str:
    total = money.total()
    sessions = f"{count(len(total.sessions), 'session')}{f' {period}' if period else ''}"
    if total.cost_usd is None:
        return f"{sessions}; their cost is unknown. Each call is counted once."
    cost = f"{dollars(total.cost_usd)}{'+' * total.is_partial}"
    copies = ""
    if money.copies:
        left_out = dollars(money.copied_units / UNITS)
        copies = f" ({count(len(money.copies), 'copy', 'copies')} left out: {left_out})"
    return f"{sessions}, {cost}; each call is counted once{copies}."


def _table(title: str, rows: Sequence[tuple[str, MoneySums]], width: int, *, everything: bool) -> list[Line]:
    visible = rows if everything else rows[:ROWS]
    cells = [{**_amounts(sums), title: name} for name, sums in visible]
    if not cells:
        return [Line("There are no model calls.")]
    *amounts, _ = names = list(cells[0])
    table = Table.fitting(
        {name: [row[name] for row in cells] for name in names},
        width,
        optional=("tokens", "calls"),
        last=min(max(cell_width(plain(name)) for name, _ in visible), _LAST),
        right=amounts,
        least=NARROWEST,
    )
    return [*table.lines(width), *more_rows(len(rows) - len(visible))]


def _amounts(sums: MoneySums) -> dict[str, str]:
    cost = UNKNOWN if sums.cost_usd is None else f"{dollars(sums.cost_usd)}{'+' * sums.is_partial}"
    return {
        "sessions": f"{len(sums.sessions):,}",
        "calls": f"{sums.sums.calls:,}",
        "cost": cost,
        "tokens": f"{sums.sums.tokens:,}",
    }


def short(name: str | None) -> str:
    """A path with ``~`` for the user's folder."""
    if name is None:
        return "unknown"
    user = user_folder()
    inside = name.removeprefix(user)
    return f"~{inside}" if inside != name and inside.startswith(os.sep) else name
