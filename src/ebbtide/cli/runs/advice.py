"""`ebbtide advice`: settings that would have saved money, and what those that were changed have saved."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import click

from ebbtide import __version__
from ebbtide.advice.applied_advice import AppliedAdvices
from ebbtide.advice.applying import apply, undo
from ebbtide.advice.estimate import Estimate, Interval
from ebbtide.advice.listing import AdviceListing, ListedAdvice
from ebbtide.advice.measuring import NEEDED
from ebbtide.advice.session_record import SessionPath, SessionRecord
from ebbtide.budget.prices import Prices
from ebbtide.cli.declaration import Command, Option, PricesFile, read_prices
from ebbtide.cli.result import Result
from ebbtide.cli.runs.machine_sessions import AGENT_NAMES, MachineSessions, SessionPart
from ebbtide.cli.runs.money import SessionMoney
from ebbtide.cli.runs.session_filter import SessionFilter
from ebbtide.cli.terminal import Line, progress_bar, short_path
from ebbtide.clock import day_of
from ebbtide.errors import ConfigError
from ebbtide.processes import results, worthwhile
from ebbtide.report.plurals import count
from ebbtide.settings_file import meant
from ebbtide.traces.money.file_cache import cache_folder, program_mark
from ebbtide.traces.money.money_cache import MoneyCache
from ebbtide.traces.sessions.agent_homes import CodingAgent

_DAYS: Final = 30  # Claude Code itself keeps sessions for no longer
_AGENTS: Final = (CodingAgent.CLAUDE, CodingAgent.CODEX)  # whose settings are known to do what is promised
_A_PROCESS: Final = 20 << 20  # bytes of sessions that take longer to read than a process takes to start


@click.command(cls=Command)
def advice(
    to_apply: Annotated[
        str | None,
        Option(
            "--apply", metavar="NAME", help="Make the change that this advice proposes; --undo reverts it."
        ),
    ] = None,
    to_undo: Annotated[
        str | None,
        Option("--undo", metavar="NAME", help="Restore the setting that was there before --apply."),
    ] = None,
    prices: PricesFile = None,
) -> Result:
    """List settings that would have saved money.

    The estimates come from the Claude Code and Codex sessions of the last 30 days. Nothing changes without
    --apply. After --apply, newer sessions are compared with the sessions before the change.
    """
    if to_apply is not None and to_undo is not None:
        raise ConfigError("--apply and --undo cannot be combined; run one after the other")
    applied = AppliedAdvices()
    if to_undo is not None:
        return _undone(to_undo, applied)
    entries = list(applied)  # read first: a state that cannot be read is no reason to wait
    records, unread = _records(read_prices(prices))
    listing = AdviceListing.of(records, entries, unread=unread)
    if to_apply is not None:
        return _applied(to_apply, listing, applied)
    return Result(listing.to_dict, partial(_lines, listing))


def _records(prices: Prices) -> tuple[list[SessionRecord], int]:
    """Returns the sessions of this machine, and the number of those that cannot be read."""
    cache = MoneyCache(cache_folder(os.environ), program_mark(__version__))
    selection = SessionFilter.read(f"{_DAYS}d", agents=list(_AGENTS))
    machine = MachineSessions.of(selection, cache.origin)
    parts = [part for part in machine.parts.values() if not part.file.obstacle]
    inherited = SessionMoney.read([part.file for part in parts], prices, cache).inherited
    sessions: dict[tuple[CodingAgent, str], list[SessionPart]] = defaultdict(list)
    for part in parts:
        sessions[part.file.agent, part.session].append(part)
    pieces = [
        (
            session,
            group[0].project,
            agent.value,
            [SessionPath(part.file.path, part.is_main, inherited.get(part.file.path)) for part in group],
            prices,
        )
        for (agent, session), group in sessions.items()
    ]
    records: list[SessionRecord] = []
    with progress_bar("reading", len(pieces)) as advance:
        for _, record in results(SessionRecord.of, pieces, jobs=worthwhile(_size(parts), _A_PROCESS)):
            advance(1)
            if isinstance(record, SessionRecord):
                records.append(record)
    read = len(records)
    # A file that was copied is newer than what is in it.
    records = [record for record in records if record.ended is None or record.ended >= (selection.since or 0)]
    records.sort(key=lambda record: (record.began or 0.0, record.session))
    return records, len(machine.parts) - len(parts) + len(pieces) - read


def _size(parts: Sequence[SessionPart]) -> int:
    size = 0
    for part in parts:
        with suppress(OSError):
            size += Path(part.file.path).stat().st_size
    return size


def _undone(name: str, applied: AppliedAdvices) -> Result:
    entry = applied.get(name)
    if entry is None:
        names = [item.name for item in applied]
        raise ConfigError(
            f"no advice {name!r:.80} is applied; `ebbtide advice` shows them{meant(name, names)}"
        )
    undo(entry, applied)
    wire = {"name": name, "state": "not applied", "file": entry.path}
    return Result(lambda: wire, lambda _: [Line.safe(f"undone in {short_path(entry.path)}")])


def _applied(name: str, listing: AdviceListing, applied: AppliedAdvices) -> Result:
    by_name = {item.name: item for item in listing.others}
    item = by_name.get(name)
    if item is None or item.priced is None:
        if any(made.name == name for made in listing.made):
            raise ConfigError(f"{name} is already applied; --undo {name} reverts it")
        raise ConfigError(
            f"there is no advice {name!r:.80}; `ebbtide advice` lists them{meant(name, by_name)}"
        )
    entry = apply(item.priced, applied, time.time())
    change = item.kind.change
    lines = [
        Line.safe(
            f"applied in {short_path(entry.path)}: {change.key}  {_set(item.before)} → {change.value!r}"
        ),
        Line(
            f"Restart {AGENT_NAMES[change.agent]}. `ebbtide advice` measures the change after {NEEDED} "
            "sessions."
        ),
        Line.safe(f"ebbtide advice --undo {name} reverts it."),
    ]
    wire = {"name": name, "state": "applied", "file": entry.path, "applied_at": entry.applied_at}
    return Result(lambda: wire, lambda _: lines)


def _lines(listing: AdviceListing, width: int) -> Iterator[Line]:
    unread = f"; {count(listing.unread, 'session')} not read" if listing.unread else ""
    yield Line(
        f"{count(listing.sessions, 'Claude Code and Codex session')} in the last {_DAYS} days{unread}", "dim"
    )
    for made in listing.made:
        yield Line()
        yield from _made_lines(made, width)
    for item in listing.others:
        yield Line()
        yield from _open_lines(item, width)
    if not listing.others:
        yield Line()
        yield Line("No other known setting would have saved $1 per month.")


def _made_lines(item: ListedAdvice, width: int) -> Iterator[Line]:
    realised = item.realised
    yield Line.safe(item.name, "bold").append(f"  applied on {day_of(item.applied_at or 0.0)}", "dim")
    if realised is None:
        text = f"not measured: {item.problem}"
    elif realised.usd is None or realised.interval is None:
        text = (
            f"expected {_monthly(item.expected)}; realised: not enough sessions yet "
            f"({realised.sessions} of {NEEDED} with a comparable session before)"
        )
    else:
        text = (
            f"expected {_monthly(item.expected)}, realised {_usd(realised.usd)} "
            f"{_interval(realised.interval)} in {count(realised.sessions, 'session')}"
        )
    yield from _below(text, width)
    if realised is not None and realised.cost_ratio is not None and realised.cost_interval is not None:
        low, high = realised.cost_interval
        yield from _below(
            f"a session costs {realised.cost_ratio:.2f} [{low:.2f}, {high:.2f}] of a session before the "
            "change, overall",
            width,
        )
    change = item.kind.change
    yield from _below(f"{short_path(item.file)}: {change.key} = {change.value!r}", width)


def _open_lines(item: ListedAdvice, width: int) -> Iterator[Line]:
    expected, change = item.expected, item.kind.change
    yield Line.safe(item.name, "bold").append(f"  expected {_monthly(expected)}")
    basis = f"{count(expected.sessions, 'session')} since {day_of(expected.since)}"
    share = "" if expected.share is None else f", {expected.share:.1%} of their cost"
    yield from _below(f"{basis}{share}: {item.kind.what}", width)
    if item.example:
        yield from _below(f"the most expensive: {item.example}", width)
    before = "unknown" if item.problem is not None else _set(item.before)
    yield from _below(f"{short_path(item.file)}: {change.key}  {before} → {change.value!r}", width)
    if item.problem is not None:
        yield from _below(item.problem, width)
    yield from _below(item.kind.effect, width)
    yield from _below(f"not applied: ebbtide advice --apply {item.name}", width)


def _below(text: str, width: int) -> Iterator[Line]:
    for line in Line.safe(text).wrap(width - 2):
        yield Line("  ").extend(line)


def _monthly(expected: Estimate) -> str:
    if expected.usd is None or expected.interval is None:
        return f"{expected.tokens:,} tokens per month, at an unknown price"
    return f"{_usd(expected.usd)} per month {_interval(expected.interval)}"


def _interval(interval: Interval) -> str:
    return f"[{_number(interval.low)}, {_number(interval.high)}]"


def _usd(amount: float) -> str:
    return f"{'-' * (amount < 0)}${_number(abs(amount))}"


def _number(amount: float) -> str:
    """Returns dollars of a month: an estimate has no cents from ten on."""
    return f"{amount:,.0f}" if abs(amount) >= 10 else f"{amount:,.2f}"


def _set(value: Any) -> str:
    return "not set" if value is None else repr(value)
