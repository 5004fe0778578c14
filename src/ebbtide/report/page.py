"""Runs as one HTML file that asks the network for nothing.

Text stands in the file as text; a script draws the timeline of calls and the charts from data beside it. The
content security policy names the script and the styles by their hashes and allows nothing else, so that a
text that found a way out of its place could still neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources

from ebbtide.budget.limits import Limits
from ebbtide.report import sections
from ebbtide.report.markup import Markup, element, joined, json_block
from ebbtide.report.payload import payload
from ebbtide.report.plurals import count
from ebbtide.report.projection import projections
from ebbtide.report.wording import (
    UNKNOWN,
    amounts,
    badness,
    convergence,
    cost,
    duration,
    folder_of,
)
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.run_summary import RunSummary

_SCRIPTS = ("uPlot.iife.min.js", "palette.js", "timeline.js", "charts.js", "page.js")
_STYLES = ("uPlot.min.css", "page.css")
_WHOLE = 60  # runs of a page that are shown whole; the others are a row of the table
_SHOWN = 12_000_000  # characters of calls on a page
_NO_LIMITS = Limits()


def page(summaries: Sequence[RunSummary], *, limits: Limits = _NO_LIMITS, title: str = "Ebbtide") -> str:
    """The page of one run, or of several behind a table.

    Args:
        summaries: The runs; those with a timeline have their calls drawn.
        limits: Limits on money and tokens, drawn into the charts.
        title: What the window is called.
    """
    runs = sorted(summaries, key=badness)
    whole = runs[:_WHOLE]
    characters = _SHOWN // max(1, len(whole))
    script, style = _assets(_SCRIPTS), _assets(_STYLES)
    parts, data = [], []
    for number, summary in enumerate(whole, start=1):
        ends = projections(summary.timeline, limits)
        data.append(payload(summary, ends, characters=characters))
        parts.append(_run(summary, number, sections.budget(ends)))
    overview = _overview(runs) if len(runs) > 1 else None
    body = element(
        "body",
        element("a", "Skip to the verdict", href="#main", class_="skip"),
        element(
            "main",
            overview,
            *parts,
            element("p", "No run.", class_="quiet") if not runs else None,
            id="main",
        ),
        element(
            "footer",
            element("p", "Made by ebbtide check. Events are numbered from 1, in the order of the run."),
            element("p", "Ebbtide does not check whether an answer is right: verify before you act."),
        ),
        json_block(data, "data"),
        Markup(f"<script>{script}</script>"),
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(script, style)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title if len(runs) != 1 else f"{runs[0].title}: {runs[0].source}"),
        Markup(f"<style>{style}</style>"),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _policy(script: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _assets(names: Sequence[str]) -> str:
    folder = resources.files("ebbtide.report") / "assets"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def _overview(runs: Sequence[RunSummary]) -> Markup:
    folder = folder_of([run.source for run in runs])
    rows = [_row(summary, number, folder) for number, summary in enumerate(runs, start=1)]
    headers = ("verdict", "run, and why", "events", "cost", "tokens", "time")
    return element(
        "section",
        element("h1", count(len(runs), "run")),
        element("p", f"in {folder}", class_="quiet", dir="auto") if folder else None,
        element(
            "div",
            element(
                "table",
                element("thead", element("tr", *(_header(name) for name in headers))),
                element("tbody", *rows),
            ),
            class_="scroll",
            tabindex="0",
            role="region",
            aria_label="All runs, the worst first",
        ),
        class_="overview",
    )


def _header(name: str) -> Markup:
    number = name in {"events", "cost", "tokens", "time"}
    return element("th", name, scope="col", class_="number" if number else None)


def _row(summary: RunSummary, number: int, folder: str) -> Markup:
    name: str = summary.source.removeprefix(folder)
    if number <= _WHOLE:
        name = element("a", name, href=f"#run-{number}", dir="auto")
    spending = summary.spent
    tone = sections.word_tone(summary)
    # Of a run that nothing is wrong with there is nothing to say.
    why = None if summary.verdict.action is Action.ALLOW else summary.reason
    return element(
        "tr",
        element("td", element("span", summary.title, class_=f"badge small {tone}")),
        element("td", name, element("p", why, dir="auto", class_="quiet") if why else None, class_="source"),
        element("td", f"{spending.events:,}", class_="number"),
        element("td", cost(spending), class_="number"),
        element(
            "td", UNKNOWN if spending.tokens.total is None else f"{spending.tokens.total:,}", class_="number"
        ),
        element("td", duration(spending.seconds), class_="number"),
    )


def _run(summary: RunSummary, number: int, budget: Markup | None) -> Markup:
    has_cells = bool(summary.timeline)
    curve = len(summary.rounds) > 1
    has_amounts = any(cell.cost_usd is not None or cell.tokens is not None for cell in summary.timeline)
    spending = _section("Spending", budget, _spending(summary, number)) if has_amounts else None
    converged = _section(
        "Did it converge?", sections.convergence(summary), _rounds(summary, number) if curve else None
    )
    return element(
        "article",
        sections.headline(summary),
        sections.tiles(summary),
        sections.calls(summary),
        sections.saving(summary),
        _section("Calls", _timeline(number)) if has_cells else None,
        _section(f"Findings ({len(summary.findings):,})", sections.findings(summary)),
        None if curve else converged,
        element("div", converged if curve else None, spending, class_="charts")
        if curve or has_amounts
        else None,
        _section("Decisions", sections.decisions(summary)),
        sections.faults(summary),
        id=f"run-{number}",
        class_="run",
        data_run=number - 1,
    )


def _section(title: str, *children: str | None) -> Markup:
    return element("section", element("h2", title), *children)


def _timeline(number: int) -> Markup:
    name = f"timeline-{number}"
    return joined(
        element(
            "p",
            "One cell per call or message, in order. Equal ones share a colour, so a loop shows as "
            "stripes; what occurs once is grey, messages are low, a red foot marks an error. "
            "Lines above mark the findings.",
            class_="quiet",
        ),
        element("div", class_="controls", id=f"{name}-controls"),
        element("div", class_="timeline", id=name),
        element("div", class_="readout", id=f"{name}-readout", aria_live="polite"),
        element("div", class_="legend", id=f"{name}-legend"),
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
