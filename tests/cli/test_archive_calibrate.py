"""`ebbtide archive calibrate` as its users call it: traces and tables in, a table and a profile out."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ebbtide.profile import Profile

LOOK = {"kind": "tool", "name": "ls", "args": {"path": "."}, "result": "a.txt"}
STUCK = [{"kind": "llm", "cost_usd": 0.25}, LOOK] * 10
LATE = [*STUCK[:8], *({**LOOK, "args": {"path": f"{n}"}, "result": f"chapter {n}"} for n in range(6))]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Forty stuck runs that failed, and forty that found their way late; with their outcomes."""
    folder = tmp_path / "runs"
    folder.mkdir()
    outcomes = []
    for number in range(80):
        (folder / f"{number:02}.jsonl").write_text("\n".join(map(json.dumps, LATE if number % 2 else STUCK)))
        outcomes.append({"task": f"{number:02}", "passed": bool(number % 2)})
    (tmp_path / "outcomes.json").write_text(json.dumps(outcomes))
    return folder


@pytest.fixture
def known(archive: Path) -> list[str]:
    """The options that name the outcomes."""
    return [
        "--outcomes",
        str(archive.parent / "outcomes.json"),
        "--outcome",
        "passed",
        "--outcome-run",
        "task",
    ]


def test_the_table_says_what_the_json_says(here, archive: Path, known: list[str]) -> None:
    """A row a verdict and a setting; settings without a difference in a line of their own."""
    line = [
        "archive",
        "calibrate",
        archive,
        *known,
        "--sweep",
        "divergence.copies=3,4",
        "--sweep",
        "divergence.polls=9",
    ]
    wire = json.loads(here(*line, "--json").output)
    assert (wire["runs"], wire["successes"], wire["priced"], wire["without_run"]) == (80, 40, 80, 0)
    assert len(wire["lines"]) == 3 * 4
    stops = [item for item in wire["lines"] if item["action"] == "stop"]
    assert [(item["is_current"], item["failed"], item["lost_successes"]) for item in stops] == [
        (True, 40, 40),
        (False, 40, 40),
        (False, 40, 0),
    ]
    ended = here(*line)
    assert ended.code == 0
    assert ended.output.startswith(
        "80 runs with an outcome: 40 succeeded, 40 failed; the cost of 80 is known\n"
    )
    rows = [text.split() for text in ended.output.splitlines()]
    as_it_is = next(row for row in rows if row[-3:] == ["as", "it", "is"] and row[0].isdigit())
    assert as_it_is[:3] == ["80", "40", "50%"]
    assert "$60.00" in as_it_is  # of each, six times a quarter
    assert "No difference: divergence.copies = 3, divergence.polls = 9." in ended.output


def test_the_best_setting_becomes_a_profile(here, archive: Path, known: list[str], tmp_path: Path) -> None:
    """That saves what the table says, and where there is no better one none is written."""
    line = ["archive", "calibrate", archive, *known]
    wanted = ["--lose-at-most", "9%", "--output", tmp_path / "later.toml"]
    ended = here(*line, *wanted, "--sweep", "divergence.copies=4,6")
    assert ended.code == 0
    words = " ".join(ended.output.split())
    best = "divergence.copies = 4 saves most: $50.00, 400 calls of 40 runs that failed."
    assert f"{best} It loses 0 of 40 successes." in words
    assert Profile.load(tmp_path / "later.toml").divergence.copies == 4
    assert (
        "# Chosen by ebbtide archive calibrate: divergence.copies = 4."
        in (tmp_path / "later.toml").read_text()
    )
    again = json.loads(
        here(*line, "--profile", tmp_path / "later.toml", "--sweep", "divergence.copies=5", "--json").output
    )
    stop = next(item for item in again["lines"] if item["action"] == "stop")
    assert (stop["saved_usd"], stop["lost_successes"]) == (50.0, 0)
    nothing = here(*line, "--lose-at-most", "0.01", "--output", tmp_path / "no.toml")
    assert nothing.code == 2
    assert "no better setting was found" in nothing.message
    assert "No setting is sure to lose at most 1% of the successes" in " ".join(nothing.output.split())
    assert not (tmp_path / "no.toml").exists()


