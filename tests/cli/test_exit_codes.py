"""Each command ends with each of its exit codes; the table of the docs and the help say when."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from array import array
from contextlib import closing
from fcntl import ioctl
from pathlib import Path
from termios import FIONREAD

import click
import pytest

from ebbtide.cli.app import root
from ebbtide.cli.result import EVERY_EXIT, Exit

EXAMPLES = Path(__file__).parents[2] / "examples"
STUCK, HEALTHY = "runs/stuck.jsonl", "runs/healthy.jsonl"
SHIPS, ESCALATES = "calibration/exact-repeat.json", "calibration/blocker-present.json"
GOES_ON = "calibration/high-novelty-low-readiness.json"
CHOICE = "Use SQLite for the decision log because there is one writer"
NOISE = "The task is done."
GONE = "absent.jsonl"

# Command lines by command and exit code; KEPT, OPEN and REFUSED are ids of decisions, NEW is a file to write.
LINES = {
    "check": {0: f"check {STUCK}", 2: f"check {GONE}", 50: f"check --fail-on stuck {STUCK}"},
    "advice": {0: "advice", 2: "advice --undo none"},
    "archive check": {
        0: f"archive check {STUCK} -o ROWS",
        2: f"archive check {GONE} -o ROWS",
        51: f"archive check {STUCK} BROKEN -o ROWS",
    },
    "archive calibrate": {
        0: "archive calibrate RESULTS --outcomes OUTCOMES --outcome solved",
        2: "archive calibrate RESULTS --outcomes OUTCOMES --outcome absent",
        51: f"archive calibrate {STUCK} BROKEN --outcomes OUTCOMES --outcome solved",
    },
    "archive report": {0: "archive report RESULTS", 2: f"archive report {STUCK}"},
    "watch": {0: f"watch --until-end {STUCK}", 2: f"watch {GONE}"},
    "run": {0: "run true", 2: "run no-such-agent", 60: "run --stop PYTHON AGENT loop 500"},
    "acp": {0: "acp true", 2: "acp no-such-agent"},
    "demo": {0: "demo", 2: f"demo --keep {STUCK}"},
    "loops": {0: f"loops {HEALTHY}", 2: "loops runs", 30: f"loops {STUCK}"},
    "doctor": {0: "doctor", 2: f"doctor --tools {GONE}", 30: "doctor --profile SILENT"},
    "hooks install": {0: "hooks install claude", 2: "hooks install codex --stop"},
    "hooks uninstall": {0: "hooks uninstall gemini", 2: "hooks uninstall aider"},
    "hooks status": {0: "hooks status", 2: "hooks status more"},
    "hooks serve": {0: "hooks serve --idle 0", 2: "hooks serve more"},
    "serve": {0: "serve --idle 0 --port 0 --no-sessions", 2: "serve --host 0.0.0.0"},
    "statusline": {0: "statusline", 2: "statusline more"},
    "budgets list": {0: "budgets list --budgets BUDGETS", 2: "budgets list"},
    "budgets approve": {0: "budgets approve all:total --budgets BUDGETS", 2: "budgets approve"},
    "budgets extend": {
        0: "budgets extend all:total --add 1 --budgets BUDGETS",
        2: "budgets extend all:day --add 1 --budgets BUDGETS",
    },
    "budgets reset": {
        0: "budgets reset all:total --budgets BUDGETS",
        2: f"budgets reset all --budgets {GONE}",
    },
    "trust": {0: "trust --list", 2: f"trust {GONE}"},
    "score": {0: f"score {SHIPS} {ESCALATES}", 2: f"score {SHIPS} {GONE}"},
    "stop": {0: f"stop {GOES_ON}", 2: "stop", 10: f"stop {SHIPS}", 20: f"stop {ESCALATES}"},
    "extract": {0: "extract conversations/brainstorming.txt", 2: f"extract {STUCK}"},
    "calibrate": {0: f"calibrate {SHIPS}", 2: f"calibrate {SHIPS} --output NEW"},
    "formats": {0: "formats", 2: "formats more"},
    "schema": {0: "schema", 2: "schema more"},
    "decisions stats": {0: "decisions stats", 2: "decisions stats --log absent.db"},
    "decisions audit": {0: "decisions audit", 2: "decisions audit --profile none"},
    "decisions restore": {0: "decisions restore REFUSED", 2: "decisions restore"},
    "decisions purge": {0: "decisions purge --before 1d", 2: "decisions purge"},
    "decisions verify": {
        0: "decisions verify",
        2: f"decisions verify --heads {GONE}",
        41: "decisions verify --log CHANGED",
    },
    "decisions calibration": {0: "decisions calibration", 2: "decisions calibration --log absent.db"},
    "decisions export": {0: "decisions export", 2: "decisions export --format madr"},
    "decisions import": {
        0: "decisions import --fields description=decision decisions/old-log.csv",
        2: f"decisions import {GONE}",
    },
    "decisions from": {0: "decisions from decisions/conversation.json", 2: "decisions from runs"},
    "decisions record": {
        0: ("decisions record", "Serve the archive from the object store because disks are full"),
        2: "decisions record",
        40: ("decisions record", NOISE),
    },
    "decisions think": {0: "decisions think OPEN thought", 2: "decisions think absent thought"},
    "decisions review": {0: "decisions review KEPT success", 2: "decisions review KEPT sucess"},
    "decisions amend": {0: "decisions amend KEPT --link LINK", 2: "decisions amend KEPT"},
    "decisions list": {0: "decisions list", 2: "decisions list --cursor absent"},
    "decisions show": {0: "decisions show KEPT", 2: "decisions show absent"},
}
STDIN = {"statusline": '{"session_id": "s"}'}
CASES = [(name, code) for name, codes in LINES.items() for code in codes]


def command_of(name: str) -> click.Command:
    command: click.Command = root
    for part in name.split():
        assert isinstance(command, click.Group)
        inside = command.get_command(click.Context(command), part)
        assert inside is not None
        command = inside
    return command


@pytest.fixture
def words(here, tmp_path: Path) -> dict[str, str]:
    """What stands for the words in capitals: a log with decisions, a changed one, a plan, and settings."""
    ids = {
        "KEPT": ("record", CHOICE),
        "OTHER": ("record", "Keep decisions in PostgreSQL because there are many writers now"),
        "REFUSED": ("record", NOISE),
        "OPEN": ("record", "Where do jobs wait for a worker?", "--open"),
    }
    names = {word: json.loads(here("decisions", *line, "--json").output)["id"] for word, line in ids.items()}
    changed, silent, plan = tmp_path / "changed.db", tmp_path / "silent.toml", tmp_path / "plan.json"
    here("decisions", "record", CHOICE, "--log", changed)
    with closing(sqlite3.connect(changed)) as database, database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        events = next(name for name in tables if name.endswith("events"))
        database.execute(f"UPDATE {events} SET body = replace(body, 'SQLite', 'a file')")  # noqa: S608
    database.close()
    silent.write_text("[divergence]\ncondensations = 100000\n")
    here("decisions", "audit", "--output", plan)
    session = Path.home() / ".claude" / "projects" / "-shop" / "session.jsonl"
    session.parent.mkdir(parents=True)
    session.write_text(
        json.dumps({"type": "user", "sessionId": "s", "message": {"content": "Test it."}}) + "\n"
    )
    budgets = tmp_path / "budgets.toml"
    budgets.write_text("[budgets]\nstore = 'spent.db'\n[[budgets.limits]]\nscope = 'all'\nlimit_usd = 1\n")
    files = {"CHANGED": changed, "SILENT": silent, "PLAN": plan, "NEW": tmp_path / "new.toml"}
    files["BUDGETS"] = budgets
    files |= {
        "PYTHON": Path(sys.executable),
        "AGENT": Path(__file__).parent / "wrapper" / "scripted_agent.py",
    }
    files["ROWS"] = tmp_path / "results.parquet"
    files["BROKEN"] = tmp_path / "broken.jsonl"
    files["BROKEN"].write_text("{")
    files["RESULTS"] = tmp_path / "checked.parquet"
    here("archive", "check", STUCK, "-o", files["RESULTS"])
    files["OUTCOMES"] = tmp_path / "outcomes.csv"
    files["OUTCOMES"].write_text(f"run_id,solved\n{STUCK},false\nbroken,true\n")
    return (
        names | {word: str(path) for word, path in files.items()} | {"LINK": f"depends_on={names['OTHER']}"}
    )


@pytest.mark.parametrize(("name", "code"), CASES, ids=[f"{name} {code}" for name, code in CASES])
def test_a_command_ends_with_its_code(here, words: dict[str, str], name: str, code: int) -> None:
    """What it prints has no trailing blank, and what it says of a fault is a sentence."""
    line = LINES[name][code]
    text, *last = (line,) if isinstance(line, str) else line
    ended = here(*(words.get(word, word) for word in text.split()), *last, stdin=STDIN.get(name, ""))
    assert ended.code == code, ended.message
    assert not re.search(r"[ \t]$", ended.output, re.MULTILINE)
    if code == Exit.BAD_INPUT:
        assert ended.message


def test_every_code_of_every_command_has_a_line() -> None:
    """Of those that a command line can bring about; a signal and a closed pipe are below."""
    declared = {name: set(command_of(name).exits) - {Exit.INTERRUPTED} for name in LINES}  # type: ignore[attr-defined]
    assert {name: set(codes) for name, codes in LINES.items()} == declared


WAITING = ["check", "watch", "loops", "score", "stop", "extract", "calibrate"]
WAITING += [f"decisions {name}" for name in ("import", "from", "record")]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child there")
@pytest.mark.parametrize("name", WAITING)
def test_ctrl_c(name: str, tmp_path: Path) -> None:
    """130, in one line."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ebbtide", *name.split(), "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"XDG_DATA_HOME": str(tmp_path)},
    )
    wait_until_it_reads(process)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=60)
    assert process.returncode == Exit.INTERRUPTED
    assert message.decode().strip() == "ebbtide: interrupted"


