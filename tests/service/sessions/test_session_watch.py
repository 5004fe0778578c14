"""What coding agents write on this machine becomes runs: each event once, whatever happens."""

import json
import os
import shutil
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ebbtide import Budgets
from ebbtide.budget.prices import Prices
from ebbtide.checking import check
from ebbtide.events.event import ToolCall
from ebbtide.service.runs.listing import RunFilter, SpendingBy, list_runs, spending
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.service.runs.run_event import RunEvent
from ebbtide.service.sessions.session_watch import SessionWatch
from ebbtide.supervision.run_options import RunOptions

SAMPLES = Path(__file__).parents[2] / "traces" / "samples"
HOUR = 3600.0


class Machine:
    """A home with sessions, a service that reads them, and a clock that is moved by hand."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = time.time()
        self.told: list[tuple[str, str]] = []
        self.counted: list[RunEvent] = []
        self.start()

    def start(self) -> None:
        limits = [{"scope": "all", "per": "day", "limit_usd": 100.0}]
        self.budgets = Budgets.from_dict({"store": "memory", "limits": limits})
        self.runs = LiveRuns(
            RunDatabase(self.folder / "runs.db"), budgets=self.budgets, clock=lambda: self.now
        )
        self.runs.on_events.append(lambda events, _: self.counted.extend(events))
        self.runs.on_verdict.append(lambda run_id, verdict: self.told.append((run_id, verdict.action.value)))
        environment = {
            "CLAUDE_CONFIG_DIR": str(self.folder / "claude"),
            "CODEX_HOME": str(self.folder / "codex"),
            "GEMINI_CLI_HOME": str(self.folder / "gemini"),
            "XDG_DATA_HOME": str(self.folder / "data"),
            "MSWEA_GLOBAL_CONFIG_DIR": str(self.folder / "mini"),
        }
        self.watch = SessionWatch(self.runs, environment, clock=lambda: self.now)

    def end(self) -> None:
        self.watch.close()
        self.runs.close()

    def look(self) -> list[dict[str, Any]]:
        """Look once more, some time later; the runs, the worst first."""
        self.now += 6.0
        while self.watch.look():
            pass
        self.runs.database.flush().result()
        return list_runs(self.runs.database, RunFilter())[0]

    def claude(self, name: str = "s", *, below: str = "") -> Path:
        path = self.folder / "claude" / "projects" / "-srv-shop" / below / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def say(self, path: Path, first: int, count: int, *, session: str = "s", age_s: float = 0.0) -> None:
        """Go on with a session of Claude Code: the same command, with the same answer."""
        at = datetime.fromtimestamp(self.now - age_s, UTC).isoformat().replace("+00:00", "Z")
        head = {"sessionId": session, "cwd": "/srv/shop", "timestamp": at, "isSidechain": False}
        with path.open("a", encoding="utf-8") as file:
            for number in range(first, first + count):
                use = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "ls"}}
                answer = {
                    "id": f"m{number}", "role": "assistant", "model": "claude-sonnet-4-5", "content": [use],
                    "usage": {"input_tokens": 1000, "output_tokens": 100},
                }  # fmt: skip
                result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "a.txt"}
                for line in (
                    {"type": "assistant", "uuid": f"a{number}", "message": answer, **head},
                    {
                        "type": "user",
                        "uuid": f"u{number}",
                        "message": {"role": "user", "content": [result]},
                        **head,
                    },
                ):
                    file.write(json.dumps(line) + "\n")


@pytest.fixture
def machine(tmp_path: Path):
    machine = Machine(tmp_path)
    yield machine
    machine.end()


def test_a_session_becomes_a_run_that_grows(machine) -> None:
    path = machine.claude()
    machine.say(path, 1, 2)
    (run,) = machine.look()
    assert (run["run_id"], run["agent"], run["project"], run["source"], run["can_stop"]) == (
        "claude:s", "claude", "/srv/shop", "session file", False,
    )  # fmt: skip
    events = run["events"]
    assert events >= 3
    assert run["cost_usd"] > 0
    machine.say(path, 3, 2)
    (run,) = machine.look()
    assert run["events"] == events + 4
    assert machine.look() == [run]


def test_a_loop_is_found_and_told_once(machine) -> None:
    path = machine.claude()
    for number in range(1, 12):
        machine.say(path, number, 1)
        machine.look()
    (run,) = machine.look()
    assert run["action"] == "stop"
    assert run["stuck_since"] is not None
    assert [told for told in machine.told if told[1] == "stop"] == [("claude:s", "stop")]


def test_what_is_past_is_shown_and_not_told(machine) -> None:
    path = machine.claude()
    machine.say(path, 1, 11, age_s=2 * HOUR)
    (run,) = machine.look()
    assert run["action"] == "stop"
    assert run["latest"] == pytest.approx(machine.now - 2 * HOUR, abs=60)
    assert (machine.told, machine.counted) == ([], [])
    assert [standing.spent_usd for standing in machine.budgets.standings()] in ([], [0.0])
    machine.say(path, 12, 1)
    machine.look()
    assert len(machine.counted) == 2
    assert [standing.spent_usd for standing in machine.budgets.standings()] == [pytest.approx(0.0045)]


def test_a_session_of_long_ago_is_left_out(machine) -> None:
    path = machine.claude()
    machine.say(path, 1, 1)
    os.utime(path, (machine.now - 8 * 24 * HOUR,) * 2)
    assert machine.look() == []


@pytest.mark.parametrize("changed", [False, True])
def test_a_restart_takes_nothing_twice(machine, changed: bool) -> None:
    path = machine.claude()
    machine.say(path, 1, 3)
    (before,) = machine.look()
    machine.end()
    if changed:
        machine.say(path, 4, 1)
    machine.start()
    (run,) = machine.look()
    assert run["events"] == before["events"] + 2 * changed
    assert run["cost_usd"] == pytest.approx(before["cost_usd"] * (4 if changed else 3) / 3)


def test_a_line_that_is_half_there_waits(machine) -> None:
    path = machine.claude()
    machine.say(path, 1, 2)
    text = path.read_bytes()
    path.write_bytes(text[:-40])
    (before,) = machine.look()
    path.write_bytes(text)
    (run,) = machine.look()
    assert (before["events"], run["events"]) == (3, 4)


@pytest.mark.parametrize("ends", ["never", "stopped", "killed"])
@pytest.mark.parametrize("pieces", [1, 3, 7, 40])
def test_a_session_at_rest_has_the_bill_of_its_file(machine, pieces: int, ends: str) -> None:
    """However it grew, and whatever happened to the service meanwhile."""
    path = machine.claude()
    lines = (SAMPLES / "claude_code.jsonl").read_bytes().splitlines(keepends=True)
    text = (
        b"".join(lines)
        .replace(b"claude-opus", b"claude-sonnet-4-5")
        .replace(b"claude-haiku", b"claude-haiku-4-5")
    )
    text = text.rstrip(b"\n") if pieces == 7 else text  # not every writer ends its last line
    for piece in range(1, pieces + 1):
        path.write_bytes(text[: len(text) * piece // pieces])
        machine.look()
        if ends == "killed":
            # Nothing says any more how far the file was read.
            machine.runs.database.write(lambda session: session.run("DELETE FROM session_files"))
        if ends != "never":
            machine.end()
            machine.start()
    (run,) = machine.look()
    whole = check(path, RunOptions(prices=Prices())).spent
    assert (run["tokens"], run["cost_usd"]) == (whole.tokens.total, pytest.approx(whole.cost_usd, abs=1e-9))
    groups = spending(machine.runs.database, SpendingBy.MODEL, None)
    assert sum(group["tokens"] for group in groups) == whole.tokens.total
    assert sum(group["model_calls"] for group in groups) == whole.llm_calls


def test_a_sub_agent_counts_with_its_session(machine) -> None:
    machine.say(machine.claude(), 1, 1)
    machine.say(machine.claude("agent-x", below="s/subagents"), 1, 2)
    (run,) = machine.look()
    assert run["run_id"] == "claude:s"
    assert run["events"] == 3 * 2


def test_what_hooks_report_is_left_to_them(machine) -> None:
    machine.runs.record("claude:s", ToolCall(name="Bash", args={"command": "ls"}, result="a"))
    machine.say(machine.claude(), 1, 5)
    (run,) = machine.look()
    assert (run["source"], run["events"]) == ("hooks", 1)


def test_hooks_take_a_session_over(machine) -> None:
    """From then on it can be stopped, and its file is not read any more."""
    path = machine.claude()
    machine.say(path, 1, 2)
    (before,) = machine.look()
    machine.runs.record("claude:s", ToolCall(name="Bash", args={"command": "pwd"}, result="a"))
    machine.say(path, 3, 2)
    (run,) = machine.look()
    assert (run["source"], run["can_stop"], run["events"]) == ("hooks", True, before["events"] + 1)


@pytest.mark.parametrize(
    ("sample", "place", "agent"),
    [
        ("gemini_cli.json", "gemini/.gemini/tmp/shop/chats/session-1.json", "gemini"),
        ("gemini_cli.jsonl", "gemini/.gemini/tmp/shop/chats/session-1.jsonl", "gemini"),
        ("codex.jsonl", "codex/sessions/2026/rollout-1.jsonl", "codex"),
    ],
)
def test_every_agent_is_read(machine, tmp_path: Path, sample: str, place: str, agent: str) -> None:
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    shutil.copy(SAMPLES / sample, path)
    (run,) = machine.look()
    assert run["agent"] == agent
    assert run["events"] > 0
    path.write_bytes(path.read_bytes())  # rewritten with what it held
    assert machine.look()[0]["events"] == run["events"]


def test_a_session_of_many_files_grows(machine, tmp_path: Path) -> None:
    """Its last answer ends in a file that was there, while the file of the session stays as it is."""
    recorded = SAMPLES.parent / "opencode/files.jsonl"
    for line in recorded.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        path = tmp_path / "data/opencode" / entry["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(entry["content"], encoding="utf-8")
    last = max((tmp_path / "data/opencode/storage/message/ses_df6a7af24ffe24AluEPRGKIIDS").iterdir())
    whole = json.loads(last.read_text(encoding="utf-8"))
    times = {"created": whole["time"]["created"]}
    last.write_text(json.dumps({**whole, "time": times}), encoding="utf-8")
    before = sum(run["events"] for run in machine.look())
    last.write_text(json.dumps(whole), encoding="utf-8")
    assert sum(run["events"] for run in machine.look()) == before + 1
    assert sum(run["events"] for run in machine.look()) == before + 1


def test_a_session_in_a_database_of_goose_grows(machine, tmp_path: Path) -> None:
    """A call of a model counts a moment after it was written, while nothing else is."""
    path = tmp_path / "data/goose/sessions/sessions.db"
    path.parent.mkdir(parents=True)
    words = '[{"type": "text", "text": "Hello."}]'
    at = int(time.time())
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(
            """
            CREATE TABLE sessions (id, working_dir, updated_at);
            CREATE TABLE messages (id, session_id, role, content_json, created_timestamp);
            CREATE TABLE usage_ledger (id, session_id, created_timestamp, model, input_tokens, cost);
            """
        )
        database.execute("INSERT INTO sessions VALUES ('s', '/srv/g', ?)", (at - 60,))
        database.execute("INSERT INTO messages VALUES (1, 's', 'user', ?, ?)", (words, at - 60))
        database.execute("INSERT INTO usage_ledger VALUES (1, 's', ?, 'm', 7, 0.5)", (at + 2,))
    assert [(run["run_id"], run["events"]) for run in machine.look()] == [("goose:s", 1)]
    end = time.monotonic() + 60
    while machine.look()[0]["events"] < 2:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert machine.look()[0]["cost_usd"] == 0.5


def test_what_cannot_be_read_stops_nothing(machine) -> None:
    machine.claude("broken").write_bytes(b"\xff\xfe{\x00" * 10)
    machine.claude("gone").symlink_to("nothing")
    machine.say(machine.claude(), 1, 1)
    assert [run["run_id"] for run in machine.look()] == ["claude:s"]
