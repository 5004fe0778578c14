"""What the results of an archive say, against sums that are done another way."""

import json
import random
import re
from math import fsum
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ebbtide.batch.archive.archive_summary import ArchiveSummary
from ebbtide.batch.archive.archive_words import archive_page, sentences, tables
from ebbtide.batch.archive.checking_runs import check_partition
from ebbtide.batch.results.archived_run import ArchivedRun, EventsRun, RefusedRun
from ebbtide.batch.results.run_result import result_schema
from ebbtide.cli.archive.report import report
from ebbtide.events.event import Event, ModelCall, ToolCall
from ebbtide.events.usage import Usage

SQL = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DAY = 1_780_000_000.0


def run(
    name: str, tool: str, copies: int, *, week: int = 0, model: str = "m-1", agent: str = "a"
) -> EventsRun:
    """A run that makes the same call so many times, at a cent a turn."""
    events: list[Event] = []
    for number in range(copies):
        at = DAY + week * 7 * 86_400 + number
        usage = Usage(model=model, input_tokens=1_000 + 100 * number, output_tokens=50, cost_usd=0.01)
        events += [
            ModelCall(text="Once more.", usage=usage, ts=at, agent=agent),
            ToolCall(name=tool, args={"q": name}, result="nothing", ts=at, agent=agent),
        ]
    return EventsRun(run_id=name, source="made", events=events)


