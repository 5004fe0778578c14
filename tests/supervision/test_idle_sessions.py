"""Loops over sessions: a program that starts an agent again and again, and nothing is done."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ebbtide.checking import check
from ebbtide.supervision.summary.idle_sessions import SessionSpan, idle_sessions

BEGAN = 1_780_000_000.0
REQUEST = "Work on the next item of PLAN.md, and say when all of it is done."


def spans(count: int, *, every_s: float = 40.0, lasts_s: float = 30.0, **fields: object) -> list[SessionSpan]:
    first = SessionSpan("s0", "/p", REQUEST, BEGAN, BEGAN + lasts_s, 0, 0.25)._replace(**fields)
    began = first.began_s or 0.0
    return [
        first._replace(
            source=f"s{number}", began_s=began + number * every_s, ended_s=began + number * every_s + lasts_s
        )
        for number in range(count)
    ]


def worked(rows: list[SessionSpan], *places: int) -> list[SessionSpan]:
    return [row._replace(deeds=1) if place in places else row for place, row in enumerate(rows)]


SCENARIOS: dict[str, tuple[list[SessionSpan], list[int]]] = {
    "twelve that did nothing": (spans(12), [12]),
    "in any order of the files": (spans(12)[::-1], [12]),
    "three are none": (spans(3), []),
    "work in each": (worked(spans(12), *range(12)), []),
    "work in the sixth": (worked(spans(12), 5), [5, 6]),
    "a job on a schedule": (spans(12, every_s=3_600.0), []),
    "another request each": (
        [row._replace(title=f"Fix issue {place}") for place, row in enumerate(spans(12))],
        [],
    ),
    "no request is recorded": (spans(12, title=""), []),
    "nobody knows what it did": (spans(12, deeds=None), []),
    "no times": ([row._replace(began_s=None, ended_s=None) for row in spans(12)], []),
    "two projects in step": (spans(6) + spans(6, project="/q"), [6, 6]),
    "many at the same time": (spans(12, every_s=1.0, lasts_s=600.0), []),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_sessions_in_a_row(name: str) -> None:
    """As soon as one has ended the next begins, with the same request, and none does anything."""
    rows, expected = SCENARIOS[name]
    assert [loop.sessions for loop in idle_sessions(rows)] == expected


def session(folder: Path, number: int, *, edits: bool) -> Path:
    """A session of Claude Code of 20 s, half a minute after the one before."""
    path = folder / f"{number:08}-0000-4000-8000-000000000000.jsonl"
    name, value = (
        ("Edit", {"file_path": "/p/PLAN.md", "old_string": f"{number}", "new_string": "done"})
        if edits
        else ("Read", {"file_path": "/p/PLAN.md"})
    )
    call = {"type": "tool_use", "id": f"t{number}", "name": name, "input": value}
    answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "The file has been updated."}
    messages = [
        ("user", REQUEST),
        ("assistant", [call]),
        ("user", [answer]),
        ("assistant", [{"type": "text", "text": "All of it is done."}]),
    ]
    with path.open("w") as file:
        for place, (role, content) in enumerate(messages):
            at = datetime.fromtimestamp(BEGAN + number * 30 + place * 5, UTC).isoformat()
            message = {"role": role, "content": content}
            if role == "assistant":
                usage = {"input_tokens": 10, "output_tokens": 5}
                message |= {"id": f"m{number}{place}", "model": "claude-sonnet-4-5", "usage": usage}
            before = f"u{number}-{place - 1}" if place else None
            line = {"type": role, "uuid": f"u{number}-{place}", "parentUuid": before, "timestamp": at}
            file.write(json.dumps({**line, "sessionId": path.stem, "cwd": "/p", "message": message}) + "\n")
    return path


@pytest.mark.parametrize("edits", [False, True])
def test_check_says_how_many_sessions_did_nothing(tmp_path: Path, edits: bool) -> None:
    """Twelve sessions of one project, in a folder."""
    files = [session(tmp_path, number, edits=edits) for number in range(12)]
    summaries = [check(str(file)) for file in files]
    assert {summary.facts.deeds for summary in summaries} == {int(edits)}
    line = [sys.executable, "-m", "ebbtide", "check", str(tmp_path)]
    environment = {**os.environ, "COLUMNS": "200"}
    output = subprocess.run(line, env=environment, capture_output=True, encoding="utf-8", check=True).stdout
    assert ("12 sessions in a row did nothing" in output) is not edits
    output = subprocess.run([*line, "--json"], capture_output=True, encoding="utf-8", check=True).stdout
    lines = (line for line in map(json.loads, output.splitlines()) if "source" in line)
    runs = sorted(lines, key=lambda run: run["source"])
    numbers = [
        [item["copies"] for item in run["findings"] if item["kind"] == "idle_sessions"] for run in runs
    ]
    assert numbers == ([[]] * 12 if edits else [[], [], [], *([number] for number in range(4, 13))])
    line += ["--ignore", "idle_sessions", "--json"]
    output = subprocess.run(line, capture_output=True, encoding="utf-8", check=True).stdout
    assert "idle_sessions" not in output
