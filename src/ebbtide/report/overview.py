"""Many runs on one page: totals, and a table that a script sorts and filters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from ebbtide.report.markup import Markup, element, tile
from ebbtide.report.plurals import count
from ebbtide.report.shipped import shipped_words
from ebbtide.report.wording import UNKNOWN, about, began_at, cost, day, duration, folder_of, money, severity
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.headline import Headline
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.summary.spending import together


class _Column(NamedTuple):
    """Column of numbers: its name, what a cell shows, and by what it is sorted; None: unknown."""

    name: str
    text: str
    value: float | None


def overview(runs: Sequence[RunSummary], linked: Collection[int]) -> Markup:
    """Returns the totals of some runs, and a row each.

    Args:
        runs: The runs, in the order of the page.
        linked: Numbers, from 1, of those that have a part of their own.
    """
    folder = folder_of([run.source for run in runs])
    has_shipped = any(run.shipped is not None for run in runs)
    columns = [[*_columns(run), *([_shipped(run)] if has_shipped else [])] for run in runs]
    rows = [
        _row(run, number, run.source.removeprefix(folder), cells, is_linked=number in linked)
        for number, (run, cells) in enumerate(zip(runs, columns, strict=True), start=1)
    ]
    names = ["verdict", "run, and why", *(column.name for column in columns[0])]
    return element(
        "section",
        element("h1", count(len(runs), "run")),
        element("p", f"in {folder}", class_="quiet", dir="auto") if folder else None,
        _totals(runs),
        element("div", id="filters", class_="filters", data_words=", ".join(_words(runs))),
        element("p", id="filtered", class_="quiet", role="status"),
        element(
            "table",
            element("caption", "All runs, the worst first", class_="unseen"),
            element(
                "thead",
                element("tr", *(_header(name, index) for index, name in enumerate(names)), role="row"),
                role="rowgroup",
            ),
            element("tbody", *rows, role="rowgroup"),
            role="table",
            id="runs",
        ),
        class_="overview",
        id="overview",
    )


def _words(runs: Sequence[RunSummary]) -> list[str]:
    """Returns the headlines that occur, the worst first."""
    present = {run.headline for run in runs}
    return [word.value for word in reversed(Headline) if word in present]


def _totals(runs: Sequence[RunSummary]) -> Markup:
    priced = [run.spent for run in runs if run.spent.cost_usd is not None]
    tokens = [run.spent.tokens.total for run in runs if run.spent.tokens.total is not None]
    seconds = [run.spent.seconds for run in runs if run.spent.seconds is not None]
    problems = sum(severity(run) is not Action.ALLOW for run in runs)
    wasted = [run.bill.wasted.cost_usd for run in runs if run.bill.wasted.cost_usd is not None]
    return element(
        "dl",
        tile("Cost", cost(together(priced)), _unknown(len(runs) - len(priced))),
        tile("Wasted", money(sum(wasted)), _avoidable(runs)) if wasted else None,
        tile("Tokens", f"{sum(tokens):,}" if tokens else UNKNOWN, _unknown(len(runs) - len(tokens))),
        tile("Time", duration(sum(seconds)) if seconds else UNKNOWN, _unknown(len(runs) - len(seconds))),
        tile("Problems", f"{problems:,}", f"of {count(len(runs), 'run')}"),
        class_="tiles",
    )


def _avoidable(runs: Sequence[RunSummary]) -> str | None:
    avoidable = sum(run.bill.avoidable.cost_usd or 0.0 for run in runs)
    return f"and {money(avoidable)} avoidable" if avoidable else None


def _unknown(number: int) -> str | None:
    return f"{count(number, 'run')} unknown" if number else None


def _columns(run: RunSummary) -> list[_Column]:
    spending = run.spent
    began = began_at(run)
    tokens = spending.tokens.total
    wasted = run.bill.wasted.cost_usd
    return [
        _Column("cost", cost(spending), spending.cost_usd),
        _Column("wasted", "" if wasted is None else money(wasted), wasted),
        _Column("tokens", UNKNOWN if tokens is None else f"{tokens:,}", tokens),
        _Column("events", f"{spending.events:,}", spending.events),
        _Column("time", duration(spending.seconds), spending.seconds),
        _Column("began", "" if began is None else day(began), None if began is None else began.timestamp()),
    ]


def _shipped(run: RunSummary) -> _Column:
    """Returns the column of commits, sorted by those that landed."""
    shipped = run.shipped
    if shipped is None:
        return _Column("shipped", "", None)
    return _Column("shipped", shipped_words(shipped), shipped.landed)


def _header(name: str, index: int) -> Markup:
    return element(
        "th", name, scope="col", role="columnheader", class_="number" if index > 1 else None, data_column=name
    )


def _row(run: RunSummary, number: int, name: str, columns: Sequence[_Column], *, is_linked: bool) -> Markup:
    # Of a run that nothing is wrong with there is nothing to say but where its money went.
    why = run.bill.sentence if run.verdict.action is Action.ALLOW else run.reason
    title = about(run)
    shown = title or name
    label = element("a", shown, href=f"#run-{number}", dir="auto") if is_linked else shown
    return element(
        "tr",
        element(
            "td",
            element("span", run.words, class_=f"badge small tone-{severity(run).value}"),
            role="cell",
            class_="word",
            data_value=number,
        ),
        element(
            "td",
            label,
            element("p", why, dir="auto", class_="quiet") if why else None,
            element("p", name, dir="auto", class_="quiet name") if title else None,
            class_="source",
            role="cell",
        ),
        *(
            element("td", item.text, class_=f"number {item.name}", role="cell", data_value=item.value)
            for item in columns
        ),
        role="row",
        data_word=run.headline.value,
    )
