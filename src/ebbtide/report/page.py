"""Runs as one HTML file that asks the network for nothing.

Text stands in the file as text; a script draws the timeline of calls and the charts from data beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ebbtide.budget.limits import Limits
from ebbtide.report.article import article
from ebbtide.report.markup import Markup, document, element, json_block
from ebbtide.report.overview import overview
from ebbtide.report.payload import payload
from ebbtide.report.plurals import count
from ebbtide.report.projection import projections
from ebbtide.report.wording import badness, folder_of, minute
from ebbtide.supervision.summary.run_summary import RunSummary

_SCRIPTS = (
    "uPlot.iife.min.js",
    "palette.js",
    "strip.js",
    "timeline.js",
    "charts.js",
    "overview.js",
    "page.js",
)
_STYLES = ("uPlot.min.css", "page.css", "bill.css", "overview.css")
_WHOLE = 300  # runs of a page that have a part of their own; the others are a row of the table
_SKIPPED = 500
_SHOWN = 6_000_000  # characters of calls on a page


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Origin of a report.

    Args:
        made_at: Time; None: now.
        version: Version of Ebbtide; empty where that is unknown.
        profile: Name of the profile by which the runs were judged; empty where that is unknown.
        prices: Source of the prices, in words; empty where no price was asked for.
        masked: True if keys and passwords are masked.
    """

    made_at: datetime | None = None
    version: str = ""
    profile: str = ""
    prices: str = ""
    masked: bool = False


_NO_LIMITS = Limits()
_UNKNOWN = Provenance()


def page(
    summaries: Sequence[RunSummary],
    *,
    limits: Limits = _NO_LIMITS,
    provenance: Provenance = _UNKNOWN,
    skipped: Sequence[tuple[str, str]] = (),
    state: str = "",
) -> str:
    """Returns the page of one run, or of several behind a table.

    Args:
        summaries: The runs; those with a timeline have their calls drawn.
        limits: Limits on money and tokens, drawn into the charts.
        provenance: Origin of the report, for its foot.
        skipped: Files that were not checked, and why.
        state: A sentence that says whether the runs still go on; empty if nobody knows.
    """
    runs = sorted(summaries, key=badness)
    whole = runs[:_WHOLE]
    characters = _SHOWN // max(1, len(whole))
    folder = folder_of([run.source for run in runs]) if len(runs) > 1 else ""
    parts, data = [], []
    for number, summary in enumerate(whole, start=1):
        ends = projections(summary.timeline, limits)
        data.append(json_block(payload(summary, ends, characters=characters), f"data-{number}"))
        parts.append(article(summary, number, ends, folder=folder, state=state))
    return document(
        _title(runs, folder),
        element("a", "Skip to the verdict", href="#main", class_="skip"),
        element(
            "main",
            overview(runs, range(1, len(whole) + 1)) if len(runs) > 1 else None,
            _skipped(skipped) if skipped else None,
            *parts,
            element("p", "No run.", class_="quiet") if not runs else None,
            id="main",
        ),
        _footer(provenance),
        *data,
        scripts=_SCRIPTS,
        styles=_STYLES,
    )


def _skipped(skipped: Sequence[tuple[str, str]]) -> Markup:
    rows = [element("li", f"{source}: {reason}", dir="auto") for source, reason in skipped[:_SKIPPED]]
    rest = len(skipped) - len(rows)
    return element(
        "details",
        element("summary", f"{count(len(skipped), 'file')} not checked"),
        element("ul", *rows),
        element("p", f"{rest:,} more are not shown.", class_="quiet") if rest else None,
        class_="table faults",
        id="skipped",
    )


def _title(runs: Sequence[RunSummary], folder: str) -> str:
    if len(runs) == 1:
        return f"{runs[0].words}: {runs[0].title or runs[0].source}"
    return f"{count(len(runs), 'run')}{f' in {folder}' if folder else ''}"


def _footer(provenance: Provenance) -> Markup:
    made_at = provenance.made_at or datetime.now(UTC)
    facts = [f"Made by {f'ebbtide {provenance.version}'.strip()} on {minute(made_at)}"]
    facts += [f"profile {provenance.profile}"] if provenance.profile else []
    facts += [provenance.prices] if provenance.prices else []
    facts += ["keys and passwords masked"] if provenance.masked else []
    return element(
        "footer",
        element("p", " \N{MIDDLE DOT} ".join(facts)),
        element("p", "Events are numbered from 1, in the order of the run. Times are in UTC."),
        element("p", "Ebbtide does not check whether an answer is right: verify before you act."),
    )
