"""Part of a page about one run."""

from __future__ import annotations

from collections.abc import Sequence

from ebbtide.report import sections
from ebbtide.report.bill import bill_details, bill_part
from ebbtide.report.markup import Markup, element, joined
from ebbtide.report.projection import Projection
from ebbtide.report.shipped import shipped_part
from ebbtide.report.wording import amounts, convergence
from ebbtide.supervision.summary.run_summary import RunSummary


def article(
    summary: RunSummary, number: int, ends: Sequence[Projection], *, folder: str = "", state: str = ""
) -> Markup:
    """Returns the article of a run: verdict, bill, findings, charts and tables.

    Args:
        number: Its number on the page, from 1.
        ends: Projections to its limits.
        folder: Common beginning of the names of all runs on the page.
        state: A sentence that says whether it still goes on; empty if nobody knows.
    """
    curve = len(summary.rounds) > 1
    has_amounts = any(cell.cost_usd is not None or cell.tokens is not None for cell in summary.timeline)
    spending = (
        _section("Spending", sections.budget(ends), _spending(summary, number)) if has_amounts else None
    )
    converged = _section(
        "Did it converge?", sections.convergence(summary), _rounds(summary, number) if curve else None
    )
    details = bill_details(summary.bill)
    return element(
        "article",
        sections.headline(summary, folder, state),
        element(
            "div",
            bill_part(summary),
            sections.tiles(summary),
            class_="top has-bill" if summary.bill.classes else "top",
        ),
        sections.saving(summary),
        _section("Calls", _timeline(number)) if summary.timeline else None,
        _section(f"Findings ({len(summary.findings):,})", sections.findings(summary)),
        _section("Claims and the record", sections.claims(summary)) if summary.claims else None,
        None if summary.shipped is None else _section("What it shipped", shipped_part(summary.shipped)),
        None if details is None else _section("Where the money went", details),
        sections.calls(summary),
        None if curve else converged,
        element("div", converged if curve else None, spending, class_="charts")
        if curve or has_amounts
        else None,
        _section("Decisions", sections.decisions(summary)),
        sections.faults(summary),
        id=f"run-{number}",
        class_="run",
        data_run=number,
    )


def _section(title: str, *children: str | None) -> Markup:
    return element("section", element("h2", title), *children)


def _timeline(number: int) -> Markup:
    name = f"timeline-{number}"
    return joined(
        element("div", class_="controls", id=f"{name}-controls"),
        element("div", class_="strip", id=f"{name}-strip"),
        element("div", class_="timeline", id=name),
        element("div", class_="legend", id=f"{name}-legend"),
        element("div", class_="readout", id=f"{name}-readout", aria_live="polite"),
        element("noscript", element("p", "The timeline and the charts need scripts.", class_="quiet")),
    )


def _rounds(summary: RunSummary, number: int) -> Markup:
    label = f"Novelty and readiness by round: {convergence(summary)}"
    return joined(_chart(f"rounds-{number}", label), sections.rounds_table(summary))


def _spending(summary: RunSummary, number: int) -> Markup:
    total = amounts(summary.spent.cost_usd, summary.spent.tokens.total)
    return joined(
        _chart(f"spending-{number}", f"Cost and tokens so far, by event: {total} in all"),
        sections.spending_table(summary.timeline),
    )


def _chart(name: str, label: str) -> Markup:
    return element("div", class_="chart", id=name, role="img", aria_label=label)
