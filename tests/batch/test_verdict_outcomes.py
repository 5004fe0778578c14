"""What verdicts would have saved and cost, against counts by hand."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ebbtide.batch.run_result import ResultStatus, RunResult, result_batch, result_schema
from ebbtide.batch.verdict_outcomes import ended_runs, load_outcomes, wilson
from ebbtide.cli.archive.archive_calibrate import calibrate_archive
from ebbtide.errors import ConfigError

# The run, its verdict and kind, what it cost and what came after the verdict, and whether it succeeded.
ROWS = [
    ("a", "stop", "repeat", 2.0, 1.5, False),
    ("b", "stop", "repeat", 1.0, 0.5, False),
    ("c", "stop", "cycle", 4.0, 1.0, True),
    ("d", "escalate", "stuck_rounds", 3.0, 2.0, False),
    ("e", "nudge", "repeat", 1.0, None, False),
    ("f", "allow", None, 1.0, None, True),
    ("g", "allow", None, 1.0, None, True),
    ("unknown", "stop", "repeat", 9.0, 9.0, None),
]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Results of eight runs, and one that could not be read."""
    rows = [
        RunResult(
            run_id=name,
            source="made",
            status=ResultStatus.CHECKED,
            action=action,
            kind=kind,
            cost_usd=cost,
            saved_usd=saved,
        )
        for name, action, kind, cost, saved, _ in ROWS
    ]
    rows.append(RunResult(run_id="h", source="made", status=ResultStatus.UNREADABLE))
    path = tmp_path / "results.parquet"
    pq.write_table(pa.Table.from_batches([result_batch(rows)], result_schema()), path)
    return path


@pytest.fixture
def outcomes(tmp_path: Path) -> Path:
    """How they came out."""
    path = tmp_path / "outcomes.csv"
    lines = [f"{name},{'' if solved is None else solved}" for name, *_, solved in ROWS]
    path.write_text("\n".join(["run_id,solved", *lines]))
    return path


def test_what_each_step_of_the_ladder_would_have_ended(results: Path, outcomes: Path) -> None:
    """In all and by kind; a run without an outcome counts nowhere."""
    lines = ended_runs(results, load_outcomes(outcomes, "run_id", "solved"))
    table = [(line.action, line.kind, line.runs, line.failed, line.lost_successes) for line in lines]
    assert table == [
        ("stop", None, 3, 2, 1),
        ("stop", "repeat", 2, 2, 0),
        ("stop", "cycle", 1, 0, 1),
        ("escalate", None, 4, 3, 1),
        ("escalate", "repeat", 2, 2, 0),
        ("escalate", "cycle", 1, 0, 1),
        ("escalate", "stuck_rounds", 1, 1, 0),
    ]
    stop = lines[0]
    assert (stop.saved_usd, stop.lost_usd, stop.lost_share) == (2.0, 4.0, pytest.approx(1 / 3))
    assert (stop.precision_low, stop.precision_high) == wilson(2, 3)
    assert (stop.lost_low, stop.lost_high) == wilson(1, 3)
    assert lines[3].saved_usd == 4.0


def test_the_screen_and_the_json_say_the_same(
    results: Path, outcomes: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line of the one is a row of the other."""
    monkeypatch.setenv("COLUMNS", "160")
    calibrate_archive([results], outcomes, run="run_id", outcome="solved", as_json=True)
    wire = json.loads(capsys.readouterr().out)
    assert (wire["outcomes"], len(wire["lines"])) == (7, 7)
    calibrate_archive([results], outcomes, run="run_id", outcome="solved", as_json=False)
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 9
    assert rows[2].split()[:3] == ["3", "2", "67%"]


@pytest.mark.parametrize("words", [("true", "false"), ("1", "0"), ("Success", "failed"), ("yes", "no")])
def test_words_for_outcomes(words: tuple[str, str], tmp_path: Path) -> None:
    """Those that tables have."""
    path = tmp_path / "o.csv"
    path.write_text(f"run_id,state\na,{words[0]}\nb,{words[1]}\nc,\n")
    assert load_outcomes(path, "run_id", "state") == {"a": True, "b": False}


def test_what_cannot_be_used_says_why(results: Path, tmp_path: Path) -> None:
    """A word that nobody knows, a column and a file that are not there, and outcomes of other runs."""
    path = tmp_path / "o.csv"
    path.write_text("run_id,state\na,perhaps\n")
    with pytest.raises(ConfigError, match="state = 'perhaps': expected one of true"):
        load_outcomes(path, "run_id", "state")
    with pytest.raises(ConfigError, match="no column 'stat'; did you mean state"):
        load_outcomes(path, "run_id", "stat")
    with pytest.raises(ConfigError, match="no table of outcomes"):
        load_outcomes(tmp_path / "gone.parquet", "run_id", "state")
    with pytest.raises(ConfigError, match="an outcome for none of its runs"):
        ended_runs(results, {"z": True})


@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_outcomes_as_json_by_the_names_of_files(kind: str, results: Path, tmp_path: Path) -> None:
    """As benchmarks write them down; folders need not be named."""
    table = pq.read_table(results).to_pylist()
    in_folders = [{**row, "run_id": f"/runs/{row['run_id']}"} for row in table]
    path = tmp_path / "folders.parquet"
    pq.write_table(pa.Table.from_pylist(in_folders, result_schema()), path)
    rows = [{"run": name, "resolved": solved} for name, *_, solved in ROWS]
    text = json.dumps(rows) if kind == "json" else "\n".join(map(json.dumps, rows))
    (tmp_path / f"outcomes.{kind}").write_text(text)
    outcomes = load_outcomes(tmp_path / f"outcomes.{kind}", "run", "resolved")
    counts = [
        (line.action, line.kind, line.failed, line.lost_successes) for line in ended_runs(path, outcomes)
    ]
    assert counts[0] == ("stop", None, 2, 1)
