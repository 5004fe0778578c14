"""`ebbtide check` and `ebbtide watch` without a trace, as processes: fake homes with sessions of agents."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ebbtide.cli.runs.session_filter import SessionFilter
from ebbtide.errors import ConfigError

SAMPLES = Path(__file__).parents[1] / "traces" / "samples"
VARIABLES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "MSWEA_GLOBAL_CONFIG_DIR")
HOUR, DAY = 3_600, 86_400
NOW = 1_790_000_000.0


def ebbtide(
    home: Path, *arguments: str | Path, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name not in VARIABLES and "XDG" not in name}
    env |= {"HOME": str(home), "NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-m", "ebbtide", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=env | dict(variables or {}),
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def put(path: Path, content: str | bytes, *, age: float = HOUR) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.utime(path, (time.time() - age,) * 2)
    return path


def session(name: str, project: str, *, turns: int = 3, loops: bool = False, usd: float | None = 0.25) -> str:
    """A session of Claude Code: a call of a tool a turn, the same one each time where it loops."""

    def records() -> Iterator[dict[str, Any]]:
        yield {"type": "user", "message": {"role": "user", "content": "Find the report."}}
        for turn in range(turns):
            query = "report" if loops else f"report {turn}"
            use = {"type": "tool_use", "id": f"t{turn}", "name": "WebSearch", "input": {"query": query}}
            answer = "no results" if loops else f"page {turn}"
            result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": answer}
            message = {
                "id": f"{name} {project} {turn}",
                "role": "assistant",
                "model": "unknown-1",
                "content": [use],
                "usage": {"input_tokens": 1000, "output_tokens": 10},
            }
            cost = {} if usd is None else {"costUSD": usd}
            yield {"type": "assistant", "message": message, **cost}
            yield {"type": "user", "message": {"role": "user", "content": [result]}}

    common = {"sessionId": name, "cwd": project, "isSidechain": False, "parentUuid": None}
    return "".join(
        json.dumps({**common, "uuid": f"{name}-{number}", **record}) + "\n"
        for number, record in enumerate(records())
    )


def recent(sample: str) -> str:
    """A recorded session, as if it had been today."""
    today = datetime.fromtimestamp(time.time() - HOUR).astimezone().strftime("%Y-%m-%d")
    return re.sub(r"20\d\d-\d\d-\d\dT", f"{today}T", (SAMPLES / sample).read_text(encoding="utf-8"))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Four sessions of three agents, one of them stuck and with a sub-agent, and two old ones."""
    claude = tmp_path / ".claude/projects"
    put(claude / "-srv-shop/s1.jsonl", session("s1", "/srv/shop", turns=12, loops=True))
    put(claude / "-srv-shop/s1/subagents/agent-a.jsonl", session("s1", "/srv/tree"), age=2 * HOUR)
    put(claude / "-srv-blog/s2.jsonl", session("s2", "/srv/blog", usd=None), age=2 * DAY)
    put(claude / "-srv-blog/s0.jsonl", session("s0", "/srv/blog"), age=8 * DAY)
    put(tmp_path / ".codex/sessions/2026/02/01/rollout-1.jsonl", recent("codex.jsonl"))
    put(tmp_path / ".codex/sessions/2025/02/01/rollout-0.jsonl", "not read", age=300 * DAY)
    put(tmp_path / ".gemini/tmp/shop/chats/session-1.jsonl", recent("gemini_cli.jsonl"))
    put(tmp_path / ".gemini/tmp/shop/.project_root", "/srv/shop")
    return tmp_path


