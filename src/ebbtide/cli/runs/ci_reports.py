"""The result of a check as one text, in the formats of CI systems: GitHub, JUnit, SARIF and Markdown."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote
from xml.etree import ElementTree as ET

from ebbtide import __version__
from ebbtide.claims.sentences import GRAVE, claim_sentence, claims_line
from ebbtide.cli.runs.baseline import KnownFindings
from ebbtide.cli.runs.check_format import CheckFormat
from ebbtide.cli.runs.fail_on import FailedCondition
from ebbtide.cli.runs.run_table import SkippedFile, totals
from ebbtide.cli.terminal import plain
from ebbtide.profile.loop_kinds import RULES
from ebbtide.report import wording
from ebbtide.report.plurals import count
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.headline import Course
from ebbtide.supervision.summary.run_summary import RunFinding, RunSummary

STDIN = "<stdin>"


class FreshFinding(NamedTuple):
    """A finding and whether it was accepted."""

    finding: RunFinding
    is_known: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRuns:
    """Runs that were checked.

    Args:
        problems: Which run meets which condition of ``--fail-on``.
        is_gate: Whether there is a condition, so that an unreadable file in a folder fails the check.
    """

    summaries: Sequence[RunSummary]
    skipped_files: Sequence[SkippedFile]
    problems: Sequence[FailedCondition]
    known_findings: KnownFindings
    is_gate: bool

    @property
    def runs(self) -> list[RunSummary]:
        """The runs, the worst first."""
        return sorted(self.summaries, key=wording.badness)

    @property
    def unreadable(self) -> list[SkippedFile]:
        """Files that make the check end with the code of bad input."""
        return [item for item in self.skipped_files if item.is_named or (item.is_unreadable and self.is_gate)]

    def problems_of(self, summary: RunSummary) -> list[FailedCondition]:
        """The conditions that a run meets."""
        return [item for item in self.problems if item.source == summary.source]

    def findings(self, summary: RunSummary) -> list[FreshFinding]:
        """The findings of a run."""
        accepted = self.known_findings.of(summary)
        return [FreshFinding(item, item in accepted) for item in summary.findings]


class ClaimNote(NamedTuple):
    """A claim of the last words that the record does not bear out: the rule, and what to say of it."""

    rule: str
    sentence: str
    is_contradicted: bool


def claim_notes(run: RunSummary) -> list[ClaimNote]:
    """Lists what the last words of a run claim against its record, the gravest first."""
    return [
        ClaimNote(f"claim_{answer.value}", f"The report {claim_sentence(check)}.", answer is GRAVE[0])
        for answer in GRAVE
        for check in run.claims
        if check.answer is answer
    ]


def sentence(finding: RunFinding, summary: RunSummary) -> str:
    """States what was found, where and for how much."""
    amounts = wording.amounts(finding.cost_usd, finding.tokens)
    where = wording.where(finding, summary.spent)
    return f"{finding.sentence} ({where}{', ' * bool(amounts)}{amounts or ''})."


def path_of(source: str) -> str | None:
    """The file of a run as CI names it: from the working directory where it lies there, with ``/``."""
    if source == STDIN:
        return None
    try:
        path = os.path.relpath(source)
    except ValueError:  # another drive
        path = source
    if path.startswith(os.pardir):
        path = os.path.abspath(source)  # noqa: PTH100 - as relpath, without reading links
    return path.replace(os.sep, "/")


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


_GITHUB_LEVELS = {Action.STOP: "warning", Action.ESCALATE: "warning"}


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
                _GITHUB_LEVELS.get(item.finding.action, "notice"),
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


_SARIF_LEVELS = {Action.STOP: "error", Action.ESCALATE: "warning"}
_FAIL_ON = "fail_on"
_CLAIMS = {
    "claim_contradicted": "A line of the record contradicts the final message of the run.",
    "claim_stale": "A claim of the final message was true, and changed afterwards.",
    "claim_narrower": "Less was checked than the final message of the run claims.",
}
#: The rules of a log, each with what it reports.
RULE_TEXTS: Final[Mapping[str, str]] = {
    **RULES,
    "limit": "A limit was exceeded.",
    "limit_unknown": "A limit could not be counted.",
    **_CLAIMS,
    "fail_on": "A run meets a condition of --fail-on that is about no single finding.",
}
_RULE_NUMBERS = {name: number for number, name in enumerate(RULE_TEXTS)}
_NO_SWITCH = ("limit", "limit_unknown", _FAIL_ON, *_CLAIMS)


def sarif(checked: CheckedRuns) -> str:
    """The log: every rule, every finding with its run as the place, and files that were not read."""
    results = []
    for run in checked.runs:
        numbers: Counter[tuple[str, ...]] = Counter()
        for item in checked.findings(run):
            key = (run.source, item.finding.kind, *sorted(set(item.finding.tools)))
            numbers[key] += 1
            results.append(_finding(checked, run, item, (*key, str(numbers[key]))))
        results += [
            _result(note.rule, "warning" if note.is_contradicted else "note", note.sentence, run.source)
            for note in claim_notes(run)
        ]
        results += [
            _result(_FAIL_ON, "error", f"--fail-on {problem.condition}: {problem.reason}", problem.source)
            for problem in checked.problems_of(run)
            if not any(problem.condition.rests_on(finding) for finding in run.findings)
        ]
    notifications = [
        {
            "level": "error",
            "message": _message(f"UNREADABLE: {item.reason}"),
            **_places(item.source, item.line),
        }
        for item in checked.unreadable
    ]
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "Ebbtide",
                        "version": __version__,
                        "rules": [_rule(name, text) for name, text in RULE_TEXTS.items()],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": not checked.unreadable,
                        "toolExecutionNotifications": notifications,
                    }
                ],
                "results": results,
            }
        ],
    }
    return f"{json.dumps(log, indent=2)}\n"


def _rule(name: str, text: str) -> dict[str, Any]:
    way = "" if name in _NO_SWITCH else f" To ignore it: --ignore {name}, or [ignore] in ebbtide.toml."
    return {
        "id": name,
        "name": "".join(part.title() for part in name.split("_")),
        "shortDescription": {"text": text},
        "fullDescription": {"text": text},
        "help": {
            "text": f"{text}{way}",
            "markdown": f"{text}{way.replace(f'--ignore {name}', f'`--ignore {name}`')}",
        },
        "defaultConfiguration": {"level": "warning"},
    }


def _result(rule: str, level: str, text: str, source: str, **more: Any) -> dict[str, Any]:
    return {
        "ruleId": rule,
        "ruleIndex": _RULE_NUMBERS[rule],
        "level": level,
        "message": _message(text),
        **more,
        **_places(source),
    }


def _finding(
    checked: CheckedRuns, run: RunSummary, item: FreshFinding, key: tuple[str, ...]
) -> dict[str, Any]:
    finding = item.finding
    result = _result(
        finding.kind,
        _SARIF_LEVELS.get(finding.action, "note"),
        f"{sentence(finding, run)} {finding.advice}".strip(),
        run.source,
        partialFingerprints={
            "ebbtide/v1": hashlib.sha256("\0".join(key).encode(errors="surrogateescape")).hexdigest()
        },
        properties={
            "firstEvent": finding.first_event,
            "lastEvent": finding.last_event,
            "verdict": run.words,
        },
    )
    if checked.known_findings.file is not None:
        result["baselineState"] = "unchanged" if item.is_known else "new"
    if item.is_known:
        result["suppressions"] = [{"kind": "external", "justification": "known from the baseline"}]
    return result


def _message(text: str) -> dict[str, str]:
    # Braces and brackets are placeholders and links in a message.
    safe = plain(text).replace("{", "{{").replace("}", "}}")
    return {"text": safe.replace("[", "\\[").replace("]", "\\]")}


def _places(source: str, line: int | None = None) -> dict[str, Any]:
    """Returns the location of a finding in SARIF; the line of an event is unknown."""
    path = path_of(source)
    if path is None:
        return {}
    # A name that is no UTF-8 has bytes of its own, which a URI can name.
    uri = quote(path.encode(errors="surrogateescape"))
    if Path(path).is_absolute():
        uri = f"file://{uri}" if uri.startswith("/") else Path(path).as_uri()
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if line is not None:
        place["region"] = {"startLine": line}
    return {"locations": [{"physicalLocation": place}]}


#: What writes each format that is a report.
REPORTS: Final[Mapping[CheckFormat, Callable[[CheckedRuns], str]]] = {
    CheckFormat.GITHUB: github_annotations,
    CheckFormat.JUNIT: junit_xml,
    CheckFormat.SARIF: sarif,
    CheckFormat.MARKDOWN: markdown,
}
