"""SARIF 2.1.0: a result a finding."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from ebbtide import __version__
from ebbtide.cli.runs.ci.checked_runs import (
    CheckedRuns,
    ClaimNote,
    FreshFinding,
    claim_notes,
    path_of,
    sentence,
)
from ebbtide.cli.runs.fail_on import FailedCondition
from ebbtide.cli.terminal import plain
from ebbtide.profile.supervision import RULES
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.run_summary import RunSummary

_LEVELS = {Action.STOP: "error", Action.ESCALATE: "warning"}
_FAIL_ON = "fail_on"
_CLAIMS = {
    "claim_contradicted": "A line of the record contradicts the final message of the run.",
    "claim_stale": "A claim of the final message was true, and changed afterwards.",
    "claim_narrower": "Less was checked than the final message of the run claims.",
}
_NO_SWITCH = ("limit", "limit_unknown", _FAIL_ON, *_CLAIMS)


def sarif(checked: CheckedRuns) -> str:
    """The log: every rule, every finding with its run as the place, and files that were not read."""
    names = list(RULE_TEXTS)
    results = []
    for run in checked.runs:
        numbers: Counter[tuple[str, ...]] = Counter()
        for item in checked.findings(run):
            key = (run.source, item.finding.kind, *sorted(set(item.finding.tools)))
            numbers[key] += 1
            results.append(_result(checked, run, item, (*key, str(numbers[key])), names))
        results += [_claim(run, note, names) for note in claim_notes(run)]
        results += [
            _failure(problem, names)
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


def _result(
    checked: CheckedRuns, run: RunSummary, item: FreshFinding, key: tuple[str, ...], names: list[str]
) -> dict[str, Any]:
    finding = item.finding
    result: dict[str, Any] = {
        "ruleId": finding.kind,
        "ruleIndex": names.index(finding.kind),
        "level": _LEVELS.get(finding.action, "note"),
        "message": _message(f"{sentence(finding, run)} {finding.advice}".strip()),
        "partialFingerprints": {
            "ebbtide/v1": hashlib.sha256("\0".join(key).encode(errors="surrogateescape")).hexdigest()
        },
        "properties": {
            "firstEvent": finding.first_event,
            "lastEvent": finding.last_event,
            "verdict": run.words,
        },
        **_places(run.source),
    }
    if checked.known_findings.file is not None:
        result["baselineState"] = "unchanged" if item.is_known else "new"
    if item.is_known:
        result["suppressions"] = [{"kind": "external", "justification": "known from the baseline"}]
    return result


def _claim(run: RunSummary, note: ClaimNote, names: list[str]) -> dict[str, Any]:
    return {
        "ruleId": note.rule,
        "ruleIndex": names.index(note.rule),
        "level": "warning" if note.is_contradicted else "note",
        "message": _message(note.sentence),
        **_places(run.source),
    }


def _failure(problem: FailedCondition, names: list[str]) -> dict[str, Any]:
    return {
        "ruleId": _FAIL_ON,
        "ruleIndex": names.index(_FAIL_ON),
        "level": "error",
        "message": _message(f"--fail-on {problem.condition}: {problem.reason}"),
        **_places(problem.source),
    }


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


#: The rules of a log, each with what it reports.
RULE_TEXTS: Final[Mapping[str, str]] = {
    **RULES,
    "limit": "A limit was exceeded.",
    "limit_unknown": "A limit could not be counted.",
    **_CLAIMS,
    "fail_on": "A run meets a condition of --fail-on that is about no single finding.",
}
