"""`ebbtide watch` as a process: changes as they come, commands on them, and the summary."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "runs"
STUCK, HEALTHY = EXAMPLES / "stuck.jsonl", EXAMPLES / "healthy.jsonl"
ENV = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}


def ebbtide(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "ebbtide", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, env=ENV, timeout=120, check=False)


def started(*arguments: str | Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "ebbtide", "watch", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)


def until(there: Callable[[], bool]) -> None:
    for _ in range(600):
        if there():
            return
        time.sleep(0.1)
    pytest.fail("it did not come")


def test_a_line_a_change_and_the_summary() -> None:
    """On standard input each change is a line with its event; the end brings the first screen of check."""
    process = ebbtide("watch", "-", stdin=STUCK.read_bytes())
    printed = process.stdout.decode().splitlines()
    assert process.returncode == 0
    assert "NUDGE" in printed[0]
    assert any(line.startswith("event ") and "STOP" in line for line in printed)
    assert any(line.startswith("STUCK") for line in printed)


def test_a_healthy_run_changes_nothing() -> None:
    """Without a change there is the summary alone."""
    process = ebbtide("watch", HEALTHY, "--until-end")
    assert process.stdout.startswith(b"HEALTHY")


def test_json_lines() -> None:
    """For machines a change is an object, with what was spent up to it, and the summary is the last."""
    process = ebbtide("watch", "--json", "-", stdin=STUCK.read_bytes())
    *changes, last = map(json.loads, process.stdout.splitlines())
    assert {item["type"] for item in changes} == {"verdict"}
    assert [item["event"] for item in changes] == [item["spent"]["events"] for item in changes]
    assert (last["type"], last["verdict"]["action"]) == ("summary", "stop")


def test_a_command_gets_the_verdict(tmp_path: Path) -> None:
    """--on runs the command once a change that it waits for: JSON on standard input, and variables."""
    note, name_file = tmp_path / "told.json", tmp_path / "named"
    command = f'cat >> "{note}"; echo "$EBBTIDE_ACTION $EBBTIDE_EVENT" >> "{name_file}"'
    process = ebbtide("watch", STUCK, "--until-end", "--on", "stop", command)
    assert process.returncode == 0
    wire = json.loads(note.read_text())
    assert (wire["action"], wire["source"]) == ("stop", str(STUCK))
    assert wire["event"] == wire["spent"]["events"]
    assert name_file.read_text() == f"stop {wire['event']}\n"


def test_a_command_that_fails_is_said_and_ends_nothing() -> None:
    """The watch goes on, and standard output stays its own."""
    process = ebbtide("watch", "-", "--on", "change", "echo noise; exit 7", stdin=STUCK.read_bytes())
    assert process.returncode == 0
    assert b"exit code 7" in process.stderr
    assert b"noise" not in process.stdout
    assert b"STUCK" in process.stdout


def test_a_rung_that_does_not_exist() -> None:
    """A misspelt rung is an error at the start."""
    process = ebbtide("watch", STUCK, "--until-end", "--on", "stopp", "true")
    assert process.returncode == 2
    assert b"expected allow, nudge" in process.stderr


def test_a_file_that_grows(tmp_path: Path) -> None:
    """What is there at the start is the past; what comes is told when it comes, also after a new start."""
    file, note = tmp_path / "run.jsonl", tmp_path / "told"
    events = STUCK.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(events[:3]))
    watch = started(file, "--idle", "4", "--on", "stop", f'echo stop >> "{note}"')
    with file.open("ab") as end:
        for event in events[3:]:
            end.write(event[:20])
            end.flush()
            end.write(event[20:])
            end.flush()
        until(note.exists)
    out, err = watch.communicate(timeout=60)
    assert watch.returncode == 0, err
    assert note.read_text() == "stop\n"
    assert b"STUCK" in out


def test_the_past_of_a_file_runs_the_command_once(tmp_path: Path) -> None:
    """A file that is stuck already runs the command for what stands, not for each change of its past."""
    note = tmp_path / "told"
    process = ebbtide("watch", STUCK, "--idle", "0", "--on", "change", f'echo "$EBBTIDE_ACTION" >> "{note}"')
    assert process.returncode == 0
    assert note.read_text() == "stop\n"


def test_a_file_that_is_written_anew(tmp_path: Path) -> None:
    """A replaced file begins a new run, and that is said."""
    file = tmp_path / "run.jsonl"
    file.write_bytes(STUCK.read_bytes())
    watch = started(file, "--idle", "3", "--json")
    assert watch.stdout is not None
    first = watch.stdout.readline()
    assert json.loads(first)["type"] == "verdict"
    newer = tmp_path / "newer"
    newer.write_bytes(HEALTHY.read_bytes())
    newer.replace(file)
    out, err = watch.communicate(timeout=60)
    assert b"was replaced: watching the new run" in err
    assert json.loads(out.splitlines()[-1])["verdict"]["action"] == "allow"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child there")
def test_ctrl_c_ends_with_the_summary(tmp_path: Path) -> None:
    """An interrupt is the ordinary end of a watch."""
    note = tmp_path / "told"
    watch = started(STUCK, "--on", "stop", f'echo stop >> "{note}"')
    until(note.exists)
    watch.send_signal(signal.SIGINT)
    out, err = watch.communicate(timeout=60)
    assert watch.returncode == 0, err
    assert b"STUCK" in out
    assert b"Traceback" not in err


def test_escape_sequences_never_reach_the_terminal() -> None:
    """What a trace says is shown without its controls."""
    evil = "\x1b[2J\x07\u202e"
    event = json.dumps({"kind": "tool", "name": f"ls{evil}", "args": {"p": evil}, "result": evil}).encode()
    process = ebbtide("watch", "-", stdin=(event + b"\n") * 16)
    assert b"STOP" in process.stdout
    assert not {0x1B, 0x07} & set(process.stdout)
    assert "\u202e" not in process.stdout.decode()


@pytest.mark.parametrize("arguments", [("-",), ("missing.jsonl", "--until-end")])
def test_nothing_to_watch(arguments: tuple[str, ...]) -> None:
    """An empty input and a missing file get a message."""
    process = ebbtide("watch", *arguments)
    assert process.returncode == 2
    assert process.stderr.startswith(b"ebbtide: ")
    assert b"Traceback" not in process.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_a_terminal_gets_a_screen_and_a_bell() -> None:
    """On a terminal the run is drawn, the bell rings at a change, and the summary stays."""
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "ebbtide", "watch", str(STUCK), "--until-end"]
    watch = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower, env=ENV | {"TERM": "xterm"}
    )
    os.close(follower)
    printed = b""
    while True:
        try:
            data = os.read(leader, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not data:
            break
        printed += data
    os.close(leader)
    assert watch.wait(timeout=60) == 0
    assert b"\x07" in printed
    assert b"STUCK" in printed
    assert b"in turn, 11 times" in printed
