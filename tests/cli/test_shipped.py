"""`ebbtide check --repo`: costs of landed changes, on the screen and as JSON."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.shipped.conftest import START, Project, code, with_checkpoints

Here = Callable[..., Any]
USAGE = {"input_tokens": 100_000, "output_tokens": 0}  # $0.30 at the price of the model


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "shop")


def stamp(ts: float) -> str:
    return f"2026-11-02T09:{int(ts - START) // 60:02}:00.000Z"


def session(
    project: Project, folder: Path, name: str, *, edits: str | None, model: str = "claude-sonnet-4-5"
) -> Path:
    """The file of a session that wrote a file, or only spoke."""
    base = {"sessionId": name, "cwd": str(project.path), "version": "2.0.0"}
    project.now += 60
    at = stamp(project.now)
    content: list[dict[str, Any]] = [{"type": "text", "text": "Done."}]
    lines = [
        {"type": "user", "timestamp": at, "uuid": f"{name}0", "message": {"role": "user", "content": "Go"}}
    ]
    if edits is not None:
        project.write(edits, code(name))
        words = {"file_path": str(project.path / edits), "content": "x"}
        content = [{"type": "tool_use", "id": f"t{name}", "name": "Write", "input": words}]
    message = {"id": f"m{name}", "model": model, "role": "assistant", "usage": USAGE, "content": content}
    lines.append({"type": "assistant", "timestamp": at, "uuid": f"{name}1", "message": message})
    if edits is not None:
        result = {"type": "tool_result", "tool_use_id": f"t{name}", "content": "ok"}
        answer = {"role": "user", "content": [result]}
        lines.append({"type": "user", "timestamp": at, "uuid": f"{name}2", "message": answer})
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps({**base, **line}) + "\n" for line in lines))
    return path


def shipped(here: Here, *words: object) -> dict[str, Any]:
    done = here("check", *words, "--json")
    assert done.code == 0, done
    wire: dict[str, Any] = json.loads(done.output)
    return wire


def test_costs_of_landed_changes_add_up_over_models(here: Here, project: Project, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    session(project, runs, "a", edits="cart.py")
    project.commit("Add the cart")
    session(project, runs, "b", edits="order.py", model="claude-haiku-4-5")
    project.commit("Add orders")
    session(project, runs, "gone", edits="gone.py")
    (project.path / "gone.py").unlink()
    session(project, runs, "talk", edits=None)
    wire = shipped(here, runs, "--repo", project.path)
    assert (wire["sessions"], wire["unknown"], wire["unchanged"]) == (2, 1, 1)
    assert wire["changes"] == {"landed": 2, "rewritten": 0, "reverted": 0, "open": 0, "lost": 0}
    assert (wire["lines_added"], wire["lines_surviving"]) == (20, 20)
    assert wire["cost_usd"] == pytest.approx(0.4)
    assert wire["usd_per_landed_change"] == pytest.approx(0.2)
    assert wire["usd_per_surviving_line"] == pytest.approx(0.02)
    for name in ("agent", "model", "project"):
        parts = wire[f"by_{name}"]
        assert sum(part["cost_usd"] or 0 for part in parts) == pytest.approx(0.4)
        assert sum(part["changes"]["landed"] for part in parts if part["changes"]) == 2
    by_session = {row["session"]: row for row in wire["by_session"]}
    assert by_session["gone"]["commits"] is None
    assert by_session["talk"]["commits"] == []


def test_nothing_known_is_unknown_and_never_zero(here: Here, project: Project, tmp_path: Path) -> None:
    path = session(project, tmp_path / "runs", "gone", edits="gone.py")
    wire = shipped(here, path, "--repo", project.path)
    for name in ("cost_usd", "changes", "lines_added", "lines_surviving", "usd_per_landed_change"):
        assert wire[name] is None
    screen = here("check", path, "--repo", project.path).output
    assert "No session has a commit" in screen
    assert "1 session changed files that no commit here has: unknown" in screen


def test_sessions_of_this_machine_are_those_of_the_repository(
    here: Here, project: Project, tmp_path: Path
) -> None:
    home = tmp_path / "home" / ".claude" / "projects"
    session(project, home / "-shop", "a", edits="cart.py")
    project.commit("Add the cart")
    other = Project(tmp_path / "other")
    session(other, home / "-other", "b", edits="cart.py")
    wire = shipped(here, "--repo", project.path, "--since", "all")
    assert [row["session"] for row in wire["by_session"]] == ["a"]
    assert wire["changes"]["landed"] == 1
    refused = here("check", "--repo", tmp_path, "--since", "all")
    assert (refused.code, "not a git repository" in refused.message) == (2, True)


def test_the_page_has_the_commits_of_each_session(here: Here, project: Project, tmp_path: Path) -> None:
    """A column of the table, and a line a commit; what is not known says so."""
    runs = tmp_path / "runs"
    session(project, runs, "a", edits="cart.py")
    project.commit("Add the cart")
    landed = project.head()
    session(project, runs, "b", edits="order.py")
    project.commit("Add orders")
    project.git("revert", "--no-edit", "HEAD")
    session(project, runs, "gone", edits="gone.py")
    (project.path / "gone.py").unlink()
    session(project, runs, "talk", edits=None)
    page = tmp_path / "page.html"
    done = here("check", runs, "--repo", project.path, "--html", page)
    assert (done.code, "2 sessions with commits" in done.output) == (0, True)
    html = page.read_text()
    assert 'data-column="shipped"' in html
    for words in (">1 landed<", ">1 reverted<", ">unknown<", ">no change<"):
        assert words in html, words
    assert f">{landed[:10]}<" in html
    assert f"reverted by {project.head()[:10]}" in html
    assert "1 change: 1 landed. 10 of 10 lines that landed remain. A landed change cost $0.30." in html
    assert "Unknown: it changed files, and no commit in this clone has the changes." in html
    here("check", runs, "--html", page)
    assert 'data-column="shipped"' not in page.read_text()


def test_json_has_the_sums_of_each_session(here: Here, project: Project, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    session(project, runs, "a", edits="cart.py")
    project.commit("Add the cart")
    session(project, runs, "b", edits="order.py")
    project.commit("Add orders")
    project.git("revert", "--no-edit", "HEAD")
    session(project, runs, "gone", edits="gone.py")
    (project.path / "gone.py").unlink()
    rows = {row["session"]: row for row in shipped(here, runs, "--repo", project.path)["by_session"]}
    sums = ("known", "landed", "reverted", "lines_added", "lines_surviving")
    assert [rows["a"][name] for name in sums] == ["commits", 1, 0, 10, 10]
    assert [rows["b"][name] for name in sums] == ["commits", 0, 1, 0, 0]
    assert [rows["gone"][name] for name in sums] == ["unknown", None, None, None, None]
    assert rows["b"]["commits"][0]["reverted_by"] == project.head()


@pytest.mark.parametrize("other", [["--by", "model"], ["--format", "csv"], ["--fail-on", "stuck"]])
def test_other_outputs_are_refused(here: Here, project: Project, other: list[str]) -> None:
    done = here("check", "runs", "--repo", project.path, *other)
    assert (done.code, "--repo prints a screen" in done.message) == (2, True)


def test_check_reads_the_sessions_of_a_clone(here: Here, tmp_path: Path) -> None:
    """The branch of the remote is enough; a FILE beside it is refused."""
    checkpoints = with_checkpoints(tmp_path / "shop")
    checkpoints.git("clone", "-q", str(checkpoints.path), str(tmp_path / "clone"))
    done = here("check", "--git", tmp_path / "clone", "--json", "--no-cache")
    runs = [json.loads(text) for text in done.output.splitlines()]
    names = {Path(run["source"]).name for run in runs if "source" in run}
    assert (done.code, names) == (0, {"s1.jsonl", "agent-a1.jsonl"})
    assert here("check", "--git", tmp_path / "clone", "x.jsonl").code == 2
