"""`ebbtide check` as a process: the first screen, tables, conditions, pages and bad input."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ebbtide.checking import check
from ebbtide.cli.runs.fail_on import conditions, failures
from ebbtide.errors import ConfigError
from ebbtide.supervision.summary.run_summary import RunSummary

EXAMPLES = Path(__file__).parents[2] / "examples" / "runs"
STUCK, HEALTHY = EXAMPLES / "stuck.jsonl", EXAMPLES / "healthy.jsonl"
PRICED = {"kind": "llm", "name": "message", "model": "small-2", "input_tokens": 1_000_000}
CONTROLS = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]")


def ebbtide(*arguments: str | Path, stdin: bytes = b"", **env: str) -> subprocess.CompletedProcess[bytes]:
    env = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"} | env
    command = [sys.executable, "-m", "ebbtide", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, env=env, timeout=120, check=False)


def lines(*events: dict[str, object]) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def test_the_first_screen_of_a_stuck_run() -> None:
    """The verdict and why come first; cost, where it would have ended and the loop are on the screen."""
    process = ebbtide("check", STUCK)
    printed = process.stdout.decode().splitlines()
    assert process.returncode == 0
    assert printed[0].startswith("STUCK")
    assert "web_search and web_fetch in turn, 11 times, same results" in printed[1]
    assert len(printed) <= 30
    text = " ".join(" ".join(printed).split())
    for part in ("$1.60, 87,800 tokens", "25 tool calls", "A stop after event", "would have saved"):
        assert part in text
    assert "STOP calls 4-25: web_search and web_fetch in turn, 11 times, same results, $1.54" in text


def test_the_first_screen_answers_in_order(tmp_path: Path) -> None:
    """Cost, findings, what stopping had saved, whether it converged, what was decided, what was noise."""
    assert ebbtide("demo", "--keep", tmp_path).returncode == 0
    labels = []
    for name in ("stuck.jsonl", "noisy-claude-code.jsonl"):
        screen = ebbtide("check", tmp_path / name).stdout.decode()
        labels.append(
            [line.split()[0] for line in screen.partition("\n\n")[2].splitlines() if line[0] != " "]
        )
    assert labels[0] == ["spent", "calls", "findings", "cheaper", "saving", "converged", "decided"]
    assert labels[1] == ["spent", "findings", "cheaper", "converged", "decided", "noise"]


def test_costs_that_overlap_are_not_to_be_added_up(tmp_path: Path) -> None:
    """Findings that share events say so; one finding says nothing of it."""
    assert ebbtide("demo", "--keep", tmp_path).returncode == 0
    warning = b"they overlap, so their costs do not add up"
    assert warning in ebbtide("check", tmp_path / "stuck.jsonl").stdout
    assert warning not in ebbtide("check", tmp_path / "noisy-claude-code.jsonl").stdout


@pytest.mark.parametrize("arguments", [(STUCK,), (EXAMPLES,), ("--json", STUCK)])
def test_a_reader_that_went_away_ends_it_quietly(arguments: tuple[str | Path, ...]) -> None:
    """As with `head`: nothing on standard error, and the exit code of a closed pipe."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "ebbtide", "check", *map(str, arguments)]
    process = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=120, check=False)
    os.close(writing)
    assert (process.returncode, process.stderr) == (141, b"")


def test_a_terminal_that_lacks_characters_gets_the_rest(tmp_path: Path) -> None:
    """What cannot be shown becomes a question mark, and JSON escapes it."""
    file = tmp_path / "run.jsonl"
    text = "We decided to use \u65e5\u672c instead of \u00fc, because it is shorter."
    file.write_bytes(lines({"kind": "llm", "name": "message", "text": text}))
    process = ebbtide("check", file, PYTHONIOENCODING="ascii")
    assert (process.returncode, process.stderr) == (0, b"")
    assert b"We decided to use ?? instead of ?" in process.stdout
    summary = json.loads(ebbtide("check", "--json", file, PYTHONIOENCODING="ascii").stdout)
    assert summary["decisions"][0]["text"] == text


