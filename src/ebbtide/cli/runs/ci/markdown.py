"""Markdown for the summary of a job: what fails, then a table of the runs."""

from __future__ import annotations

import re

from ebbtide.cli.runs.ci.checked_runs import CheckedRuns
from ebbtide.cli.runs.run_table import totals
from ebbtide.cli.terminal import plain
from ebbtide.report import wording
from ebbtide.report.plurals import count
from ebbtide.supervision.summary.headline import Course
from ebbtide.supervision.summary.run_summary import RunSummary

_MARKS = re.compile(r"([\\`*_{}\[\]()#+!|~$-])")
_ROWS = 200  # runs in the table: GitHub takes a megabyte
_LINES = 50  # conditions, and files, that are listed


def markdown(checked: CheckedRuns) -> str:
    """The page of a job."""
    runs = checked.runs
    lines = ["## Ebbtide", ""]
    if runs:
        lines += [_text(totals(runs).text), ""]
    lines += _listed("Fails", [f"{_text(item.source)}: {_text(item.reason)}" for item in checked.problems])
    unreadable = [f"{_text(item.source)}: {_text(item.reason)}" for item in checked.unreadable]
    lines += _listed("UNREADABLE", unreadable)
    if runs:
        lines += ["| verdict | run | events | cost | why |", "| --- | --- | ---: | ---: | --- |"]
        lines += [_row(run) for run in runs[:_ROWS]]
        lines.append("")
    if len(runs) > _ROWS:
        lines += [f"And {count(len(runs) - _ROWS, 'more run')}.", ""]
    number = sum(run.ignored for run in runs)
    if number:
        lines += [f"{count(number, 'finding')} ignored.", ""]
    if checked.known_findings.file is not None:
        text = f"{count(len(checked.known_findings), 'finding')} known from"
        lines += [f"{text} {_text(checked.known_findings.file)}.", ""]
    return "\n".join(lines)


def _row(run: RunSummary) -> str:
    cost = "?" if run.spent.cost_usd is None else wording.cost(run.spent)
    why = run.reason if run.course is not Course.HEALTHY or run.verdict.ends else ""
    cells = (run.title, run.source, f"{run.spent.events:,}", cost, why)
    return f"| {' | '.join(map(_text, cells))} |"


def _listed(title: str, items: list[str]) -> list[str]:
    if not items:
        return []
    more = [f"- and {len(items) - _LINES:,} more"] if len(items) > _LINES else []
    return [f"**{title}**", "", *(f"- {item}" for item in items[:_LINES]), *more, ""]


def _text(text: str) -> str:
    """Text that neither Markdown nor HTML take for more."""
    line = plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKS.sub(r"\\\1", line)
