"""The commands as processes: output, exit codes, and what bad input gets."""

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
EXAMPLES = PROJECT / "examples"
SHIPS = EXAMPLES / "calibration" / "exact-repeat.json"
ESCALATES = EXAMPLES / "calibration" / "blocker-present.json"
GOES_ON = EXAMPLES / "calibration" / "high-novelty-low-readiness.json"
CHAT = EXAMPLES / "conversations" / "stuck-debugging.jsonl"
ROUND = '{"type": "round", "round": %d, "outputs": {"claims": [%s]}}\n'


def ebbtide(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "ebbtide", *map(str, arguments)]
    env = os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, input=stdin, capture_output=True, env=env, timeout=60, check=False)


@pytest.mark.parametrize(
    ("example", "signal", "code"),
    [(GOES_ON, "CONTINUE", 0), (SHIPS, "SHIP", 10), (ESCALATES, "ESCALATE", 20)],
)
def test_stop_says_it_in_three_lines_and_in_the_exit_code(example: Path, signal: str, code: int) -> None:
    """The signal, the rationale, the hint; 0 CONTINUE, 10 SHIP, 20 ESCALATE; from a file and from stdin."""
    for process in (ebbtide("stop", example), ebbtide("stop", "-", stdin=example.read_bytes())):
        lines = process.stdout.decode().splitlines()
        assert (process.returncode, len(lines), lines[0]) == (code, 3, signal)
        assert process.stderr == b""


@pytest.mark.clause("S06")
def test_score_json_is_the_output_object() -> None:
    """`score --json` prints the object of the spec, the same that the library gives."""
    from ebbtide import Profile, score_transcript

    printed = json.loads(ebbtide("score", "--json", "--profile", "spec", SHIPS).stdout)
    assert printed == score_transcript(json.loads(SHIPS.read_text()), Profile.SPEC)


def test_score_report_says_signal_why_curve_readiness_and_flags() -> None:
    """The report starts with the signal and shows every part."""
    printed = ebbtide("score", EXAMPLES / "conversations" / "design-review.json").stdout.decode()
    assert printed.startswith("SHIP")
    for part in ("Novelty has been low", "Novelty: new claims", "readiness", "Flags", "verify"):
        assert part in printed


def test_a_bar_leaves_what_is_printed_alone() -> None:
    """Where standard error alone is a terminal, a bar is shown there, and the objects come as they are."""
    master, terminal = os.openpty()
    command = [sys.executable, "-m", "ebbtide", "score", "--json", str(SHIPS), str(ESCALATES)]
    env = os.environ | {"TERM": "xterm"}
    process = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=terminal, env=env, timeout=60, check=True
    )
    os.close(terminal)
    assert b"Scoring" in os.read(master, 1 << 16)
    os.close(master)
    files = [json.loads(line)["file"] for line in process.stdout.splitlines()]
    assert files == [str(SHIPS), str(ESCALATES)]


def test_explain_shows_the_nearest_claim_and_its_similarity(tmp_path: Path) -> None:
    """Each claim stands with the seen claim that it is most like; JSON has them by round."""
    file = tmp_path / "two.jsonl"
    file.write_text(
        ROUND % (1, '"enable retries for uploads"') + ROUND % (2, '"disable retries for uploads"')
    )
    printed = ebbtide("score", "--explain", file).stdout.decode()
    assert "reverses round 1 (antonym: disable / enable): enable retries for uploads" in printed
    wire = json.loads(ebbtide("score", "--explain", "--json", file).stdout)
    claim = wire["claims_by_round"][1]["claims"][0]
    assert claim["reverses"]["similarity"] == 0.6
    assert claim["new_L1"] is True


