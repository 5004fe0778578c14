"""What verdicts would have saved and cost, against counts by hand."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ebbtide.batch.results.run_result import ResultStatus, RunResult, result_batch, result_schema
from ebbtide.batch.sweep.ended_runs import ended_by_results
from ebbtide.batch.sweep.run_outcomes import RunOutcomes
from ebbtide.cli.archive.calibrate import calibrate
from ebbtide.errors import ConfigError
from ebbtide.rate import Rate
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.summary.run_summary import LadderStep

# The run, its verdict and kind, what it cost and what came after the verdict, and whether it succeeded.
ROWS = [
    ("a", "stop", "repeat", 2.0, 1.5, False),
    ("b", "stop", "repeat", 1.0, 0.5, False),
    ("c", "stop", "cycle", 4.0, 1.0, True),
    ("d", "escalate", "stuck_rounds", 3.0, 2.0, False),
    ("e", "nudge", "repeat", 1.0, None, False),
    ("f", "allow", None, 1.0, None, True),
    ("g", "allow", None, 1.0, None, True),
    ("i", "stop", "repeat", 1.0, 0.0, True),
    ("unknown", "stop", "repeat", 9.0, 9.0, None),
]


def step(action: str, kind: str | None, saved: float | None, events_after: int = 4) -> LadderStep:
    """Where the run came to its verdict."""
    return LadderStep(
        action=Action(action),
        kind=kind,
        event=9,
        events_after=events_after,
        calls_after=events_after // 2,
        usd_after=saved,
    )


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
            steps=() if action == "allow" else (step(action, kind, saved),),
        )
        for name, action, kind, cost, saved, _ in ROWS
        if name != "i"
    ]
    rows.append(RunResult(run_id="h", source="made", status=ResultStatus.UNREADABLE))
    at_its_end = (step("stop", "repeat", 0.0, events_after=0),)
    rows.append(
        RunResult(run_id="i", source="made", status=ResultStatus.CHECKED, cost_usd=1.0, steps=at_its_end)
    )
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
    """In all and by kind; a run without an outcome counts nowhere, and one at its end was not ended."""
    lines = ended_by_results(results, RunOutcomes.load(outcomes, "run_id", "solved"))
    table = [
        (line.ended.action, line.kind, line.ended.runs, line.ended.failed, line.ended.lost_successes)
        for line in lines
    ]
    assert table == [
        ("stop", None, 3, 2, 1),
        ("stop", "repeat", 2, 2, 0),
        ("stop", "cycle", 1, 0, 1),
        ("escalate", None, 4, 3, 1),
        ("escalate", "repeat", 2, 2, 0),
        ("escalate", "cycle", 1, 0, 1),
        ("escalate", "stuck_rounds", 1, 1, 0),
    ]
    stop = lines[0].ended
    assert (stop.saved_usd, stop.saved_calls, stop.priced, stop.lost_usd) == (2.0, 4, 2, 4.0)
    assert stop.lost_share == 0.25
    assert (stop.precision_low, stop.precision_high) == Rate(hits=2, total=3).interval
    assert (stop.lost_low, stop.lost_high) == Rate(hits=1, total=4).interval
    assert lines[3].ended.saved_usd == 4.0


def test_the_screen_and_the_json_say_the_same(
    results: Path, outcomes: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line of the one is a row of the other."""
    monkeypatch.setenv("COLUMNS", "160")
    arguments = [str(results), "--outcomes", str(outcomes), "--outcome", "solved"]
    calibrate.main([*arguments, "--json"], standalone_mode=False)
    wire = json.loads(capsys.readouterr().out)
    assert (wire["outcomes"], len(wire["lines"])) == (8, 7)
    calibrate.main(arguments, standalone_mode=False)
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 9
    assert rows[2].split()[:3] == ["3", "2", "67%"]


@pytest.mark.parametrize("words", [("true", "false"), ("1", "0"), ("Success", "failed"), ("yes", "no")])
def test_words_for_outcomes(words: tuple[str, str], tmp_path: Path) -> None:
    """Those that tables have."""
    path = tmp_path / "o.csv"
    path.write_text(f"run_id,state\na,{words[0]}\nb,{words[1]}\nc,\n")
    assert RunOutcomes.load(path, "run_id", "state").by_run == {"a": True, "b": False}


def test_what_cannot_be_used_says_why(results: Path, tmp_path: Path) -> None:
    """A word that nobody knows, a column and a file that are not there, and outcomes of other runs."""
    path = tmp_path / "o.csv"
    path.write_text("run_id,state\na,perhaps\n")
    with pytest.raises(ConfigError, match="state = 'perhaps': expected one of true"):
        RunOutcomes.load(path, "run_id", "state")
    path.write_text("run_id,state\na,yes\na,no\n")
    with pytest.raises(ConfigError, match="'a' has two outcomes"):
        RunOutcomes.load(path, "run_id", "state")
    with pytest.raises(ConfigError, match="no column 'stat' among run_id, state; did you mean state"):
        RunOutcomes.load(path, "run_id", "stat")
    with pytest.raises(ConfigError, match="no table of outcomes"):
        RunOutcomes.load(tmp_path / "gone.parquet", "run_id", "state")
    with pytest.raises(ConfigError, match="an outcome for none of the runs"):
        ended_by_results(results, RunOutcomes(by_run={"z": True}))
    rows = pq.read_table(results).to_pylist()[:2]
    twice = [{**row, "run_id": f"{number}/a.json"} for number, row in enumerate(rows)]
    pq.write_table(pa.Table.from_pylist(twice, result_schema()), tmp_path / "twice.parquet")
    with pytest.raises(ConfigError, match=r"'a' may be 0/a\.json and 1/a\.json"):
        ended_by_results(tmp_path / "twice.parquet", RunOutcomes(by_run={"a": True}))


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
    outcomes = RunOutcomes.load(tmp_path / f"outcomes.{kind}", "run", "resolved")
    first = ended_by_results(path, outcomes)[0]
    assert (first.kind, first.ended.failed, first.ended.lost_successes) == (None, 2, 1)