def wait_until_it_reads(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has taken a byte from its standard input, so that it waits for the next."""
    assert process.stdin is not None
    process.stdin.write(b" ")
    process.stdin.flush()
    deadline = time.monotonic() + 60
    waiting = array("i", [1])
    while waiting[0] and time.monotonic() < deadline:
        time.sleep(0.02)
        ioctl(process.stdin.fileno(), FIONREAD, waiting)
    assert process.poll() is None


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipes there")
@pytest.mark.parametrize("line", ["formats", f"check --all {STUCK}", "schema", "check --help"])
def test_a_reader_that_goes_away(line: str) -> None:
    """141, without a word."""
    command = f"{sys.executable} -m ebbtide {line} | true; exit ${{PIPESTATUS[0]}}"
    process = subprocess.run(
        ["bash", "-c", command], cwd=EXAMPLES, capture_output=True, timeout=60, check=False
    )
    assert (process.returncode, process.stderr) == (Exit.PIPE_CLOSED, b"")


def test_the_table_of_the_reference_is_what_the_commands_declare(project: Path) -> None:
    """A row a code and command; `all` is what holds where a command says nothing else."""
    page = (project / "docs" / "reference.md").read_text(encoding="utf-8")
    section = page.partition("## Exit codes")[2].partition("\n## ")[0]
    rows = [
        (int(code), owner.replace("`", ""), text)
        for code, owner, text in re.findall(r"^\| (\d+) \| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    ]
    declared = [(int(code), "all", text) for code, text in EVERY_EXIT.items()]
    declared += [
        (int(code), name, text)
        for name in LINES
        for code, text in command_of(name).exits.items()  # type: ignore[attr-defined]
        if EVERY_EXIT.get(code) != text
    ]
    assert {row for row in rows if row[0] != Exit.PIPE_CLOSED} == set(declared)
    assert {code for code, _, _ in rows} == set(Exit)
