"""Baselines: what was accepted fails nothing, what is new does, and what is gone is reported."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STUCK = Path(__file__).parents[2] / "examples" / "runs" / "stuck.jsonl"
LOOP = {"kind": "tool", "name": "ls", "args": {"path": "."}, "result": "a b"}


def ebbtide(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"NO_COLOR": "1", "COLUMNS": "200", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "ebbtide", *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", env=env, timeout=120, check=False
    )


def lines(*events: dict[str, object]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A stuck run with a baseline of it."""
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "stuck.jsonl").write_bytes(STUCK.read_bytes())
    process = ebbtide(tmp_path, "check", "--fail-on", "nudge", "--write-baseline", "base.json", "runs")
    assert (process.returncode, process.stderr) == (0, "")
    return tmp_path


def entries(folder: Path) -> dict[tuple[str, str], int]:
    findings = json.loads((folder / "base.json").read_text())["findings"]
    return {(item["run"], item["rule"]): item["count"] for item in findings}


def test_what_is_known_fails_nothing(folder: Path) -> None:
    """It is shown as known, and counted; the verdict stays what it is."""
    assert set(entries(folder)) == {
        ("runs/stuck.jsonl", rule) for rule in ("cycle", "burn_without_progress", "spend_without_news")
    }
    check = ("check", "--baseline", "base.json", "--fail-on", "stuck", "--fail-on", "nudge")
    process = ebbtide(folder, *check, "runs/stuck.jsonl")
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.startswith("STUCK")
    assert process.stdout.count(" (known)") == 3
    assert process.stdout.endswith("3 findings known from base.json\n")
    assert ebbtide(folder, "check", "--fail-on", "stuck", "runs").returncode == 50
    wire = json.loads(ebbtide(folder, *check, "--json", "runs/stuck.jsonl").stdout)
    assert [finding["known"] for finding in wire["findings"]] == [True] * 3


def test_runs_are_named_from_the_folder_of_the_baseline(folder: Path) -> None:
    """Wherever the command runs, and however the run is named."""
    for place, run, base in (
        (folder / "runs", "stuck.jsonl", "../base.json"),
        (folder, str(folder / "runs" / "stuck.jsonl"), str(folder / "base.json")),
        (folder / "runs", ".", str(folder / "base.json")),
    ):
        assert ebbtide(place, "check", "--fail-on", "stuck", "--baseline", base, run).returncode == 0
    (folder / "runs" / "other.jsonl").write_bytes(STUCK.read_bytes())
    process = ebbtide(folder, "check", "--fail-on", "stuck", "--baseline", "base.json", "runs")
    assert process.returncode == 50
    assert "other.jsonl: --fail-on stuck" in process.stderr
    assert f"runs{os.sep}stuck.jsonl: --fail-on" not in process.stderr


def test_a_new_finding_fails_and_is_named(folder: Path) -> None:
    """Beside known ones: the reason is the new one."""
    path = folder / "runs" / "stuck.jsonl"
    path.write_text(path.read_text() + lines(*[LOOP] * 8))
    process = ebbtide(folder, "check", "--fail-on", "stop", "--baseline", "base.json", "runs/stuck.jsonl")
    assert process.returncode == 50
    assert "--fail-on stop: STUCK: ls 8 times in a row, same arguments, same result." in process.stderr
    assert process.stdout.count(" (known)") == 3


def test_as_many_are_known_as_were_accepted(tmp_path: Path) -> None:
    """A second loop of the same rule and tools is new, the earlier one is the known one."""
    other = LOOP | {"args": {"path": "/"}, "result": "b"}
    (tmp_path / "a.jsonl").write_text(lines(*[LOOP] * 8))
    assert ebbtide(tmp_path, "check", "--write-baseline", "base.json", "a.jsonl").returncode == 0
    assert entries(tmp_path) == {("a.jsonl", "repeat"): 1}
    (tmp_path / "a.jsonl").write_text(lines(*[LOOP] * 8, *[other] * 8))
    process = ebbtide(tmp_path, "check", "--json", "--fail-on", "stop", "--baseline", "base.json", "a.jsonl")
    assert process.returncode == 50
    known = {item["first_event"]: item["known"] for item in json.loads(process.stdout)["findings"]}
    assert known == {1: True, 9: False}


