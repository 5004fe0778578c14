"""JUnit XML: a test case a run."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from ebbtide.cli.runs.ci.checked_runs import CheckedRuns, sentence
from ebbtide.cli.terminal import plain
from ebbtide.supervision.summary.run_summary import RunSummary

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
    if not problems:
        return
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