@pytest.mark.parametrize("columns", ["40", "60", "200"])
def test_a_table_fits_the_terminal_and_cuts_nothing(columns: str, tmp_path: Path) -> None:
    """The whole name of each run and the whole reason are there, whatever the width."""
    name = "a-run-with-a-name-that-is-longer-than-most-terminals-have-room-for-it.jsonl"
    (tmp_path / name).write_bytes(STUCK.read_bytes())
    (tmp_path / "healthy.jsonl").write_bytes(HEALTHY.read_bytes())
    table = ebbtide("check", tmp_path, COLUMNS=columns).stdout.decode()
    table = table[table.index("\n\n") :]
    assert max(map(len, table.splitlines())) <= int(columns)
    letters = "".join(table.split())
    assert name in letters
    assert "web_searchandweb_fetchinturn,11times,sameresults(calls4-25,$1.54)." in letters
    assert "\u2026" not in letters


def test_the_first_screen_of_a_healthy_run() -> None:
    """Nothing is wrong, and that is said in as many words."""
    process = ebbtide("check", HEALTHY)
    printed = process.stdout.decode()
    assert process.returncode == 0
    assert printed.startswith("HEALTHY")
    assert "no loop, no limit passed, no runaway cost" in printed


def test_standard_input_and_json() -> None:
    """With --json one run is one object with its headline, and without the timeline."""
    process = ebbtide("check", "--json", "-", stdin=STUCK.read_bytes())
    run = json.loads(process.stdout)
    assert (run["schema"], run["headline"], run["source"]) == (3, "STUCK", "<stdin>")
    assert (run["verdict"]["action"], run["verdict"]["facts"]["signal"]["kind"]) == ("stop", "cycle")
    assert run["findings"][0]["kind"] == "cycle"
    assert "timeline" not in run


def test_everything_shows_the_evidence() -> None:
    """--all has what one screen leaves out."""
    measure = "$1.03 since the last new result, above $1.00"
    assert measure not in ebbtide("check", STUCK).stdout.decode()
    assert measure in ebbtide("check", "--all", STUCK).stdout.decode()