def test_a_folder_is_scored_and_bad_files_are_listed_at_the_end(tmp_path: Path) -> None:
    """The good ones are in the table, the bad ones on stderr with the reason, and the exit code says so."""
    (tmp_path / "good.json").write_bytes(SHIPS.read_bytes())
    (tmp_path / "packed.json.gz").write_bytes(gzip.compress(ESCALATES.read_bytes()))
    (tmp_path / "broken.json").write_text('{"rounds": [')
    (tmp_path / "empty.txt").write_text("")
    process = ebbtide("score", tmp_path)
    assert process.returncode == 2
    printed = process.stdout.decode()
    assert printed.index("ESCALATE") < printed.index("SHIP")
    errors = process.stderr.decode()
    assert "2 of 4 could not be read" in errors
    assert "broken.json" in errors
    assert "empty.txt" in errors
    lines = ebbtide("score", "--json", tmp_path).stdout.decode().splitlines()
    assert {Path(json.loads(line)["file"]).name for line in lines} == {"good.json", "packed.json.gz"}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty"),
        (b"\x00\x01\x02\xff binary \x00" * 20, "binary"),
        (b'{"rounds": [}', "<stdin>:1: not JSON"),
        (b'{"conversation_id": "x", "rounds": []}', "no rounds"),
        (b'{"rounds": [{"round": 1, "outputs": {"claims": ["a", 3]}}]}', "rounds[0].outputs.claims[1]"),
        (
            b'{"rounds": [{"round": 1, "outputs": {"claims": []}}, {"round": 1, "outputs": {"claims": []}}]}',
            "twice",
        ),
        (
            b'{"rounds": [{"round": 1, "outputs": {"claims": []}}, {"round": 3, "outputs": {"claims": []}}]}',
            "missing",
        ),
        (b'{"rounds": [{"outputs": {}}]}', "no number"),
        (b"Ana: caf\xe9 is closed\nBob: no\n", "UTF-8"),
        (b"[" * 100_000, "nested"),
    ],
)
def test_bad_input_gets_a_message_and_exit_code_2(content: bytes, expected: str) -> None:
    """What is wrong and where, on stderr, without a traceback and without output."""
    for command in ("stop", "score", "extract"):
        process = ebbtide(command, "-", stdin=content)
        message = process.stderr.decode()
        assert process.returncode == 2
        assert expected.lower() in message.lower()
        assert "<stdin>" in message
        assert "Traceback" not in message
        assert process.stdout == b""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("stop", "nowhere.json"), "no such file"),
        (("score", "--profile", "nobody", SHIPS), "no profile 'nobody'"),
        (("score", "--profile", "nowhere.toml", SHIPS), "nowhere.toml"),
        (("score", "--follow", SHIPS, CHAT), "--follow takes one file"),
        (("stop", "--round", "square", SHIPS), "square"),
    ],
)
def test_bad_usage_gets_a_message_and_exit_code_2(arguments: tuple[str | Path, ...], expected: str) -> None:
    """Files, profiles and options that are not there are named."""
    process = ebbtide(*arguments)
    assert process.returncode == 2
    assert expected in process.stderr.decode()


def test_a_profile_file_sets_thresholds(tmp_path: Path) -> None:
    """A TOML file changes what it names and keeps the rest; a wrong key is named with its section."""
    own = tmp_path / "own.toml"
    own.write_text('base = "spec"\n[novelty]\nlow_rounds = 5\n')
    assert ebbtide("stop", "--profile", own, SHIPS).returncode == 0
    own.write_text("[novelty]\nlow_round = 5\n")
    process = ebbtide("stop", "--profile", own, SHIPS)
    assert process.returncode == 2
    assert "novelty.low_round: no such setting" in process.stderr.decode()


def test_escape_sequences_in_a_conversation_do_not_reach_the_terminal(tmp_path: Path) -> None:
    """Control characters of a conversation are shown as replacement characters, and markup as it is."""
    file = tmp_path / "evil.jsonl"
    text = json.dumps("the \x1b[2J\x1b]0;owned\x07 cache [bold]is[/bold] \u202e cold")
    file.write_text(ROUND % (1, text))
    for arguments in (("score", "--explain"), ("stop",)):
        printed = ebbtide(*arguments, file).stdout
        assert b"\x1b" not in printed
        assert b"\x07" not in printed
        assert "\u202e" not in printed.decode()
    assert "[bold]is[/bold]" in ebbtide("score", "--explain", file).stdout.decode()


