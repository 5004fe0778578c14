"""`ebbtide demo` as a process."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from ebbtide.cli.runs.demo import demo_runs


def ebbtide(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    env = os.environ | {"NO_COLOR": "1", "COLUMNS": "120", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "ebbtide", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, env=env, cwd=cwd, timeout=120, check=False)


def test_each_run_is_what_its_name_says(tmp_path: Path) -> None:
    """Four runs, how each ended and how it went, the worst first; nothing is left behind."""
    process = ebbtide("demo", cwd=tmp_path)
    printed = process.stdout.decode()
    assert process.returncode == 0
    assert printed.startswith("4 runs: 1 STUCK, 2 FINISHED, 1 CONVERGED; $")
    verdicts = re.findall(r"^([A-Z]+(?:, [A-Z]+)?) +\d+ ", printed, re.MULTILINE)
    assert verdicts == ["STUCK", "FINISHED, NOISY", "FINISHED, HEALTHY", "CONVERGED, HEALTHY"]
    names = ["stuck.jsonl", "noisy-claude-code.jsonl", "healthy.jsonl", "converged.jsonl"]
    assert re.findall(r"[\w-]+\.jsonl", printed) == names
    assert list(tmp_path.iterdir()) == []


def test_the_runs_and_the_page_can_be_kept(tmp_path: Path) -> None:
    """--out keeps the runs, --html writes the page, and the next step is named."""
    process = ebbtide("demo", "--keep", "the runs", "--html", "report.html", cwd=tmp_path)
    assert process.returncode == 0
    assert sorted(path.name for path in (tmp_path / "the runs").iterdir()) == sorted(demo_runs())
    assert "CONVERGED" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert b"ebbtide check 'the runs/stuck.jsonl'" in process.stdout
    again = ebbtide("check", "the runs", cwd=tmp_path)
    assert again.stdout.splitlines()[0] == process.stdout.splitlines()[0]  # with what each run cost


def test_json_and_a_folder_that_cannot_be(tmp_path: Path) -> None:
    """With --json a run is a line; a folder that is a file gets a message."""
    summaries = [json.loads(line) for line in ebbtide("demo", "--json", cwd=tmp_path).stdout.splitlines()]
    assert {item["source"] for item in summaries} == set(demo_runs())
    (tmp_path / "taken").write_text("")
    process = ebbtide("demo", "--keep", "taken", cwd=tmp_path)
    assert process.returncode == 2
    assert b"taken" in process.stderr