def test_a_folder_is_a_table_the_worst_first(tmp_path: Path) -> None:
    """Every file below the folder is read; what is no run is listed with its reason and ends nothing."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "stuck.jsonl").write_bytes(STUCK.read_bytes())
    (tmp_path / "healthy.jsonl").write_bytes(HEALTHY.read_bytes())
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00")
    (tmp_path / ".hidden.jsonl").write_bytes(STUCK.read_bytes())
    process = ebbtide("check", tmp_path)
    printed = process.stdout.decode()
    assert process.returncode == 0
    assert printed.startswith("2 runs: 1 STUCK, 1 HEALTHY; $")
    assert f"in {tmp_path}{os.sep}" in printed.replace("\n", "")
    assert printed.index("stuck.jsonl") < printed.index("healthy.jsonl")
    assert "1 file is no run:" in printed
    assert "picture.png: " in printed
    assert b"checking" not in process.stderr  # no bar where there is no terminal
    *files, totals = map(json.loads, ebbtide("check", "--json", tmp_path).stdout.splitlines())
    assert sorted("skipped" in item for item in files) == [False, False, True]
    assert (totals["type"], totals["runs"]) == ("totals", 2)


OTHER_LINES = {
    "results.jsonl": [{"task": "a-1", "resolved": True}, {"task": "a-2", "resolved": False}],
    "tests.jsonl": [{"name": "test_a", "result": "passed"}, {"name": "test_b", "result": "failed"}],
    "one.jsonl": [{"id": 1, "text": "Two words", "label": "yes"}],
    "server.ndjson": [{"type": "error", "message": "full"}, {"type": "info", "session_id": "s1"}],
}
UNKNOWN_AGENT = [{"who": 7, "item": {"type": "toolCall", "of": "ls"}}, {"who": 8, "item": {"type": "done"}}]


def json_lines(records: list[dict[str, object]]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def test_lines_of_results_and_data_are_no_runs(tmp_path: Path) -> None:
    """Found in a folder they are counted and end nothing; lines of an unknown agent are UNREADABLE."""
    (tmp_path / "healthy.jsonl").write_bytes(HEALTHY.read_bytes())
    for name, records in OTHER_LINES.items():
        (tmp_path / name).write_text(json_lines(records), encoding="utf-8")
    process = ebbtide("check", tmp_path, "--fail-on", "stuck")
    assert process.returncode == 0
    assert f"{len(OTHER_LINES)} files are no runs:" in process.stdout.decode()
    (tmp_path / "unknown.jsonl").write_text(json_lines(UNKNOWN_AGENT), encoding="utf-8")
    process = ebbtide("check", tmp_path, "--fail-on", "stuck")
    assert process.returncode == 2
    assert "1 file UNREADABLE:" in process.stdout.decode()


def test_lines_that_are_named_are_unreadable_with_the_nearest_format(tmp_path: Path) -> None:
    """Somebody who names a file means it."""
    file = tmp_path / "results.jsonl"
    file.write_text(json_lines([{"kind": "score", "args": {"n": 1}}] * 2), encoding="utf-8")
    process = ebbtide("check", file)
    assert process.returncode == 2
    assert "Nearest is ebbtide" in process.stderr.decode()


def test_a_page_for_one_and_for_many(tmp_path: Path) -> None:
    """--html writes one file; several runs share it."""
    page = tmp_path / "report.html"
    assert ebbtide("check", STUCK, "--html", page).returncode == 0
    assert "STUCK" in page.read_text(encoding="utf-8")
    assert ebbtide("check", EXAMPLES, "--html", page, "--jobs", "1").returncode == 0
    html = page.read_text(encoding="utf-8")
    assert 'href="#run-2"' in html
    process = ebbtide("check", STUCK, "--html", tmp_path / "no" / "report.html")
    assert process.returncode == 2
    assert b"report.html" in process.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (("--fail-on", "stuck", "--fail-on", "cost=5", STUCK), 50, "--fail-on stuck: STUCK: web_search"),
        (("--fail-on", "stuck,cost=2", HEALTHY), 0, ""),
        (("--fail-on", "stuck", EXAMPLES), 50, "stuck.jsonl: --fail-on stuck"),
        (("--fail-on", "stuk", STUCK), 2, "--fail-on 'stuk': expected stuck, limit"),
    ],
)
def test_conditions_end_with_50(arguments: tuple[str | Path, ...], code: int, why: str) -> None:
    """A run that meets a condition ends the check with 50 and says why; without one it ends with 0."""
    process = ebbtide("check", *arguments)
    assert process.returncode == code
    assert why in process.stderr.decode()


@pytest.fixture(scope="module")
def stuck() -> RunSummary:
    return check(STUCK)


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ("stuck", "STUCK: web_search"),
        ("stop", "STUCK: web_search"),
        ("escalate", "STUCK: web_search"),
        ("nudge", "STUCK: web_search"),
        ("limit", None),
        ("unread", None),
        ("cost=1", "it cost $1.60"),
        ("cost=$1.59", "it cost $1.60"),
        ("cost=1.61", None),
        ("tokens=87799", "87,800 tokens"),
        ("tokens=87800", None),
        ("events=24", "25 events"),
        ("events=25", None),
    ],
)
def test_each_condition(stuck: RunSummary, condition: str, why: str | None) -> None:
    """What meets a condition, on both sides of an amount."""
    (failure,) = failures((stuck,), conditions((condition,))) or (None,)
    assert (failure is None) if why is None else (why in str(failure))


@pytest.mark.parametrize("condition", ["", "cost", "cost=", "cost=-1", "cost=nan", "stuck=1", "tokens=x"])
def test_a_condition_that_does_not_exist(condition: str) -> None:
    """A misspelt condition is an error, never one that nothing meets."""
    with pytest.raises(ConfigError, match="--fail-on"):
        conditions((condition,))


def test_an_unknown_price_is_no_zero(tmp_path: Path) -> None:
    """Tokens without a price make the cost unknown, fail a condition on it, and get a price from a table."""
    file = tmp_path / "run.jsonl"
    file.write_bytes(lines(PRICED | {"model": "nobody-knows-it"}, PRICED | {"model": "nobody-knows-it"}))
    printed = ebbtide("check", file).stdout.decode()
    assert "cost and time unknown" in printed
    assert "No price is known for 2 model calls (nobody-knows-it). Add prices with --prices FILE." in printed
    process = ebbtide("check", "--fail-on", "cost=100", file)
    assert process.returncode == 50
    assert b"No price is known" in process.stderr
    prices = tmp_path / "prices.toml"
    prices.write_text('[prices."nobody-*"]\ninput = 2.0\n')
    assert "$4.00" in ebbtide("check", "--prices", prices, file).stdout.decode()
    assert ebbtide("check", "--prices", prices, "--fail-on", "cost=4", file).returncode == 0


def test_a_limit_that_cannot_be_counted_is_no_pass(tmp_path: Path) -> None:
    """What was not recorded is told in one sentence, with an exit code for CI, unless that is allowed."""
    file = tmp_path / "run.jsonl"
    file.write_bytes(lines(PRICED, {"kind": "tool", "name": "a", "args": {}, "result": "b"}))
    command = ("check", "--max-cost", "5", "--fail-on", "limit", file)
    process = ebbtide(*command)
    assert process.returncode == 50
    assert process.stdout.startswith(b"UNKNOWN")
    sentence = (
        b"The limit of 5 USD cannot be enforced: the cost of a call of 'small-2' is unknown. Pass prices="
    )
    assert sentence in process.stderr
    assert sentence in process.stdout.replace(b"\n", b" ")
    for condition, code in (("unknown", 50), ("stop", 50), ("stuck", 0)):
        assert ebbtide(*command[:3], "--fail-on", condition, file).returncode == code
    allowing = tmp_path / "limits.toml"
    allowing.write_text('when_unknown = "allow"')
    process = ebbtide(*command, "--limits", allowing)
    assert (process.returncode, process.stdout[:7]) == (0, b"HEALTHY")
    prices = tmp_path / "prices.toml"
    prices.write_text("[prices.small-2]\ninput = 1.0\n")
    assert ebbtide(*command, "--prices", prices).returncode == 0
    assert ebbtide("check", "--max-seconds", "5", "--fail-on", "limit", file).returncode == 50


def test_a_stuck_run_stays_stuck_beside_a_limit_that_cannot_be_counted(tmp_path: Path) -> None:
    """Both are told, and either fails the check that asks for it."""
    event: dict[str, object] = {"kind": "tool", "name": "ls", "args": {"path": "."}, "result": "a"}
    file = tmp_path / "run.jsonl"
    file.write_bytes(lines(PRICED, *[event] * 12))
    process = ebbtide("check", "--max-cost", "5", "--fail-on", "stuck,limit", file)
    assert process.stdout.startswith(b"STUCK")
    assert process.stderr.count(b"--fail-on") == 2
    assert b"The limit of 5 USD cannot be enforced" in process.stdout


def test_limits_are_held_against_a_recorded_run(tmp_path: Path) -> None:
    """A limit from an option or from a file makes a run that passed it LIMIT; options come first."""
    process = ebbtide("check", "--max-cost", "0.1", "--fail-on", "limit", HEALTHY)
    assert process.stdout.startswith(b"LIMIT")
    assert process.returncode == 50
    limits = tmp_path / "limits.toml"
    limits.write_text("[limits]\ncost_usd = 0.1\n")
    assert ebbtide("check", "--limits", limits, HEALTHY).stdout.startswith(b"LIMIT")
    assert ebbtide("check", "--limits", limits, "--max-cost", "50", HEALTHY).stdout.startswith(b"HEALTHY")
    limits.write_text("[limits]\ncosts = 1\n")
    process = ebbtide("check", "--limits", limits, HEALTHY)
    assert process.returncode == 2
    assert b"limits.costs: no such limit" in process.stderr


def test_declared_tools_count(tmp_path: Path) -> None:
    """Equal calls of which nobody knows what they do are noise; a poller that is declared is no loop."""
    file = tmp_path / "poll.jsonl"
    file.write_bytes(
        lines(*[{"kind": "tool", "name": "job_status", "args": {"id": 7}, "result": "part 3 of 9"}] * 6)
    )
    assert ebbtide("check", file).stdout.startswith(b"NOISY")
    tools = tmp_path / "tools.toml"
    tools.write_text('[tools."*_status"]\neffect = "poll"\n')
    assert ebbtide("check", "--tools", tools, file).stdout.startswith(b"HEALTHY")


def test_a_broken_line_is_said_and_the_rest_is_read(tmp_path: Path) -> None:
    """The number of what could not be read stands on the screen, and can fail the check."""
    file = tmp_path / "run.jsonl"
    first, *rest = HEALTHY.read_bytes().splitlines(keepends=True)
    file.write_bytes(first + b'{"kind": "tool", "na\n' + b"".join(rest))
    process = ebbtide("check", "--fail-on", "unread", file)
    printed = process.stdout.decode()
    assert printed.startswith("HEALTHY")
    assert "1 line or event not read in full" in printed
    assert ":2" in printed
    assert process.returncode == 50


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"", "empty"), (b'{"unknown": 1}\n{"unknown": 2}\n', "no "), (b"\x1f\x8b\x08\x00broken", "gzip")],
    ids=["empty", "unknown", "truncated gzip"],
)
def test_bad_input_gets_a_message(tmp_path: Path, content: bytes, expected: str) -> None:
    """One file that cannot be read ends with 2, its name and the reason, and without a traceback."""
    file = tmp_path / "bad.jsonl"
    file.write_bytes(content)
    process = ebbtide("check", file)
    message = process.stderr.decode()
    assert process.returncode == 2
    assert "bad.jsonl" in message
    assert expected in message
    assert "Traceback" not in message
    folder = ebbtide("check", tmp_path)
    assert folder.returncode == 2
    assert "none of 1 files could be read" in folder.stderr.decode()


def test_inputs_that_cannot_be(tmp_path: Path) -> None:
    """A missing file, an empty folder and standard input beside a file are usage errors."""
    for arguments in ((tmp_path / "no.jsonl",), (tmp_path,), ("-", STUCK)):
        process = ebbtide("check", *arguments)
        assert process.returncode == 2
        assert process.stderr.startswith(b"ebbtide: ")
        assert b"Traceback" not in process.stderr


@pytest.mark.parametrize("more", [(), ("--all",)])
def test_escape_sequences_never_reach_the_terminal(tmp_path: Path, more: tuple[str, ...]) -> None:
    """Whatever a trace says, what is printed holds no control and no mark that reorders text."""
    evil = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\r"
    events = [{"kind": "llm", "name": "message", "text": f"We decided to use {evil} SQLite for it."}]
    events += [
        {"kind": "tool", "name": f"ls{evil}", "args": {"p": evil}, "result": evil, "chain_id": evil}
    ] * 8
    file = tmp_path / "run.jsonl"
    file.write_bytes(lines(*events) + b'{"kind": "\x1b[31m\n')
    process = ebbtide("check", *more, file)
    assert process.returncode == 0
    assert not CONTROLS.search(process.stdout.replace(b"\n", b""))
    several = ebbtide("check", *more, file, HEALTHY)
    assert not CONTROLS.search(several.stdout.replace(b"\n", b""))
    assert not CONTROLS.search(several.stderr.replace(b"\n", b""))


def test_each_page_that_is_written_is_named(tmp_path: Path) -> None:
    """By every command alike, so that nobody looks for it."""
    page = str(tmp_path / "page.html")
    for command in (("check", STUCK), ("check", EXAMPLES), ("demo",)):
        assert f"wrote {page}" in ebbtide(*command, "--html", page).stderr.decode()


def test_the_claims_of_several_runs_are_listed_by_run(tmp_path: Path) -> None:
    """Below the table, each with the answer of its record; where nothing is claimed, that is said."""
    ebbtide("demo", "--keep", tmp_path)
    printed = ebbtide("check", tmp_path, "--claims").stdout.decode()
    table, _, claims = printed.partition(f"\n{tmp_path}{os.sep}healthy.jsonl\n2 claims: 2 proven\n")
    assert table.startswith("4 runs")
    assert claims.count("proven: ") == 2
    silent = ebbtide("check", STUCK, STUCK, "--claims").stdout.decode()
    assert "No final message claims anything" in silent
