"""Sessions in the checkpoints of a repository: the newest of each, from both ways to keep checkpoints."""

from pathlib import Path

import pytest

from ebbtide.shipped.checkpoints import write_sessions
from ebbtide.shipped.git import GitError, Repository
from tests.shipped.conftest import Project, line, with_checkpoints


@pytest.fixture
def checkpoints(tmp_path: Path) -> Project:
    return with_checkpoints(tmp_path / "shop")


def test_each_session_is_written_once_as_it_was_last(checkpoints: Project, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    files = write_sessions(Repository(checkpoints.path), folder)
    assert {file.name: file.read_text() for file in files} == {
        "s1.jsonl": line("one") + line("two"),
        "_s2.jsonl": line("three"),
    }
    assert (folder / "s1/subagents/agent-a1.jsonl").read_text() == line("below")


def test_a_file_that_is_still_right_is_left_alone(checkpoints: Project, tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    first = {file: file.stat().st_mtime_ns for file in write_sessions(Repository(checkpoints.path), folder)}
    checkpoints.git("update-ref", "-d", "refs/entire/checkpoints/cc/03")
    again = write_sessions(Repository(checkpoints.path), folder)
    assert [file.name for file in again] == ["s1.jsonl"]
    assert again[0].stat().st_mtime_ns == first[again[0]]
    assert [file.name for file in folder.glob("*.jsonl")] == ["s1.jsonl"]


def test_a_repository_without_checkpoints_says_what_to_fetch(tmp_path: Path) -> None:
    project = Project(tmp_path / "bare")
    with pytest.raises(GitError, match="git fetch origin entire/checkpoints/v1"):
        write_sessions(Repository(project.path), tmp_path / "sessions")
