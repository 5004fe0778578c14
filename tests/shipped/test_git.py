"""What a repository names is not run, and what git cannot answer is an error in words."""

import os
import subprocess
from pathlib import Path

import pytest

from ebbtide.errors import ConfigError
from ebbtide.shipped.git import GitError, Repository
from ebbtide.supervision.summary.run_shipped import Fate
from tests.shipped.conftest import Project, Session, code


def test_no_program_that_a_repository_names_is_run(project: Project, tmp_path: Path) -> None:
    session = Session(project)
    session.edit("cart.py", code("cart"))
    (project.path / "picture.bin").write_bytes(bytes(range(256)))
    made = session.commit("Add the cart")
    project.git("revert", "--no-edit", made)
    project.git("switch", "-qc", "feature")
    session.edit("order.py", code("order"))
    session.commit("Add orders")
    project.git("switch", "-q", "main")
    project.git("merge", "-q", "--squash", "feature")
    project.commit("Orders (#3)")
    (project.path / ".git" / "info" / "attributes").write_text("* diff=evil filter=evil\n")
    mark, program = tmp_path / "ran", tmp_path / "evil.sh"
    program.write_text(f"#!/bin/sh\necho ran >> {mark}\ncat\n")
    program.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in (
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
    ):
        (hooks / name).symlink_to(program)
    remote = f"ext::{program}"
    for key, value in {
        "core.fsmonitor": str(program),
        "core.hooksPath": str(hooks),
        "core.pager": str(program),
        "core.sshCommand": str(program),
        "core.alternateRefsCommand": str(program),
        "core.gitProxy": str(program),
        "pager.blame": str(program),
        "pager.rev-list": str(program),
        "diff.external": str(program),
        "diff.evil.command": str(program),
        "diff.evil.textconv": str(program),
        "filter.evil.clean": str(program),
        "filter.evil.smudge": str(program),
        "filter.evil.process": str(program),
        "log.showSignature": "true",
        "gpg.program": str(program),
        "credential.helper": str(program),
        "remote.origin.url": remote,
        "remote.origin.promisor": "true",
        "remote.origin.partialclonefilter": "blob:none",
        "remote.origin.uploadpack": str(program),
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "alias.blame": f"!{program}",
        "alias.rev-list": f"!{program}",
    }.items():
        with (project.path / ".git" / "config").open("a") as file:
            section, _, name = key.rpartition(".")
            head, _, sub = section.partition(".")
            file.write(f'[{head}{f" {chr(34)}{sub}{chr(34)}" if sub else ""}]\n{name} = "{value}"\n')
    session.shell("git commit -m x", "[main abc1234] Not here\n 1 file changed")  # a promisor would be asked
    outcome = session.outcome()
    assert [item.fate for item in outcome.commits] == [Fate.REVERTED, Fate.LANDED]
    assert outcome.commits[1].lines_surviving == 10
    assert Repository(project.path).words_here(["order_1"]) == {"order_1"}
    assert Repository(project.path).state()
    assert not mark.exists(), mark.read_text()


def test_variables_of_the_environment_do_not_lead_elsewhere(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Project(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    assert Repository(project.path).roots() == (os.path.realpath(project.path),)


@pytest.mark.parametrize(("name", "words"), [("nowhere", "no such folder"), (".", "not a git repository")])
def test_a_folder_without_a_repository_is_named(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Repository(tmp_path / name)


def test_without_git_the_error_says_so(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError, match="git is not installed"):
        Repository(project.path)


def test_a_repository_without_a_commit_answers_with_nothing(tmp_path: Path) -> None:
    project = Project(tmp_path / "empty")
    (project.path / ".git" / "refs" / "heads" / "main").unlink()
    session = Session(project)
    assert session.outcome().commits == ()


def test_names_of_files_and_messages_may_hold_anything(project: Project) -> None:
    session = Session(project)
    session.edit('a folder/ü\n\t"x".py', code("cart"))
    session.commit("Add \x01 it\n\nbody\x01with\x02marks")
    change = session.outcome().commits[0]
    assert (change.lines_added, change.lines_surviving) == (10, 10)


def test_lines_that_git_cannot_count_are_unknown(project: Project) -> None:
    session = Session(project)
    session.edit("cart.py", code("cart"))
    session.commit("Add the cart")
    project.git("config", "blame.ignoreRevsFile", "/nowhere")
    change = session.outcome().commits[0]
    assert (change.fate, change.lines_surviving) == (Fate.LANDED, None)


def test_words_of_the_commit_are_found_whole_and_in_any_case(project: Project) -> None:
    """Pages of words and what is not committed do not count; a repository without a commit cannot say."""
    project.write("store.py", ["import Redis", "path = 'docs/diagrams/'"])
    project.write("notes.md", ["We use no kafka."])
    project.commit("Add the store")
    project.write("later.py", ["import celery"])
    words = ["redis", "docs/diagrams/", "kafka", "celery", "red", "-e", "--help"]
    assert Repository(project.path).words_here(words) == {"redis", "docs/diagrams/"}
    assert Repository(project.path).words_here([]) == set()
    empty = project.path.parent / "empty"
    subprocess.run(["git", "init", "-q", str(empty)], check=True)
    with pytest.raises(GitError):
        Repository(empty).words_here(["redis"])