@pytest.mark.parametrize("condition", ["cost=1", "events=5", "limit"])
def test_what_a_baseline_does_not_cover(folder: Path, condition: str) -> None:
    """Amounts and limits hold."""
    command = ("check", "--max-steps", "3", "--fail-on", condition, "runs")
    assert ebbtide(folder, *command, "--baseline", "base.json").returncode == 50
    assert ebbtide(folder, *command, "--write-baseline", "new.json").returncode == 50


def test_what_is_gone_is_reported(folder: Path) -> None:
    """Where the run was checked, or its file is gone; of others nothing is known."""
    (folder / "runs" / "fine.jsonl").write_text(lines(LOOP))
    check = ("check", "--baseline", "base.json")
    assert ebbtide(folder, *check, "runs/fine.jsonl").stderr == ""
    (folder / "runs" / "stuck.jsonl").write_text(lines(LOOP))
    text = "base.json: 3 entries match no finding now: burn_without_progress in runs/stuck.jsonl; cycle of "
    assert text in ebbtide(folder, *check, "runs/stuck.jsonl").stderr
    (folder / "runs" / "stuck.jsonl").unlink()
    assert text in ebbtide(folder, *check, "runs/fine.jsonl").stderr


def _changed(**values: Any) -> Callable[[Path], None]:
    item = {"run": "a", "rule": "repeat", "tools": ["ls"], "count": 1} | values
    return lambda path: path.write_text(json.dumps({"schema": 1, "findings": [item]})) and None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (Path.exists, "No such file"),
        (lambda path: path.mkdir(), "directory"),
        (lambda path: path.write_text("{"), "not a baseline: "),
        (lambda path: path.write_bytes(b"\xff"), "not a baseline: "),
        (lambda path: path.write_text("[" * 100_000), "not a baseline"),
        (lambda path: path.write_text("[]"), "not a baseline: expected"),
        (lambda path: path.write_text('{"schema": 2, "findings": []}'), "not a baseline: expected"),
        (_changed(count=0), "findings[0]: expected run, rule, tools and count"),
        (_changed(count=True), "findings[0]"),
        (_changed(tools="ls"), "findings[0]"),
        (_changed(run=None), "findings[0]"),
    ],
)
def test_a_baseline_that_cannot_be_read(tmp_path: Path, make: Callable[[Path], object], message: str) -> None:
    """It is an error, before anything is checked."""
    make(tmp_path / "bad.json")
    process = ebbtide(tmp_path, "check", "--baseline", "bad.json", str(STUCK))
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr.startswith("ebbtide: bad.json: ")
    assert message in process.stderr


def test_a_baseline_in_the_settings_and_one_that_cannot_be_written(folder: Path) -> None:
    """The settings name it from their folder; writing into nowhere is an error."""
    (folder / "ebbtide.toml").write_text('fail-on = "stuck"\nbaseline = "base.json"\n')
    assert ebbtide(folder / "runs", "check", "stuck.jsonl").returncode == 0
    process = ebbtide(folder, "check", "--write-baseline", "no/where.json", "runs")
    assert process.returncode == 2
    assert "where.json: cannot be written: No such file or directory" in process.stderr


def test_a_run_that_ended_in_known_loops_passes_and_one_that_failed_does_not(folder: Path) -> None:
    """The loops are what a run ended STUCK in; that it gave up is no finding, so no baseline accepts it."""
    loop = [LOOP] * 12
    gave_up = {"kind": "llm", "name": "message", "text": "I was unable to list the folder, so I give up."}
    (folder / "runs" / "failed.jsonl").write_text(lines(*loop, gave_up))
    ebbtide(folder, "check", "--write-baseline", "base.json", "runs")
    check = ("check", "--baseline", "base.json")
    stuck = ebbtide(folder, *check, "--fail-on", "stuck", "runs")
    assert (stuck.returncode, "1 STUCK" in stuck.stdout) == (0, True)
    failed = ebbtide(folder, *check, "--fail-on", "failed", "runs")
    assert (failed.returncode, failed.stderr.count("--fail-on failed")) == (50, 1)


def test_what_is_written_is_not_called_known_before(tmp_path: Path) -> None:
    """The call that writes the findings says so; the next one knows them."""
    write = ebbtide(tmp_path, "check", "--write-baseline", "base.json", str(STUCK))
    assert write.stdout.endswith("wrote 3 findings to base.json\n")
