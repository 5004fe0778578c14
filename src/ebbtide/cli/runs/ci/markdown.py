"""Markdown for the summary of a job: what fails, then a table of the runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from ebbtide.claims.sentences import claims_line
from ebbtide.cli.runs.ci.checked_runs import CheckedRuns, claim_notes, path_of, sentence
from ebbtide.cli.runs.fail_on import FailedCondition
from ebbtide.cli.runs.run_table import totals
from ebbtide.cli.terminal import plain
from ebbtide.report import wording
from ebbtide.report.plurals import count
from ebbtide.supervision.ladder import Action
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
    claims = [f"{_text(run.source)}: {_text(claims_line(run.claims))}" for run in runs if claim_notes(run)]
    lines += _listed("Claims and the record", claims)
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
    cells = (run.words, run.source, f"{run.spent.events:,}", cost, why)
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


_LEVELS = {Action.STOP: "warning", Action.ESCALATE: "warning"}


def github_annotations(checked: CheckedRuns) -> str:
    """An error for each condition that is met and each file that is UNREADABLE, then the new findings.

    Source: GitHub's "Workflow commands", escaping as in its toolkit.
    """
    lines = [
        _command("error", item.source, f"UNREADABLE: {item.reason}", title="Ebbtide", line=item.line)
        for item in checked.unreadable
    ]
    for run in checked.runs:
        lines += [
            _command("error", run.source, item.reason, title=f"Ebbtide --fail-on {item.condition}")
            for item in checked.problems_of(run)
        ]
    for run in checked.runs:
        lines += [
            _command(
                _LEVELS.get(item.finding.action, "notice"),
                run.source,
                sentence(item.finding, run),
                title=f"Ebbtide {item.finding.kind}",
            )
            for item in checked.findings(run)
            if not item.is_known
        ]
        lines += [
            _command(
                "warning" if note.is_contradicted else "notice",
                run.source,
                note.sentence,
                title=f"Ebbtide {note.rule}",
            )
            for note in claim_notes(run)
        ]
    if checked.summaries:
        lines.append(totals(checked.runs).text)
    return "".join(f"{line}\n" for line in lines)


def _command(level: str, source: str, text: str, *, title: str, line: int | None = None) -> str:
    path = path_of(source)
    places = {"file": path, "line": None if path is None else line, "title": title}
    properties = ",".join(f"{name}={_property(str(it))}" for name, it in places.items() if it is not None)
    return f"::{level} {properties}::{_data(text)}"


def _data(text: str) -> str:
    return plain(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


_NONCHARACTERS = re.compile("[\ufffe\uffff]")  # which no XML may hold; `plain` takes the rest out
_SUITE = "ebbtide check"


def junit_xml(checked: CheckedRuns) -> str:
    """A suite of the runs: a failure is a run that meets a condition, an error a file that is UNREADABLE."""
    root = ET.Element("testsuites")
    failed = [run for run in checked.runs if checked.problems_of(run)]
    seconds = sum(run.spent.seconds or 0.0 for run in checked.summaries)
    suite = ET.SubElement(
        root,
        "testsuite",
        {
            "name": _SUITE,
            "package": "ebbtide",
            "id": "0",
            "hostname": "localhost",
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S"),
            "tests": str(len(checked.summaries) + len(checked.unreadable)),
            "failures": str(len(failed)),
            "errors": str(len(checked.unreadable)),
            "time": f"{seconds:.3f}",
        },
    )
    ET.SubElement(
        ET.SubElement(suite, "properties"), "property", {"name": "runs", "value": str(len(checked.summaries))}
    )
    for file in checked.unreadable:
        reason = _clean(file.reason)
        case = _case(suite, file.source, None)
        ET.SubElement(case, "error", {"type": "UNREADABLE", "message": reason}).text = reason
    for run in checked.runs:
        _add_run(suite, checked, run)
    unread = [item for item in checked.skipped_files if item not in checked.unreadable]
    ET.SubElement(suite, "system-out").text = "\n".join(
        f"skipped {_clean(item.source)}: {_clean(item.reason)}" for item in unread
    )
    ET.SubElement(suite, "system-err")
    ET.indent(root)
    # In ASCII, so that it is UTF-8 whatever the encoding of the output is.
    body = ET.tostring(root, encoding="us-ascii", xml_declaration=False).decode("ascii")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _add_run(suite: ET.Element, checked: CheckedRuns, run: RunSummary) -> None:
    case = _case(suite, run.source, run.spent.seconds)
    problems = checked.problems_of(run)
    if problems:
        _add_failure(case, checked, run, problems)
    if run.claims:
        ET.SubElement(case, "system-out").text = _clean(f"claims: {claims_line(run.claims)}")


def _add_failure(
    case: ET.Element, checked: CheckedRuns, run: RunSummary, problems: Sequence[FailedCondition]
) -> None:
    text = [_clean(f"--fail-on {item.condition}: {item.reason}") for item in problems]
    text += [
        _clean(f"{item.finding.kind}{' (known)' * item.is_known}: {sentence(item.finding, run)}")
        for item in checked.findings(run)
    ]
    first = problems[0]
    attributes = {"type": _clean(str(first.condition)), "message": _clean(first.reason)}
    ET.SubElement(case, "failure", attributes).text = "\n".join(text)


def _case(suite: ET.Element, source: str, seconds: float | None) -> ET.Element:
    attributes = {"name": _clean(source), "classname": _SUITE, "time": f"{seconds or 0.0:.3f}"}
    return ET.SubElement(suite, "testcase", attributes)


def _clean(text: str) -> str:
    return _NONCHARACTERS.sub("\N{REPLACEMENT CHARACTER}", plain(text))
