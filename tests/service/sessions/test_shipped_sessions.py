"""What sessions of this machine shipped stands beside their runs, and follows their repository."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ebbtide.budget.prices import Prices
from ebbtide.report.page import page
from ebbtide.service.runs.listing import find_run
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.service.runs.run_report import summary
from ebbtide.service.sessions.session_watch import SessionWatch
from ebbtide.service.sessions.shipped_sessions import ShippedSessions
from tests.shipped.conftest import Project, code


class Machine:
    """A repository, sessions in a home, and a service that reads them."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "claude"
        self.project = Project(folder / "shop")
        self.project.now = time.time() - 3_600.0
        self.runs = LiveRuns(RunDatabase(folder / "runs.db"), prices=Prices())
        environment = {"CLAUDE_CONFIG_DIR": str(self.home), "HOME": str(folder)}
        self.watch = SessionWatch(self.runs, environment)
        self.shipped = ShippedSessions(self.runs.database)

    def close(self) -> None:
        self.watch.close()
        self.runs.close()

    def session(self, name: str, edits: str | None) -> None:
        """A session that writes a file of the project, or only speaks."""
        self.project.now += 60
        at = datetime.fromtimestamp(self.project.now, UTC).isoformat().replace("+00:00", "Z")
        base = {"sessionId": name, "cwd": str(self.project.path), "version": "2.0.0", "timestamp": at}
        content: list[dict[str, Any]] = [{"type": "text", "text": "Done."}]
        if edits is not None:
            self.project.write(edits, code(name))
            words = {"file_path": str(self.project.path / edits), "content": "x"}
            content = [{"type": "tool_use", "id": f"t{name}", "name": "Write", "input": words}]
        usage = {"input_tokens": 100_000, "output_tokens": 0}
        message = {"id": f"m{name}", "model": "claude-sonnet-4-5", "role": "assistant", "usage": usage}
        lines = [{"type": "assistant", "uuid": f"{name}1", "message": {**message, "content": content}}]
        if edits is not None:
            result = {"type": "tool_result", "tool_use_id": f"t{name}", "content": "ok"}
            lines.append(
                {"type": "user", "uuid": f"{name}2", "message": {"role": "user", "content": [result]}}
            )
        path = self.home / "projects" / "-shop" / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps({**base, **line}) + "\n" for line in lines))

    def look(self) -> list[str]:
        """The runs of which something else is known."""
        while self.watch.look():
            pass
        self.runs.database.flush().result()
        return sorted(self.shipped.look(time.time()))

    def words(self, name: str) -> str | None:
        run = find_run(self.runs.database, f"claude:{name}")
        assert run is not None
        words: str | None = run["shipped"]
        return words


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    yield machine
    machine.close()


def test_a_run_follows_its_repository(machine: Machine) -> None:
    """Open work is unknown, a commit lands, and a revert of it is told of; unknown is never 0."""
    machine.session("a", "cart.py")
    machine.session("talk", None)
    assert machine.look() == ["claude:a", "claude:talk"]
    assert (machine.words("a"), machine.words("talk")) == ("unknown", "no change")
    assert machine.look() == []
    machine.project.commit("Add the cart")
    assert machine.look() == ["claude:a"]
    assert machine.words("a") == "1 landed"
    machine.project.git("revert", "--no-edit", "HEAD")
    assert machine.look() == ["claude:a"]
    assert machine.words("a") == "1 reverted"


def test_the_report_of_a_run_has_its_commits(machine: Machine) -> None:
    machine.session("a", "cart.py")
    machine.project.commit("Add the cart")
    machine.look()
    outcome = summary(machine.runs, "claude:a")
    assert outcome.shipped is not None
    assert (outcome.shipped.landed, outcome.shipped.lines_surviving) == (1, 10)
    assert outcome.to_dict()["shipped"]["commits"][0]["commit"] == machine.project.head()
    assert f">{machine.project.head()[:10]}<" in page([outcome])


def test_a_folder_without_a_repository_says_nothing(machine: Machine) -> None:
    machine.project.path.rename(machine.project.path.with_name("moved"))
    machine.project.path.mkdir()
    machine.session("a", "cart.py")
    assert machine.look() == []
    assert machine.words("a") is None
