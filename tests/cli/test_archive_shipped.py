"""What sessions shipped, in an archive: a stored field, the sums of its report, and endings against git."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.cli.test_shipped import session
from tests.shipped.conftest import Project

Here = Callable[..., Any]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "shop")


def finish(path: Path) -> None:
    """Let a session end with words that say it is done."""
    last = json.loads(path.read_text().splitlines()[-1])
    words = {"id": "end", "role": "assistant", "content": [{"type": "text", "text": "The work is done."}]}
    line = {**last, "type": "assistant", "uuid": "end", "message": words}
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


@pytest.fixture
def results(here: Here, project: Project, tmp_path: Path) -> Path:
    """An archive of sessions: landed, reverted, unknown, and one that only spoke."""
    runs = tmp_path / "runs"
    finish(session(project, runs, "a", edits="cart.py"))
    project.commit("Add the cart")
    finish(session(project, runs, "b", edits="order.py", model="claude-haiku-4-5"))
    project.commit("Add orders")
    project.git("revert", "--no-edit", "HEAD")
    session(project, runs, "gone", edits="gone.py")
    (project.path / "gone.py").unlink()
    session(project, runs, "talk", edits=None)
    output = tmp_path / "results.parquet"
    done = here("archive", "check", runs, "--repo", project.path, "-o", output, "--jobs", "1")
    assert done.code == 0, done
    return output


def test_each_run_has_its_commits(results: Path, project: Project) -> None:
    """A field of the row: what is unknown is null, and never 0."""
    query = "SELECT session, shipped FROM read_parquet(?) ORDER BY session"
    rows = dict(duckdb.sql(query, params=[str(results)]).fetchall())
    assert {name: row["known"] for name, row in rows.items()} == {
        "claude:a": "commits",
        "claude:b": "commits",
        "claude:gone": "unknown",
        "claude:talk": "no change",
    }
    landed = rows["claude:a"]
    assert (landed["landed"], landed["lines_surviving"], landed["cost_usd"]) == (1, 10, pytest.approx(0.3))
    (reverted,) = rows["claude:b"]["commits"]
    assert (reverted["fate"], reverted["reverted_by"]) == ("reverted", project.head())
    sums = ("commits", "landed", "reverted", "lines_added", "lines_surviving")
    assert [rows["claude:gone"][name] for name in sums] == [None] * 5


def test_the_report_has_the_cost_of_a_landed_change(here: Here, results: Path, tmp_path: Path) -> None:
    """By agent, model and project, on the screen, as JSON and on the page."""
    page = tmp_path / "page.html"
    wire = json.loads(here("archive", "report", results, "--json", "--html", page).output)
    total = wire["shipped"]
    assert (total["sessions"], total["unknown"], total["unchanged"]) == (2, 1, 1)
    assert (total["landed"], total["reverted"], total["lines_surviving"]) == (1, 1, 10)
    assert total["usd_per_landed_change"] == pytest.approx(0.4)
    assert total["usd_per_surviving_line"] == pytest.approx(0.04)
    by_model = {line["name"]: line["usd_per_landed_change"] for line in wire["shipped_by"]["model"]}
    assert by_model == {"claude-sonnet-4-5": pytest.approx(0.3), "claude-haiku-4-5": None}
    assert [line["name"] for line in wire["shipped_by"]["agent"]] == ["claude"]
    screen = here("archive", "report", results).output
    for text in (screen, page.read_text()):
        words = " ".join(text.split())
        assert "Shipped by 2 sessions with commits: 1 landed, 1 reverted, 0 open, 0 lost; $0.40 per" in words
        assert "What sessions shipped, by model" in text
        assert "1 session changed files that no commit there contains: unknown" in words


def test_the_question_of_the_page_has_the_numbers_of_the_report(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(results.parent)
    page = (Path(__file__).parents[2] / "docs" / "archives.md").read_text(encoding="utf-8")
    (question,) = [block for block in page.split("```sql\n")[1:] if "shipped.landed" in block]
    rows = duckdb.sql(question.partition("```")[0]).fetchall()
    assert rows == [
        ("claude-haiku-4-5", 0, 1, None),
        ("claude-sonnet-4-5", 1, 0, pytest.approx(0.3)),
    ]


def test_an_ending_that_was_reverted_counts_against_it(here: Here, results: Path) -> None:
    """Without a table of outcomes git says how the runs came out; what is not settled is no witness."""
    wire = json.loads(here("archive", "calibrate", results, "--json").output)
    assert wire["outcomes"] == 2
    finished = wire["endings"][0]
    assert (finished["headline"], finished["landed"], finished["reverted"]) == ("FINISHED", 1, 1)
    assert (finished["unsettled"], finished["right"]["rate"]) == (1, 0.5)
    screen = here("archive", "calibrate", results).output
    assert "Endings, against git" in screen
    assert "FINISHED" in screen


def test_what_no_repository_was_asked_about_stays_unknown(
    here: Here, project: Project, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    session(project, runs, "a", edits="cart.py")
    project.commit("Add the cart")
    output = tmp_path / "plain.parquet"
    here("archive", "check", runs, "-o", output)
    wire = json.loads(here("archive", "report", output, "--json").output)
    assert (wire["shipped"], wire["shipped_by"]) == (None, {})
    assert "hipped" not in here("archive", "report", output).output
    refused = here("archive", "calibrate", output)
    assert (refused.code, "no run has a change that landed" in refused.message) == (2, True)
    refused = here("archive", "calibrate", runs)
    assert (refused.code, "traces need --outcomes FILE" in refused.message) == (2, True)


def test_a_repository_that_cannot_be_asked_is_refused_before_the_work(here: Here, tmp_path: Path) -> None:
    output = tmp_path / "results.parquet"
    refused = here("archive", "check", "runs", "--repo", tmp_path / "none", "-o", output)
    assert (refused.code, "no such folder" in refused.message) == (2, True)
    assert not list(tmp_path.glob("results*"))
    refused = here("archive", "check", "runs", "--repo", tmp_path, "--rows", "--map", "phoenix", "-o", output)
    assert (refused.code, "leave out --rows" in refused.message) == (2, True)


def test_sub_agents_count_with_their_session(here: Here, project: Project, tmp_path: Path) -> None:
    """What a sub-agent edited and cost belongs to the run of the session that started it."""
    runs = tmp_path / "runs"
    session(project, runs, "s", edits=None)
    below = session(project, runs / "s" / "subagents", "agent-1", edits="cart.py")
    below.write_text(below.read_text().replace('"sessionId": "agent-1"', '"sessionId": "s"'))
    project.commit("Add the cart")
    output = tmp_path / "results.parquet"
    assert here("archive", "check", runs, "--repo", project.path, "-o", output, "--jobs", "1").code == 0
    query = "SELECT session, shipped.landed, shipped.cost_usd FROM read_parquet(?) ORDER BY session"
    rows = duckdb.sql(query, params=[str(output)]).fetchall()
    assert rows == [("claude:agent-1", None, None), ("claude:s", 1, pytest.approx(0.6))]