def wire(process: subprocess.CompletedProcess[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The lines of the runs, and the last one."""
    *runs, totals = map(json.loads, process.stdout.splitlines())
    assert totals["type"] == "totals"
    return runs, totals


def by(totals: dict[str, Any], key: str) -> dict[str, dict[str, Any]]:
    return {row[key]: row for row in totals[f"by_{key}"]}


def test_the_screen(home: Path) -> None:
    """What it cost, by day, project and agent; then what it bought, and the worst run first with why."""
    process = ebbtide(home, "check")
    lines = process.stdout.splitlines()
    assert (process.returncode, process.stderr) == (0, "")
    assert lines[0].startswith("4 sessions in the last 7 days, $3.")
    assert lines[0].endswith("+; each call is counted once.")
    titles = [line.split()[-1] for line in lines if line.split()[:1] == ["sessions"]]
    assert titles == ["day", "project", "agent"]
    worst = lines[lines.index(next(line for line in lines if line.startswith("The worst first"))) + 2 :]
    assert "of it was wasted" in process.stdout
    assert "STUCK" in worst[0]
    assert "WebSearch 12 times" in worst[1]
    assert worst[2].strip() == ".claude/projects/-srv-shop/s1.jsonl"
    assert str(home) not in "\n".join(worst)


def test_json(home: Path) -> None:
    """A line a file as for a folder, and totals: a sub-agent counts to the session that started it."""
    runs, totals = wire(ebbtide(home, "check", "--json"))
    assert len(runs) == 5
    assert all(run["schema"] == 3 for run in runs)
    (below,) = (run["session"] for run in runs if not run["session"]["is_main"])
    assert (below["id"], below["project"], below["agent"]) == ("s1", "/srv/shop", "claude")
    assert (totals["sessions"], totals["runs"]) == (4, 5)
    projects = by(totals, "project")
    shop = projects["/srv/shop"]
    assert shop["sessions"] == 2
    assert shop["cost_usd"] >= 12 * 0.25 + 3 * 0.25
    assert 0 < totals["wasted_usd"] <= 3.0
    assert projects["/srv/blog"] == {
        "project": "/srv/blog",
        "sessions": 1,
        "cost_usd": None,
        "tokens": {"input": 3000, "output": 30, "cache_read": 0, "cache_write": 0},
        "llm_calls": 3,
        "unpriced": 3,
    }
    assert by(totals, "agent").keys() == {"claude", "codex", "gemini"}
    for name, value in totals.items():
        if name.startswith("by_"):
            assert sum(row["llm_calls"] for row in value) == totals["spent"]["llm_calls"], name
    today = datetime.fromtimestamp(time.time() - HOUR).astimezone().strftime("%Y-%m-%d")
    assert today in by(totals, "day")


@pytest.mark.parametrize(
    ("options", "sessions"),
    [
        ((), 4),
        (("--since", "all", "--agent", "claude"), 3),
        (("--since", "24h"), 3),
        (("--since", "2w", "--agent", "claude"), 3),
        (("--project", "SHOP"), 2),
        (("--project", "tree"), None),
        (("--project", "shop", "--agent", "gemini"), 1),
        (("--agent", "codex", "--agent", "gemini"), 2),
        (("--agent", "opencode"), None),
        (("--since", "2100-01-01"), None),
    ],
)
def test_filters(home: Path, options: tuple[str, ...], sessions: int | None) -> None:
    """By age, project and agent, alone and together; where nothing is left there is nothing to check."""
    process = ebbtide(home, "check", "--json", *options)
    if sessions is None:
        assert (process.returncode, process.stdout) == (2, "")
        assert "no coding agent session" in process.stderr
    else:
        assert wire(process)[1]["sessions"] == sessions


def test_none(tmp_path: Path) -> None:
    """Where was looked, what to do, and a code that no CI takes for a pass; it is said at once."""
    begin = time.process_time()
    process = ebbtide(tmp_path, "check", "--fail-on", "stuck")
    assert process.returncode == 2
    assert process.stdout == ""
    assert f"Claude Code: {tmp_path}/.claude/projects (not there)" in process.stderr
    assert f"Codex: {tmp_path}/.codex/sessions (not there)" in process.stderr
    assert "ebbtide check FILE" in process.stderr
    assert "ebbtide demo" in process.stderr
    assert time.process_time() - begin < 1
    assert ebbtide(tmp_path, "watch").returncode == 2


def test_what_the_filters_left_out_is_told(home: Path) -> None:
    """Older sessions and other projects are counted, so that nobody thinks there are none."""
    process = ebbtide(home, "check", "--project", "nowhere")
    assert "of a project like 'nowhere'" in process.stderr
    assert "Of other projects: 5 files." in process.stderr
    assert "Older: 2 sessions; --since all includes them." in process.stderr


@pytest.mark.parametrize("command", ["check", "watch"])
@pytest.mark.parametrize(
    "option", [("--since", "7d"), ("--project", "a"), ("--agent", "claude"), ("--project", "")]
)
def test_not_beside_a_trace(home: Path, command: str, option: tuple[str, str]) -> None:
    """What selects sessions on this machine is refused where a trace is named."""
    process = ebbtide(home, command, SAMPLES / "codex.jsonl", *option)
    assert process.returncode == 2
    assert process.stderr.startswith(f"ebbtide: {option[0]} selects sessions on this machine")


def test_a_session_that_is_written_at_this_moment(home: Path) -> None:
    """The line that is not whole yet is no fault; a broken one before it is."""
    whole = session("s9", "/srv/new")
    put(home / ".claude/projects/n/s9.jsonl", whole + '{"type": "assistant", "mess', age=0)
    options = ("check", "--json", "--project", "/srv/new", "--fail-on", "unread")
    process = ebbtide(home, *options)
    ((run,), _) = wire(process)
    assert (process.returncode, run["degraded"]) == (0, 0)
    put(home / ".claude/projects/n/s9.jsonl", whole + '{"type": "assi\n' + whole, age=0)
    assert ebbtide(home, *options).returncode == 50


def test_what_cannot_be_read(home: Path) -> None:
    """Counted, and named with --all; with a condition it has not passed; one without a call is no fault."""
    put(home / ".claude/projects/-srv-shop/bad.jsonl", b"\x00\x01\x02 no session\n")
    put(home / ".claude/projects/-srv-shop/begun.jsonl", '{"type": "summary", "leafUuid": "x"}\n')
    put(home / ".local/share/opencode/opencode.db", b"SQLite format 3\x00")
    process = ebbtide(home, "check")
    assert process.returncode == 0
    assert "1 file of Claude Code UNREADABLE\n" in process.stdout
    assert "1 file of OpenCode UNREADABLE: the database cannot be read: " in process.stdout
    assert "1 file: there are no events" in process.stdout
    everything = ebbtide(home, "check", "--all", variables={"COLUMNS": "300"}).stdout
    for name in ("bad.jsonl: ", "begun.jsonl: ", "opencode.db: "):
        assert name in everything
    gate = ebbtide(home, "check", "--fail-on", "nudge")
    assert gate.returncode == 2
    assert "opencode.db: UNREADABLE" in gate.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look everywhere")
def test_a_folder_that_nobody_may_look_into(home: Path) -> None:
    """The others are checked; it is counted, and with a condition the check has not passed."""
    locked = put(home / ".claude/projects/locked/x.jsonl", "").parent
    locked.chmod(0)
    process, gate = ebbtide(home, "check"), ebbtide(home, "check", "--fail-on", "cost=100")
    locked.chmod(0o700)
    assert process.returncode == 0
    assert "1 folder UNREADABLE" in process.stdout
    assert gate.returncode == 2


def test_nothing_can_be_read(tmp_path: Path) -> None:
    """A broken database alone is told of, and is nothing that was checked."""
    put(tmp_path / ".local/share/opencode/opencode.db", b"SQLite format 3\x00")
    for command in ("check", "watch"):
        process = ebbtide(tmp_path, command)
        assert process.returncode == 2
        assert "the database cannot be read" in process.stderr


def test_opencode(tmp_path: Path) -> None:
    """The sessions in its database are checked, one a row; a database that is named stands for them, too."""
    path = put(tmp_path / ".local/share/opencode/opencode.db", b"")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((SAMPLES.parent / "opencode/database.sql").read_text(encoding="utf-8"))
    options = ("--agent", "opencode", "--project", "weather", "--since", "all", "--json")
    runs, totals = wire(ebbtide(tmp_path, "check", *options))
    assert {run["session"]["project"] for run in runs} == {"/srv/weather"}
    assert (totals["sessions"], totals["runs"]) == (5, 5)
    (run,) = (run for run in runs if run["session"]["id"] == "ses_df6ac2601ffeCZAh6DEAPufnRP")
    assert run["source"] == str(path / "ses_df6ac2601ffeCZAh6DEAPufnRP")
    assert run["session"]["is_main"]
    for name in (path, path.parent):
        process = ebbtide(tmp_path, "check", "--json", name)
        *lines, _ = map(json.loads, process.stdout.splitlines())
        assert [line["source"] for line in lines] == sorted(run["source"] for run in runs)
    one = ebbtide(tmp_path, "loops", path)
    assert (one.returncode, "there are 5 sessions" in one.stderr) == (2, True)
    for watched in ((), (path / "ses_df6ac2601ffeCZAh6DEAPufnRP",)):
        process = ebbtide(tmp_path, "watch", *watched, "--until-end")
        assert process.returncode == 0, process.stderr
        assert "opencode.db/ses_" in process.stdout
    assert "there are 5 sessions" in ebbtide(tmp_path, "watch", path).stderr


def test_opencode_in_files(tmp_path: Path) -> None:
    """A session in many files is checked, and watched."""
    folder = tmp_path / ".local/share/opencode"
    recorded = (SAMPLES.parent / "opencode/files.jsonl").read_text(encoding="utf-8")
    for entry in map(json.loads, recorded.splitlines()):
        put(folder / entry["path"], entry["content"])
    runs, totals = wire(ebbtide(tmp_path, "check", "--json"))
    assert (totals["sessions"], totals["runs"], totals["by_agent"][0]["agent"]) == (2, 3, "opencode")
    for watched in ((), (runs[0]["source"],)):
        process = ebbtide(tmp_path, "watch", *watched, "--until-end")
        assert process.returncode == 0, process.stderr
        assert "storage/session/" in process.stdout


def test_ignored_sessions(home: Path) -> None:
    """Runs that are ignored are left out and counted; where all are, nothing was checked."""
    process = ebbtide(home, "check", "--ignore", "run=*/.claude/*")
    assert process.returncode == 0
    assert process.stdout.startswith("2 sessions")
    assert "3 files: ignored by --ignore" in process.stdout
    assert ebbtide(home, "check", "--ignore", "run=*").returncode == 2


def test_conditions_and_page(home: Path, tmp_path: Path) -> None:
    """--fail-on and --html mean what they mean for a folder."""
    page = tmp_path / "page.html"
    process = ebbtide(home, "check", "--fail-on", "stuck", "--html", page, "--agent", "claude")
    assert process.returncode == 50
    assert "s1.jsonl: --fail-on stuck" in process.stderr
    html = page.read_text(encoding="utf-8")
    assert "3 runs" in html
    assert "s2.jsonl" in html


def test_ten_of_many(tmp_path: Path) -> None:
    """Ten rows and ten runs are on the screen; --all shows all of them."""
    for number in range(12):
        put(tmp_path / f".claude/projects/p{number}/{number}.jsonl", session(f"s{number}", f"/srv/{number}"))
    screen, everything = (ebbtide(tmp_path, "check", *more).stdout for more in ((), ("--all",)))
    assert screen.count(".jsonl") == 10
    assert screen.count("and 2 more: --all") == 2
    assert everything.count(".jsonl") == 12
    assert "more" not in everything


@pytest.mark.parametrize("width", [1, 30, 40, 60, 80, 200])
def test_any_width(home: Path, width: int) -> None:
    """No line is wider than the terminal where that has room for a table at all, and no amount is cut."""
    process = ebbtide(home, "check", variables={"COLUMNS": str(width)})
    assert (process.returncode, process.stderr) == (0, "")
    lines = process.stdout.splitlines()
    if width >= 40:
        assert max(map(len, lines)) <= width
        assert any(line.lstrip().startswith("sessions") for line in lines)
        assert "$2.75" in process.stdout


def test_names_that_a_terminal_would_obey(tmp_path: Path) -> None:
    """A project may be called anything."""
    put(tmp_path / ".claude/projects/p/x.jsonl", session("x", "/srv/\x1b[31mred\u202e"))
    for command in (("check",), ("watch", "--until-end")):
        process = ebbtide(tmp_path, *command)
        assert process.returncode == 0
        assert "red" in process.stdout + process.stderr
        assert not {"\x1b", "\u202e"} & set(process.stdout + process.stderr)


def test_a_variable(home: Path) -> None:
    """Several folders, one of which is not there."""
    other = put(home / "two/projects/p/x.jsonl", session("x", "/srv/x"))
    variables = {"CLAUDE_CONFIG_DIR": f"{home}/one,{home}/two"}
    runs, _ = wire(ebbtide(home, "check", "--json", "--agent", "claude", variables=variables))
    assert [run["source"] for run in runs] == [str(other)]


def test_watch_follows_the_newest(home: Path) -> None:
    """It names what it follows, takes the same filters, and passes sub-agents over."""
    put(home / ".claude/projects/-srv-shop/s1/subagents/agent-b.jsonl", session("s1", "/srv/shop"), age=0)
    put(home / ".claude/projects/-srv-shop/s3.jsonl", session("s3", "/srv/shop"), age=60)
    newest = ebbtide(home, "watch", "--until-end")
    assert newest.returncode == 0
    assert "watching a Claude Code session in /srv/shop, last written at " in newest.stderr
    assert f"{home}/.claude/projects/-srv-shop/s3.jsonl" in newest.stdout
    other = ebbtide(home, "watch", "--until-end", "--project", "blog", "--json")
    assert json.loads(other.stdout.splitlines()[-1])["source"].endswith("s2.jsonl")


@pytest.mark.parametrize(
    ("words", "seconds", "period"),
    [
        ("24h", 24 * HOUR, "in the last 24 hours"),
        ("1d", DAY, "in the last day"),
        ("7d", 7 * DAY, "in the last 7 days"),
        (None, 7 * DAY, "in the last 7 days"),
        ("2w", 14 * DAY, "in the last 2 weeks"),
        ("999999999w", 999_999_999 * 7 * DAY, "in the last 999,999,999 weeks"),
    ],
)
def test_since(words: str | None, seconds: int, period: str) -> None:
    """A number of hours, days or weeks before now."""
    selection = SessionFilter.read(words, now=NOW)
    assert (selection.since, selection.period) == (NOW - seconds, period)


def test_since_a_day() -> None:
    """A day begins at its midnight here; `all` has no beginning."""
    selection = SessionFilter.read("2026-11-01", now=NOW)
    assert selection.since == datetime(2026, 11, 1).astimezone().timestamp()
    assert selection.period == "since 2026-11-01"
    assert SessionFilter.read("all").since is None


@pytest.mark.parametrize(
    "words",
    ["", "7", "d", "0d", "-1d", "7 d", "1.5d", "7x", "2026-13-01", "yesterday", "\u0667d", "9" * 400 + "d"],
)
def test_since_that_cannot_be_read(words: str) -> None:
    """What else it may be is in the message."""
    with pytest.raises(ConfigError, match="expected 24h, 7d, 2w"):
        SessionFilter.read(words)