def test_follow_through_a_pipe_prints_a_line_a_round() -> None:
    """Rounds are told as they come, and the last one before the input ends."""
    process = ebbtide("score", "--follow", "--json", "-", stdin=CHAT.read_bytes())
    rounds = [json.loads(line) for line in process.stdout.decode().splitlines()]
    assert [item["round"] for item in rounds] == list(range(1, 15))
    assert process.returncode == 0


def test_stop_follow_waits_for_a_growing_file_until_it_says_stop(tmp_path: Path) -> None:
    """The command stays while the file grows and ends with the exit code of the first stop."""
    file = tmp_path / "live.jsonl"
    lines = CHAT.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:4]), encoding="utf-8")
    command = [sys.executable, "-m", "ebbtide", "stop", "--follow", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"NO_COLOR": "1"}) as watching:
        time.sleep(1.0)
        assert watching.poll() is None
        with file.open("a", encoding="utf-8") as growing:
            growing.writelines(lines[4:])
        printed, _ = watching.communicate(timeout=30)
    assert watching.returncode == 20
    assert printed.decode().startswith("ESCALATE")


def test_extract_names_the_rule_of_each_item() -> None:
    """Items and what was set aside come with the sentence and the rule."""
    extraction = json.loads(ebbtide("extract", "--json", CHAT).stdout)
    assert extraction[0]["agent"] == "user"
    assert all(item["rule"] and item["sentence"] for turn in extraction for item in turn["items"])
    assert "set aside" in ebbtide("extract", CHAT).stdout.decode()
    assert "no raw text" in ebbtide("extract", SHIPS).stdout.decode()


def test_formats_and_schema_are_listed() -> None:
    """Each format has a name and a description; the schema is the one that is shipped."""
    formats = json.loads(ebbtide("formats", "--json").stdout)
    assert {"transcript", "transcript-jsonl", "chat", "text"} <= {item["name"] for item in formats}
    schema = PROJECT / "src" / "ebbtide" / "events" / "transcript.schema.json"
    assert ebbtide("schema").stdout == schema.read_bytes()
    assert b"transcript-jsonl" in ebbtide("formats").stdout


def test_a_reader_that_goes_away_is_no_error() -> None:
    """`ebbtide ... | head` ends without a traceback."""
    command = f"{sys.executable} -m ebbtide score --json {CHAT} | head -c 10"
    process = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60, check=False)
    assert b"Traceback" not in process.stderr


def test_every_command_has_help() -> None:
    """Each command and option says what it does."""
    for command in ("score", "stop", "extract", "formats", "schema"):
        printed = ebbtide(command, "--help").stdout.decode()
        assert "Usage" in printed
        assert len(printed.splitlines()) > 5


@pytest.mark.clause("N08")
def test_semantic_on_says_what_it_ran_on() -> None:
    """With the extra installed, the level runs offline on the real model and names it."""
    wire = json.loads(ebbtide("score", "--json", "--semantic", "on", GOES_ON).stdout)
    assert "MiniLM" in wire["semantic"]
    assert wire["novelty_by_round"][1]["novelty_rate_L2"] is not None
    assert "meaning by" in ebbtide("score", "--semantic", "auto", GOES_ON).stdout.decode()


def test_semantic_auto_goes_on_without_and_on_fails() -> None:
    """A model that is not there is an error with `on`; with `auto` the result says why it is missing."""
    nowhere = ("--embedder", "folder:/nowhere/at/all")
    process = ebbtide("stop", "--semantic", "on", *nowhere, SHIPS)
    assert process.returncode == 2
    assert "/nowhere/at/all" in process.stderr.decode()
    process = ebbtide("stop", "--json", "--semantic", "auto", *nowhere, SHIPS)
    assert process.returncode == 10
    assert "/nowhere/at/all" in json.loads(process.stdout)["semantic_problem"]
    assert (
        "the semantic level is off" in ebbtide("stop", "--semantic", "auto", *nowhere, SHIPS).stderr.decode()
    )
    assert ebbtide("stop", "--embedder", "word2vec", SHIPS).returncode == 2
