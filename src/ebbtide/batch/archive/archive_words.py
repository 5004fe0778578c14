"""The results of an archive in words and in tables, for the screen and the page alike, and its page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ebbtide.batch.archive.archive_summary import (
    ArchiveAmount,
    ArchiveLine,
    ArchiveReports,
    ArchiveShipped,
    ArchiveSummary,
    ArchiveWaste,
    WorstRun,
)
from ebbtide.batch.results.run_result import ResultStatus
from ebbtide.report.bill_words import WASTE_NAMES
from ebbtide.report.markup import document, element, table
from ebbtide.report.plurals import count
from ebbtide.report.wording import UNKNOWN, amounts, folder_of, money
from ebbtide.shipped.sums import ShippedSums
from ebbtide.supervision.ladder import Action

_NO_NAME = "not stated"
_STYLES = ("page.css", "overview.css")
_ROWS = 100  # of a table on the page


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveTable:
    """A table.

    Args:
        title: What stands over it.
        words: Names of those that hold words; the others hold numbers.
    """

    title: str
    headers: tuple[str, ...]
    words: frozenset[str]
    rows: tuple[tuple[str, ...], ...]


def sentences(summary: ArchiveSummary) -> list[str]:
    """States the number of runs, their cost, the part of it that bought nothing, and on which tool."""
    total = summary.total
    period = f", {summary.first_day} to {summary.last_day}" if summary.first_day else ""
    verdicts = ", ".join(f"{number:,} {action}" for action, number in summary.actions.items() if number)
    lines = [
        f"{count(summary.runs[ResultStatus.CHECKED], 'run')}{period}: {verdicts}",
        f"Cost: {_amount(total.whole)}"
        + (f" and {count(summary.unpriced_calls, 'call')} without a price" if summary.unpriced_calls else ""),
    ]
    if any(total.wasted):
        lines.append(f"Wasted: {_amount(total.wasted)}{_share(total)}")
    if any(total.avoidable):
        lines.append(f"Avoidable: {_amount(total.avoidable)}")
    worst_tools = [line for line in summary.tools if any(line.wasted)]
    if worst_tools:
        tool = worst_tools[0]
        amount = _amount(tool.wasted)
        lines.append(f"The tool that wasted most: {tool.name}, {amount} in {count(tool.runs, 'run')}")
    if summary.saved_usd:
        lines.append(
            f"Spent after verdicts that would have ended the run: {money(summary.saved_usd)}; "
            "some of it may have been useful"
        )
    if summary.reports.reports:
        lines.append(
            f"Claims and the record: {_part(summary.reports.contradicted, summary.reports.reports)} of "
            f"{count(summary.reports.reports, 'report')} contradicted by the record"
        )
    lines += [] if summary.shipped is None else _shipped_sentences(summary.shipped.sums)
    return lines


def _shipped_sentences(sums: ShippedSums) -> list[str]:
    found = []
    if sums.sessions:
        found.append(
            f"Shipped by {count(sums.sessions, 'session')} with commits: {sums.landed:,} landed, "
            f"{sums.reverted:,} reverted, {sums.open:,} open, {sums.lost:,} lost; "
            f"{money(sums.usd_per_landed_change)} per landed change, "
            f"{money(sums.usd_per_surviving_line)} per surviving line"
        )
    if sums.unknown:
        found.append(
            f"{count(sums.unknown, 'session')} changed files that no commit there contains: "
            "unknown, and not in these sums"
        )
    return found


def tables(summary: ArchiveSummary) -> list[ArchiveTable]:
    """All tables that have rows."""
    every = [
        _waste_table("Waste by kind", [line for line in summary.waste if line.bought_nothing]),
        _waste_table(
            "Avoidable cost by kind",
            [line for line in summary.waste if not line.bought_nothing],
        ),
        _line_table(
            "Tools: cost of reading their results, and waste by repeated or failed calls",
            "tool",
            summary.tools,
        ),
        _line_table("Agents", "agent", summary.agents),
        _line_table("Models", "model", summary.models),
        _line_table("Weeks", "week", summary.weeks),
        *(_report_table(name, lines) for name, lines in summary.reports_by.items()),
        *(_shipped_table(name, lines) for name, lines in summary.shipped_by.items()),
        _waste_table("Findings, each from its first to its last event", summary.findings, names="finding"),
        _worst_table(summary.worst),
        ArchiveTable(
            title="Runs that could not be checked",
            headers=("run", "why"),
            words=frozenset(("run", "why")),
            rows=tuple(
                (run.run_id or run.source, ("" if run.line is None else f"line {run.line}: ") + run.error)
                for run in summary.bad_runs
            ),
        ),
    ]
    return [item for item in every if item.rows]


def _waste_table(title: str, lines: Iterable[ArchiveWaste], *, names: str = "kind") -> ArchiveTable:
    return ArchiveTable(
        title=title,
        headers=(names, "runs", "times", "cost", "tokens", "most by tool"),
        words=frozenset((names, "most by tool")),
        rows=tuple(
            (
                _kind(line.kind),
                f"{line.runs:,}",
                f"{line.count:,}",
                _money(line.amount.cost_usd),
                _tokens(line.amount.tokens),
                line.tool or "",
            )
            for line in lines
        ),
    )


def _line_table(title: str, name: str, lines: Sequence[ArchiveLine]) -> ArchiveTable:
    if [line.name for line in lines] == [None]:
        lines = ()
    # A wasted call costs the whole model call that asked for it; a result costs only what it took to read it.
    columns = (
        ("result cost", "result tokens", "call waste", "waste tokens", "avoidable")
        if name == "tool"
        else ("cost", "tokens", "wasted", "wasted tokens", "avoidable")
    )
    return ArchiveTable(
        title=title,
        headers=(name, "runs", "stopped", *columns),
        words=frozenset((name,)),
        rows=tuple(
            (
                line.name or _NO_NAME,
                f"{line.runs:,}",
                f"{line.loops:,}",
                _money(line.whole.cost_usd),
                _tokens(line.whole.tokens),
                _money(line.wasted.cost_usd),
                _tokens(line.wasted.tokens),
                _money(line.avoidable.cost_usd),
            )
            for line in lines
        ),
    )


def _report_table(name: str, lines: Sequence[ArchiveReports]) -> ArchiveTable:
    if [line.name for line in lines] == [None]:
        lines = ()
    return ArchiveTable(
        title=f"Reports that claim something, by {name}",
        headers=(name, "reports", "contradicted", "stale", "narrower"),
        words=frozenset((name,)),
        rows=tuple(
            (
                line.name or _NO_NAME,
                f"{line.reports:,}",
                *(_part(number, line.reports) for number in (line.contradicted, line.stale, line.narrower)),
            )
            for line in lines
        ),
    )


def _shipped_table(name: str, lines: Sequence[ArchiveShipped]) -> ArchiveTable:
    if [line.name for line in lines] == [None]:
        lines = ()
    return ArchiveTable(
        title=f"What sessions shipped, by {name}",
        headers=(
            *(name, "sessions", "cost", "landed", "per change", "lines", "per line"),
            *("reverted", "open", "lost", "unknown"),
        ),
        words=frozenset((name,)),
        rows=tuple(
            (
                line.name or _NO_NAME,
                f"{sums.sessions:,}",
                money(sums.cost_usd) + "+" * (sums.unpriced > 0 and sums.cost_usd is not None),
                _number(sums.landed),
                money(sums.usd_per_landed_change),
                f"{_number(sums.lines_surviving)} of {_number(sums.lines_added)}"
                if sums.sessions
                else UNKNOWN,
                money(sums.usd_per_surviving_line),
                *map(_number, (sums.reverted, sums.open, sums.lost)),
                f"{sums.unknown:,}",
            )
            for line in lines
            for sums in [line.sums]
        ),
    )


def _worst_table(runs: Sequence[WorstRun]) -> ArchiveTable:
    folder = folder_of([run.run_id for run in runs])
    return ArchiveTable(
        title=f"The worst runs, by waste{f', in {folder}' if folder else ''}",
        headers=("run", "verdict", "cost", "wasted", "wasted tokens", "why"),
        words=frozenset(("run", "verdict", "why")),
        rows=tuple(
            (
                run.run_id.removeprefix(folder),
                run.action,
                _money(run.cost_usd),
                _money(run.wasted_usd),
                _tokens(run.wasted_tokens),
                run.reason if run.waste_kind is None or run.action != Action.ALLOW else _kind(run.waste_kind),
            )
            for run in runs
        ),
    )


def _kind(kind: str) -> str:
    return WASTE_NAMES.get(kind, kind.replace("_", " "))


def _number(number: int | None) -> str:
    return UNKNOWN if number is None else f"{number:,}"


def _money(amount: float | None) -> str:
    return "" if amount is None else money(amount)


def _tokens(tokens: int | None) -> str:
    return "" if tokens is None else f"{tokens:,}"


def _amount(amount: ArchiveAmount) -> str:
    return amounts(amount.cost_usd, amount.tokens) or _NO_NAME


def _part(number: int, whole: int) -> str:
    return f"{number:,} ({number / whole:.0%})"


def _share(line: ArchiveLine) -> str:
    is_priced = bool(line.whole.cost_usd)
    part, whole = (amount.cost_usd if is_priced else amount.tokens for amount in (line.wasted, line.whole))
    return f" ({part / whole:.0%})" if part and whole else ""


def archive_page(summary: ArchiveSummary, source: str) -> str:
    """The page: sentences, and tables to open."""
    title = f"{count(summary.runs[ResultStatus.CHECKED], 'run')} in {source}"
    first, *more = sentences(summary)
    return document(
        title,
        element(
            "main",
            element(
                "section",
                element("h1", title),
                element("p", first, class_="statement"),
                *(element("p", sentence) for sentence in more),
            ),
            *(
                element("section", table(item.title, item.headers, item.rows, words=item.words, most=_ROWS))
                for item in tables(summary)
            ),
            id="main",
        ),
        element(
            "footer",
            element(
                "p",
                "Runs count to the agent and the model that took most of them. Weeks are ISO weeks, in UTC.",
            ),
            element("p", "Ebbtide does not check whether an answer is right: verify before you act."),
        ),
        styles=_STYLES,
    )
