"""The money of this machine's sessions on a screen and as JSON, before anything is known of their course."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
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
from ebbtide.cli.terminal import Line, cell_width, plain, print_json, print_lines, short_path, terminal_width
from ebbtide.report.plurals import count
from ebbtide.supervision.run_options import RunOptions
from ebbtide.text.redaction import redact
from ebbtide.traces.money.money_cache import MoneyCache

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
    """Prints what sessions cost, each call once; JSON and CSV only where nothing else is wanted.

    Args:
        machine: The sessions.
        options: By what they are priced, and whether secrets are masked.
        by: By what to sum, and print nothing else; None sums by day, project and agent.
        cache: What is known of the files.
        form: What to print.
        everything: Show every row.
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
    """Prints sums of calls; all but the calls is as for `show_money`."""
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
    """Returns the last line: the sum of all calls, each once, and sums by key."""
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
    """The screen of what some sessions cost, each call once: a table a key.

    Args:
        money: Their calls.
        period: From when they are, in words; empty for any time.
        shown: Masks secrets in a name.
    """
    lines = list(Line(_sentence(money, period), "bold").wrap(width))
    for key in keys:
        rows = [(shown(name), _amounts(sums)) for name, sums in money.by(key).items()]
        if rows and (len(keys) == 1 or key is not MoneyKey.AGENT or len(rows) > 1):
            optional = ("tokens", "calls")
            lines += [Line(), *sums_table(key.value, rows, width, optional=optional, everything=everything)]
        elif len(keys) == 1:
            lines += [Line(), Line("There are no model calls.")]
    return lines


def _sentence(money: SessionMoney, period: str) -> str:
    total = money.total()
    sessions = f"{count(len(total.sessions), 'session')}{f' {period}' if period else ''}"
    if total.cost_usd is None:
        return f"{sessions}; their cost is unknown. Each call is counted once."
    cost = cost_cell(total.cost_usd, is_partial=total.is_partial)
    copies = ""
    if money.copies:
        left_out = dollars(money.copied_units / UNITS)
        copies = f" ({count(len(money.copies), 'copy', 'copies')} left out: {left_out})"
    return f"{sessions}, {cost}; each call is counted once{copies}."


def sums_table(
    title: str,
    rows: Sequence[tuple[str, Mapping[str, str]]],
    width: int,
    *,
    optional: Sequence[str],
    everything: bool,
) -> list[Line]:
    """Returns a table of amounts, whose last column has the names.

    Args:
        title: What is summed by: "agent" and others.
        rows: At least one: a name, and its amounts by their headers.
        width: Columns.
        optional: Headers that are left out where there is no room, the least important first.
        everything: Show every row.
    """
    visible = rows if everything else rows[:ROWS]
    names = [_NAMES_BY_VALUE.get(name, name) if title == "agent" else short_path(name) for name, _ in visible]
    headers = list(visible[0][1])
    table = Table.fitting(
        {**{header: [amounts[header] for _, amounts in visible] for header in headers}, title: names},
        width,
        optional=optional,
        last=min(max(cell_width(plain(name)) for name in names), _LAST),
        right=headers,
        least=NARROWEST,
    )
    return [*table.lines(width), *more_rows(len(rows) - len(visible))]


def _amounts(sums: MoneySums) -> dict[str, str]:
    return {
        "sessions": f"{len(sums.sessions):,}",
        "calls": f"{sums.sums.calls:,}",
        "cost": cost_cell(sums.cost_usd, is_partial=sums.is_partial),
        "tokens": f"{sums.sums.tokens:,}",
    }


def cost_cell(cost_usd: float | None, *, is_partial: bool) -> str:
    """Returns a cost, with a mark where there are calls without a price."""
    return UNKNOWN if cost_usd is None else f"{dollars(cost_usd)}{'+' * is_partial}"
