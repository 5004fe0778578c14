"""Annotations of GitHub Actions: workflow commands, a line each."""

from __future__ import annotations

from ebbtide.cli.runs.ci.checked_runs import CheckedRuns, path_of, sentence
from ebbtide.cli.runs.run_table import totals
from ebbtide.cli.terminal import plain
from ebbtide.supervision.ladder import Action

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
