"""`ebbtide loops` and `ebbtide doctor` as processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "runs"


def ebbtide(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    env = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "ebbtide", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, env=env, timeout=60, check=False)


def test_a_loop_is_told_with_its_events_and_its_cost() -> None:
    """The costliest loop comes first, with its range, its turns and what it cost; the exit code is 30."""
    process = ebbtide("loops", EXAMPLES / "stuck.jsonl")
    printed = process.stdout.decode()
    assert process.returncode == 30
    assert "cycle, events 4-25" in printed
    assert "web_search and web_fetch in turn, 11 times, same results, $1.54" in printed
    assert "ABC" in printed


def test_a_healthy_run_has_none() -> None:
    """Work that repeats calls with new answers and landed changes ends with 0."""
    process = ebbtide("loops", EXAMPLES / "healthy.jsonl")
    assert (process.returncode, process.stdout.decode().splitlines()[0]) == (0, "No loop in 24 events")


def test_json_has_the_findings_of_check() -> None:
    """For machines: the loops, each as `ebbtide check` finds it."""
    stuck = (EXAMPLES / "stuck.jsonl").read_bytes()
    loops = json.loads(ebbtide("loops", "--json", "-", stdin=stuck).stdout)
    checked = json.loads(ebbtide("check", "--json", "-", stdin=stuck).stdout)
    assert loops["degraded"] == 0
    assert loops["loops"] == [
        finding for finding in checked["findings"] if finding["cause"] in ("divergence", "spending")
    ]
    assert loops["loops"][0]["action"] == "stop"


def test_a_declared_poller_is_no_loop(tmp_path: Path) -> None:
    """What is declared about a tool counts."""
    events = tmp_path / "poll.jsonl"
    line = json.dumps({"kind": "tool", "name": "job_status", "args": {"id": 7}, "result": "part 3 of 9"})
    events.write_text(f"{line}\n" * 5)
    assert ebbtide("loops", events).returncode == 30
    tools = tmp_path / "tools.toml"
    tools.write_text('[tools."*_status"]\neffect = "poll"\n')
    assert ebbtide("loops", "--tools", tools, events).returncode == 0


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty"),
        (b"hello", "in a known format"),
        (b"[]", "no events"),
        (b'[{"kind": "tool", "name": 3}]', "events[0].name"),
    ],
)
def test_bad_events_get_a_message(content: bytes, expected: str) -> None:
    """What is wrong and where, without a traceback."""
    process = ebbtide("loops", "-", stdin=content)
    message = process.stderr.decode()
    assert process.returncode == 2
    assert expected in message
    assert "Traceback" not in message


def test_an_event_that_cannot_be_read_is_named() -> None:
    """The others are read; what is wrong with it, and where, stands below them."""
    process = ebbtide("loops", "-", stdin=b'{"kind": "tool", "name": "a"}\n{"kind": "tool"}\n')
    assert process.returncode == 0
    assert "1 event not read in full: <stdin>:2" in process.stdout.decode()


def test_doctor_fires_every_detector() -> None:
    """A healthy configuration ends with 0; one that switches a detector off ends with 30 and names it."""
    assert ebbtide("doctor").returncode == 0
    checks = json.loads(ebbtide("doctor", "--json").stdout)
    assert {check["wiring"] for check in checks} == {"fires", "off"}


def test_doctor_names_a_silent_detector(tmp_path: Path) -> None:
    """A threshold that is never reached shows."""
    own = tmp_path / "own.toml"
    own.write_text("[divergence]\ncondensations = 100000\n")
    process = ebbtide("doctor", "--profile", own)
    assert process.returncode == 30
    assert "silent" in process.stdout.decode()


def test_doctor_counts_its_tests_and_explains_their_results() -> None:
    """Below the table, for those results that are in it."""
    table, _, below = ebbtide("doctor").stdout.decode().partition("\n\n")
    fires, off = table.count("  fires"), table.count("  off")
    total, *legend = below.splitlines()
    assert total == f"{fires + off} tests: {fires} fires, {off} off."
    assert legend[0].startswith("fires: the known loop was reported")
    assert "silent:" not in below
