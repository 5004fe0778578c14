"""A repository of git that a test makes, and the record of a session beside it."""

import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ebbtide.events.event import ToolCall
from ebbtide.shipped.git import Repository
from ebbtide.shipped.outcome import outcomes
from ebbtide.shipped.session_work import SessionWork, WorkReader
from ebbtide.supervision.summary.run_shipped import RunShipped

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC).timestamp()


class Project:
    """A repository with a clock of its own, and the sessions that worked in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.now = START
        path.mkdir()
        self.git("init", "-q", "-b", "main")
        self.write("README.md", ["# Shop"])
        self.commit("Start")

    def git(self, *words: str) -> str:
        """Run git as a person would; a minute passes."""
        self.now += 60
        when = f"{int(self.now)} +0000"
        by = {
            f"GIT_{who}_{key}": value
            for who in ("AUTHOR", "COMMITTER")
            for key, value in {"NAME": "N", "EMAIL": "n@example.org", "DATE": when}.items()
        }
        environment = {**os.environ, **by, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_EDITOR": "true"}
        done = subprocess.run(
            ["git", *words], cwd=self.path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def write(self, name: str, lines: list[str]) -> None:
        """Write a file."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{line}\n" for line in lines))

    def commit(self, title: str) -> str:
        """Commit everything; what git prints."""
        self.git("add", "-A")
        return self.git("commit", "-m", title)

    def head(self) -> str:
        """The commit that is checked out."""
        return self.git("rev-parse", "HEAD").strip()


class Session:
    """A session that edits and commits in a project."""

    def __init__(self, project: Project, name: str = "s1") -> None:
        self.project = project
        self.work = SessionWork(name, str(project.path), "claude-code")
        self._reader = WorkReader(self.work)

    def edit(self, name: str, lines: list[str]) -> None:
        """Write a file by a tool; a minute passes."""
        self.project.now += 60
        self.project.write(name, lines)
        args = {"file_path": str(self.project.path / name), "content": "\n".join(lines)}
        self._reader.see(ToolCall(name="Write", args=args, result="ok", ts=self.project.now))

    def shell(self, command: str, result: str) -> None:
        """Run a command."""
        self._reader.see(ToolCall(name="Bash", args={"command": command}, result=result, ts=self.project.now))

    def commit(self, title: str, *words: str) -> str:
        """Commit everything by a tool; the hash."""
        self.project.git("add", "-A")
        printed = self.project.git("commit", "-m", title, *words)
        self.shell(f"git commit -m '{title}' {' '.join(words)}", printed)
        return self.project.head()

    def outcome(self, *others: "Session") -> RunShipped:
        """What became of it, beside others."""
        return outcomes(Repository(self.project.path), [self.work, *(other.work for other in others)])[0]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "shop")


def code(name: str, number: int = 10) -> list[str]:
    """Different lines of a file."""
    return [f"def {name}_{line}(): return {line}" for line in range(number)]


BRANCH = "entire/checkpoints/v1"


def line(words: str) -> str:
    message = {"role": "user", "content": words}
    return json.dumps({"type": "user", "sessionId": "s1", "uuid": words, "message": message}) + "\n"


def keep(project: Project, place: str, session: str, created: str, **files: str) -> None:
    """Put a session of a checkpoint into the working tree, whatever its branch."""
    metadata = {"session_id": session, "created_at": created, "agent": "Claude Code"}
    texts = {"metadata.json": json.dumps(metadata), **files}
    for name, text in texts.items():
        path = project.path / place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def with_checkpoints(path: Path) -> Project:
    """A repository with two checkpoints of a session on the branch, and a session under a ref of its own."""
    project = Project(path)
    project.git("checkout", "-q", "--orphan", BRANCH)
    project.git("rm", "-rqf", ".")
    keep(project, "aa/01/0", "s1", "2026-11-02T09:00:00Z", **{"full.jsonl": line("one")})
    parts = {"full.jsonl": line("one"), "full.jsonl.001": line("two")}
    keep(project, "bb/02/0", "s1", "2026-11-02T10:00:00Z", **parts)
    below = project.path / "bb/02/tasks/t1/agent-a1.jsonl"
    below.parent.mkdir(parents=True)
    below.write_text(line("below"))
    project.git("add", "-A")
    project.git("commit", "-qm", "Checkpoints")
    project.git("checkout", "-q", "--orphan", "one")
    project.git("rm", "-rqf", ".")
    keep(project, "0", "../s2", "2026-11-02T11:00:00Z", **{"full.jsonl": line("three")})
    project.git("add", "-A")
    project.git("commit", "-qm", "Checkpoint")
    project.git("update-ref", "refs/entire/checkpoints/cc/03", "one")
    project.git("checkout", "-q", "main")
    project.git("branch", "-qD", "one")
    return project