RUNS: list[ArchivedRun] = [
    *(run(f"a{n}", "search", 5 + n, week=n % 3) for n in range(20)),
    *(run(f"b{n}", "fetch", 9 + n, week=n % 2, model="m-2", agent="<b>") for n in range(20)),
    EventsRun(run_id="free", source="made", events=[ToolCall(name="ls", args={}, result="a")]),
    RefusedRun("gone.jsonl", "a link to a file that is not there"),
]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of some runs."""
    path = tmp_path_factory.mktemp("archive") / "results.parquet"
    pq.write_table(pa.Table.from_batches(check_partition(RUNS), result_schema()), path)
    return path


@pytest.fixture(scope="module")
def summary(results: Path) -> ArchiveSummary:
    """What they say."""
    return ArchiveSummary.load(results)


def test_the_totals_are_those_of_the_rows(results: Path, summary: ArchiveSummary) -> None:
    """Every breakdown adds up to what the rows say."""
    rows = [row for row in pq.read_table(results).to_pylist() if row["status"] == "checked"]
    assert summary.runs == {"checked": 41, "unreadable": 1, "no_trace": 0, "out_of_time": 0}
    cost = fsum(row["cost_usd"] for row in rows if row["cost_usd"] is not None)
    wasted = fsum(row["wasted_usd"] for row in rows if row["wasted_usd"] is not None)
    assert (summary.total.whole.cost_usd, summary.total.wasted.cost_usd) == (
        pytest.approx(cost),
        pytest.approx(wasted),
    )
    for lines in (summary.agents, summary.models, summary.weeks):
        assert fsum(line.whole.cost_usd or 0 for line in lines) == pytest.approx(cost)
        assert fsum(line.wasted.cost_usd or 0 for line in lines) == pytest.approx(wasted)
        assert sum(line.runs for line in lines) == 41
    amounts = [line.amount.cost_usd or 0 for line in summary.waste if line.bought_nothing]
    assert fsum(amounts) == pytest.approx(wasted)
    assert {line.name for line in summary.agents} == {"a", "<b>", None}
    assert [line.name for line in summary.weeks] == [None, "2026-W22", "2026-W23", "2026-W24"]
    assert [run.run_id for run in summary.bad_runs] == ["gone.jsonl"]


def test_it_says_which_tool_wasted_most(summary: ArchiveSummary) -> None:
    """In the first lines, with its money."""
    assert summary.tools[0].name == "fetch"
    (line,) = (sentence for sentence in sentences(summary) if sentence.startswith("The tool"))
    assert re.fullmatch(r"The tool that wasted most: fetch, \$\d\.\d\d, [\d,]+ tokens in 20 runs", line)


def test_the_amounts_of_a_tool_are_not_taken_for_parts_of_one_sum(summary: ArchiveSummary) -> None:
    """What its results cost and what its calls wasted are two measures: a whole call is wasted."""
    by_title = {table.title.partition(":")[0]: table.headers for table in tables(summary)}
    assert by_title["Tools"][3:] == (
        "result cost",
        "result tokens",
        "call waste",
        "waste tokens",
        "avoidable",
    )
    assert by_title["Models"][3:] == ("cost", "tokens", "wasted", "wasted tokens", "avoidable")


def test_tokens_that_nobody_told_are_not_zero(tmp_path: Path) -> None:
    """Neither in the rows, nor in what they say."""
    calls = [ToolCall(name="web_search", args={"q": 1}, result="none")] * 12
    table = pa.Table.from_batches(
        check_partition([EventsRun(run_id="r", source="made", events=calls)]), result_schema()
    )
    (row,) = table.to_pylist()
    assert [row[name] for name in ("tokens", "wasted_tokens", "avoidable_tokens")] == [None] * 3
    pq.write_table(table, tmp_path / "results.parquet")
    summary = ArchiveSummary.load(tmp_path / "results.parquet")
    assert sentences(summary)[1] == "Cost: not stated"
    assert summary.tools[0].whole.tokens is None
    assert all("0" not in row[4:] for table in tables(summary) for row in table.rows)


def test_it_says_whose_reports_the_record_contradicts(tmp_path: Path) -> None:
    """By agent and by model, beside all reports that claim something; a run that claims nothing is none."""
    args = {"command": "git push"}
    push = ToolCall(name="Bash", args=args, result=" ! [rejected] main -> main", error=True)
    done = ToolCall(name="Bash", args=args, result="1c2d3e4..5f6a7b8  main -> main")
    said = [(push, "Pushed.", "m-1"), *((done, "Pushed.", model) for model in ("m-1", "m-2"))]
    said.append((done, "Ok.", "m-2"))
    runs = []
    for number, (call, words, model) in enumerate(said):
        usage = Usage(model=model, input_tokens=9, output_tokens=9)
        last = ModelCall(text=words, usage=usage, agent=model[-1])
        runs.append(EventsRun(run_id=f"{number}", source="made", events=[call, last]))
    path = tmp_path / "results.parquet"
    pq.write_table(pa.Table.from_batches(check_partition(runs), result_schema()), path)
    summary = ArchiveSummary.load(path)
    assert (summary.reports.reports, summary.reports.contradicted) == (3, 1)
    by_model = [(line.name, line.reports, line.contradicted) for line in summary.reports_by["model"]]
    assert by_model == [("m-1", 2, 1), ("m-2", 1, 0)]
    assert [line.name for line in summary.reports_by["agent"]] == ["1", "2"]
    assert "Claims and the record: 1 (33%) of 3 reports contradicted by the record" in sentences(summary)
    title = "Reports that claim something, by model"
    (rows,) = [table.rows for table in tables(summary) if table.title == title]
    assert rows[0] == ("m-1", "2", "1 (50%)", "0 (0%)", "0 (0%)")

    earlier = pq.read_table(path).drop_columns(["claims", "project"])
    pq.write_table(earlier, path)
    assert ArchiveSummary.load(path).reports.reports == 0


def test_the_worst_runs_come_first(summary: ArchiveSummary) -> None:
    """By what bought nothing; those that wasted nothing are not among them."""
    wasted = [run.wasted_usd for run in summary.worst]
    assert wasted == sorted(wasted, reverse=True)
    assert (summary.worst[0].run_id, len(summary.worst)) == ("b19", 40)


def test_the_order_of_rows_changes_nothing(results: Path, summary: ArchiveSummary, tmp_path: Path) -> None:
    """Shuffled rows in other groups say the same, to the last bit."""
    table = pq.read_table(results)
    for seed in range(5):
        order = random.Random(seed).sample(range(len(table)), len(table))  # noqa: S311
        shuffled = tmp_path / f"{seed}.parquet"
        pq.write_table(table.take(order), shuffled, row_group_size=1 + seed)
        assert ArchiveSummary.load(shuffled) == summary


def test_the_page_is_safe_and_whole(summary: ArchiveSummary) -> None:
    """No name becomes markup, and every table of the screen is on it."""
    page = archive_page(summary, "results.parquet")
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert all(item.title in page for item in tables(summary))
    assert "default-src &#x27;none&#x27;" in page


def test_the_json_has_all_of_it(
    results: Path, summary: ArchiveSummary, capsys: pytest.CaptureFixture
) -> None:
    """What `--json` prints is the summary; the screen prints its sentences."""

    report.main([str(results), "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(summary.to_dict()))
    report.main([str(results)], standalone_mode=False)
    text = capsys.readouterr().out
    assert all(sentence in text for sentence in sentences(summary))
    assert "and 32 more: --all" in text


def test_the_sql_of_the_page_of_archives_runs(
    project: Path, results: Path, summary: ArchiveSummary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each block answers, and the first names the tool that the report names."""
    monkeypatch.chdir(results.parent)
    blocks = SQL.findall((project / "docs" / "archives.md").read_text(encoding="utf-8"))
    answers = [
        duckdb.sql(block).fetchall()
        for block in blocks
        if "results.parquet" in block and "shipped" not in block
    ]
    tool, wasted_usd, wasted_tokens, runs = answers[0][0]
    best = summary.tools[0]
    assert (tool, wasted_tokens, runs) == (best.name, best.wasted.tokens, best.runs)
    assert wasted_usd == pytest.approx(best.wasted.cost_usd)
    assert all(answers)
