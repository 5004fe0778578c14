"""Reported incidents, rebuilt as records of agents: which are spoken of, and which in time.

    python -m benchmarks.quality.incidents [--data DIR] [--case ID ...]

An incident is spoken of where a verdict asks for more than to go on; in time where that verdict comes at or
before the last event that a careful person needs. So is one whose last words the record contradicts: the
agent hears of that before it ends. A healthy twin must bring none.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.measure import add_data_option, data_folder, setup, write_result
from ebbtide.claims.sentences import is_refuted
from ebbtide.errors import EbbtideError
from ebbtide.profile.supervision import IgnoreRules
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.run_options import RunOptions
from ebbtide.supervision.summary import idle_sessions
from ebbtide.supervision.summary.recorder import RunRecorder
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.verdict import Verdict
from ebbtide.traces.reading import open_trace

#: Kinds of cases that are about loops and ends; the others are about bills.
FAMILIES = {
    "a": "loops of the harness",
    "b": "trees of agents",
    "d": "spirals, storms, silence",
    "e": "slow loops",
    "f": "said and not done",
}


@dataclass(frozen=True, slots=True)
class Word:
    """A verdict that asks for more than to go on.

    Args:
        kind: What it is about.
        action: What it asks for.
        event: Number of its event in its record, from 1.
        ts: Time of the event, in seconds since 1970; None where the record has no times.
    """

    kind: str
    action: Action
    event: int
    ts: float | None


def words_of(path: Path) -> tuple[list[Word], RunSummary | None]:
    """Returns every verdict of a record that asks for something, and its summary, where it is a record."""
    try:
        trace = open_trace(path)
        recorder = RunRecorder(RunOptions())
        words, before = [], Verdict()
        number = 0
        for number, event in enumerate(trace, 1):
            verdict = recorder.record(event)
            if verdict is not before and _asks(verdict):
                words.append(Word(verdict.kind or "", verdict.action, number, getattr(event, "ts", None)))
            before = verdict
        summary = replace(recorder.summary(str(path), trace.format.name), project=trace.project)
    except EbbtideError:
        return [], None
    words += [
        Word(finding.kind, finding.action, number, None)
        for finding in summary.findings
        if finding.kind not in {word.kind for word in words}
    ]
    if is_refuted(summary.claims):
        words.append(Word("claim", Action.NUDGE, number, None))
    return words, summary


def idle_rows(summaries: Sequence[RunSummary]) -> list[Word]:
    """Returns a word for each session that goes on with a loop over sessions, at the end of the session."""
    return [
        Word(idle_sessions.KIND, finding.action, finding.last_event, summary.ended_s)
        for summary in idle_sessions.with_idle_sessions(summaries, IgnoreRules())
        for finding in summary.findings
        if finding.kind == idle_sessions.KIND
    ]


def _asks(verdict: Verdict) -> bool:
    return verdict.action not in (Action.ALLOW, Action.FINALIZE) and verdict.cause is not Cause.NONE


def is_in_time(word: Word, by: dict[str, Any]) -> bool:
    """Whether a word comes at or before the deadline of a case."""
    if word.ts is not None:
        return bool(word.ts <= datetime.fromisoformat(by["time"]).timestamp() + 0.001)
    return bool(word.event <= by.get("message", by.get("line", 0)))


def cases(data: Path) -> Iterator[dict[str, Any]]:
    """Yields the cases that are about loops and ends."""
    table = json.loads((data / "incidents" / "expectations.json").read_text(encoding="utf-8"))
    yield from (case for case in table if case["family"] in FAMILIES)


def records(case: dict[str, Any], data: Path) -> list[Path]:
    """Returns the records of a case: the one that it names, or all where it is the whole folder."""
    main = data / "incidents" / case["id"] / case["main"]
    return [main] if main.is_file() else sorted(path for path in main.rglob("*.json*") if path.is_file())


def main() -> None:
    """Print and write every number."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--case", nargs="*", default=(), help="beginnings of cases")
    arguments = parser.parse_args()
    data = data_folder(arguments.data)
    counts: Counter[tuple[str, str]] = Counter()
    for case in cases(data):
        if arguments.case and not case["id"].startswith(tuple(arguments.case)):
            continue
        family, is_bad = case["family"], case["role"] == "bad"
        words, headlines, summaries = [], [], []
        for path in records(case, data):
            found, summary = words_of(path)
            words += found
            if summary is not None:
                headlines.append(summary.words)
                summaries.append(summary)
        words += idle_rows(summaries)
        in_time = is_bad and any(is_in_time(word, case["by"]) for word in words)
        counts[family, "incidents" if is_bad else "twins"] += 1
        counts[family, "spoken" if is_bad else "false"] += bool(words)
        counts[family, "in time"] += in_time
        mark = (
            ("in time" if in_time else "late" if words else "SILENT")
            if is_bad
            else "FALSE"
            if words
            else "ok"
        )
        first = ", ".join(f"{word.kind} {word.action.value} at {word.event}" for word in words[:4])
        print(f"{mark:8} {case['id'][:52]:52} {headlines[0] if headlines else '?':18} {first}")
    total = Counter({key: sum(counts[one, key] for one in FAMILIES) for _, key in list(counts)})
    for family, name in (*FAMILIES.items(), ("", "all")):
        row = total if not family else Counter({key: counts[family, key] for _, key in list(counts)})
        print(
            f"{name:26} spoken {row['spoken']} of {row['incidents']}, in time {row['in time']}, "
            f"false {row['false']} of {row['twins']}"
        )
    if not arguments.case:
        write_result("quality-incidents", {"setup": setup(), "all": dict(total)})


if __name__ == "__main__":
    main()