def test_rows_and_files_and_results_say_the_same(
    here, archive: Path, known: list[str], tmp_path: Path
) -> None:
    """A table of the same runs, and what `archive check` made of them before."""
    table = tmp_path / "rows.jsonl"
    rows = [
        {"run": path.stem, "step": step, **event}
        for path in sorted(archive.iterdir())
        for step, event in enumerate(map(json.loads, path.read_text().splitlines()))
    ]
    table.write_text("\n".join(map(json.dumps, rows)))
    results = tmp_path / "results.parquet"
    here("archive", "check", archive, "-o", results)
    sweep = ["--sweep", "divergence.copies=4", "--json"]
    of_files = json.loads(here("archive", "calibrate", archive, *known, *sweep).output)
    names = ["--rows", "--run", "run", "--order", "step"]
    of_rows = json.loads(here("archive", "calibrate", table, *names, *known, *sweep).output)
    assert of_rows["lines"] == of_files["lines"]
    of_results = json.loads(here("archive", "calibrate", results, *known, "--json").output)["lines"]
    in_all = {item["action"]: item for item in of_results if item["kind"] is None}
    for item in of_files["lines"]:
        if item["is_current"] and item["action"] in in_all:
            line = in_all[item["action"]]
            assert {key: value for key, value in line.items() if key in item} == {
                key: value for key, value in item.items() if key in line
            }


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--sweep", "divergence.copis=4"], "did you mean copies"),
        (["--lose-at-most", "much"], "expected a share, such as 2% or 0.02"),
        (["--lose-at-most", "120%"], "expected a share"),
        (["--output", "x.toml"], "--output needs --lose-at-most"),
        (
            ["--output", "x.toml", "--lose-at-most", "5%", "--sweep", "limits.steps=9"],
            "which cannot contain limits",
        ),
        (["--order", "step"], "add --rows"),
        (["--outcome-run", "id"], "there is no column 'id' among task, passed"),
        (["--outcome-run", "passed"], "an outcome for none of the runs"),
        (["results.parquet"], "name only one kind"),
        (["--end-at", "allow"], "is not one of stop, escalate, finalize, nudge"),
    ],
)
def test_what_cannot_be_done_says_why(
    here, archive: Path, known: list[str], more: list[str], message: str
) -> None:
    """In one sentence, before anything is read."""
    ended = here("archive", "calibrate", archive, *known, *more)
    assert ended.code == 2
    assert message in ended.message


def test_results_are_judged_already(here, archive: Path, known: list[str], tmp_path: Path) -> None:
    """Other settings need the traces."""
    here("archive", "check", archive, "-o", tmp_path / "results.parquet")
    ended = here("archive", "calibrate", tmp_path / "results.parquet", *known, "--sweep", "patience=2")
    assert (ended.code, "is already judged" in ended.message) == (2, True)


@pytest.mark.skipif(sys.platform == "win32", reason="no resource module there")
def test_memory_does_not_grow_with_the_runs(archive: Path, known: list[str]) -> None:
    """Thirty times the runs take hardly more."""
    code = (
        "import resource, sys; from ebbtide.cli.app import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    peaks = []
    for times in (1, 30):
        outcomes = []
        for path in sorted(archive.glob("??.jsonl")):
            for number in range(times):
                (archive / f"{path.stem}-{number}.jsonl").write_bytes(path.read_bytes())
                outcomes.append({"task": f"{path.stem}-{number}", "passed": True})
        Path(known[1]).write_text(json.dumps(outcomes))
        line = ["archive", "calibrate", archive, *known, "--sweep", "divergence.copies=4", "--jobs", "1"]
        process = subprocess.run(
            [sys.executable, "-c", code, *line], capture_output=True, check=True, text=True
        )
        peaks.append(int(process.stderr.split()[-1]))
    assert peaks[1] < 1.3 * peaks[0]
