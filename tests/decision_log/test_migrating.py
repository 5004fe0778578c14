"""The schema: made whole or not at all, whatever happens on the way."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from ebbtide.database import migrating
from ebbtide.database.migrating import POSTGRESQL, SQLITE, statements, versions
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.store.sqlite import LOG_SCHEMA
from ebbtide.decisions.candidate import Candidate
from ebbtide.errors import StoreError

TEXT = "Use SQLite for the log because there is one writer"
NEWEST = "0001"
#: Whatever a database says of its own objects, in an order of its own.
SCHEMA = {
    "sqlite": (
        """SELECT m.name, c.name, c.type, c.[notnull], c.pk
        FROM sqlite_master AS m, pragma_table_info(m.name) AS c""",
        """SELECT m.name, i.name, i.[unique], i.partial, c.name
        FROM sqlite_master AS m, pragma_index_list(m.name) AS i, pragma_index_info(i.name) AS c
        WHERE m.type = 'table'""",
        "SELECT name, type FROM sqlite_master",
    ),
    "postgresql": (
        """SELECT table_name, column_name, data_type, is_nullable, column_default, is_generated,
        generation_expression FROM information_schema.columns WHERE table_schema = 'public'""",
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "SELECT relname, relkind::text FROM pg_class WHERE relnamespace = 'public'::regnamespace",
    ),
}
#: For each line of "statement instructions", opens the log in a process of its own that is killed without
#: warning: before that statement of the migration, or inside of it where there are instructions to do first.
DYING = """
import os, signal, sys
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.database import migrating
from ebbtide.decision_log.store import postgres, sqlite

place, real = sys.argv[1], migrating.bring_up

def die():
    os.kill(os.getpid(), signal.SIGKILL)

class Dying:
    def __init__(self, execute, statement, instructions):
        self.execute, self.left, self.instructions, self.begun = execute, statement, instructions, False

    def __call__(self, sql):
        self.begun |= sql.startswith("BEGIN")
        if self.begun and self.left == 0:
            if self.instructions:
                self.execute.__self__.set_progress_handler(die, self.instructions)
            else:
                die()
        self.left -= self.begun
        return self.execute(sql)

for line in sys.stdin:
    statement, instructions = map(int, line.split())
    child = os.fork()
    if not child:
        def bring_up(execute, *rest, **named):
            real(Dying(execute, statement, instructions), *rest, **named)
        postgres.bring_up = sqlite.bring_up = bring_up
        DecisionLog.open(place).close()
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def kind_of(place: str) -> str:
    return "postgresql" if place.startswith("postgresql") else "sqlite"


@contextlib.contextmanager
def connected(place: str) -> Iterator:
    if kind_of(place) == "sqlite":
        connection = sqlite3.connect(place, isolation_level=None)
    else:
        import psycopg

        connection = psycopg.connect(place, autocommit=True)
    with contextlib.closing(connection):
        yield connection


def schema(place: str) -> list[list[str]]:
    with connected(place) as connection:
        return [sorted(map(repr, connection.execute(question))) for question in SCHEMA[kind_of(place)]]


def version_of(place: str) -> list:
    with connected(place) as connection:
        return connection.execute("SELECT version_num FROM decision_log_version").fetchall()


@contextlib.contextmanager
def killed(place: str) -> Iterator[Callable[[int, int], bool]]:
    """Opens a log in a process that is killed at a statement; whether it was, or came to its end before."""
    if not hasattr(os, "fork"):
        pytest.skip("kill -9 and fork are of POSIX")
    command = [sys.executable, "-c", DYING, place]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as opener:

        def kill_at(statement: int, instructions: int) -> bool:
            opener.stdin.write(f"{statement} {instructions}\n")
            opener.stdin.flush()
            code = int(opener.stdout.readline())
            assert code in {0, -signal.SIGKILL}
            return code != 0

        yield kill_at
        opener.stdin.close()


@pytest.mark.parametrize("dialect", [SQLITE, POSTGRESQL])
def test_scripts_are_numbered(dialect):
    """The scripts have numbers without gaps, and each of them ends with a whole statement or a comment."""
    scripts = versions(LOG_SCHEMA, dialect)
    assert list(scripts) == [f"{number:04}" for number in range(1, len(scripts) + 1)]
    for of_version in scripts.values():
        text = "".join(path.read_text(encoding="utf-8") for path in of_version).format_map(dialect.words)
        rest = text.removeprefix("".join(statements(of_version, dialect)))
        assert all(not line or line.startswith("--") for line in rest.splitlines())


def test_every_script_is_of_a_version():
    """No script is passed over because of its name."""
    names = {path.name for path in LOG_SCHEMA.folder.iterdir()}
    assert names == {
        path.name
        for dialect in (SQLITE, POSTGRESQL)
        for of_version in versions(LOG_SCHEMA, dialect).values()
        for path in of_version
    }


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        ("UPDATE decision_log_version SET version_num = '0099'", "it is of version '0099'.*later ebbtide"),
        ("DELETE FROM decision_log_version", "half done"),
        ("INSERT INTO decision_log_version VALUES ('0002')", "half done"),
        ("DROP TABLE decision_log_version", "half done"),
        ("DROP TABLE decision_events", "'decision_events' is missing"),
    ],
)
def test_versions_that_cannot_be_opened(place, edit, what):
    """A log of a later version, and one where a migration stopped half way, are refused untouched."""
    with DecisionLog.open(place) as log:
        log.add(Candidate(description=TEXT))
    with connected(place) as connection:
        connection.execute(edit)
    before = schema(place)
    for read_only in (False, True):
        with pytest.raises(StoreError, match=what):
            DecisionLog.open(place, read_only=read_only)
    assert schema(place) == before


@pytest.mark.parametrize("at", ["INDEX decisions_review_by", "TABLE decision_counts", "INSERT INTO"])
def test_a_migration_that_fails_is_undone(place, at, monkeypatch):
    """A migration that fails anywhere leaves nothing behind, and the next one makes the log."""
    real = migrating.bring_up

    def failing(execute, *rest, **named):
        def call(sql):
            if at in sql:
                raise RuntimeError("the power went")
            return execute(sql)

        real(call, *rest, **named)

    with monkeypatch.context() as patched:
        for name in ("sqlite", "postgres"):
            patched.setattr(f"ebbtide.decision_log.store.{name}.bring_up", failing)
        with pytest.raises(RuntimeError, match="the power went"):
            DecisionLog.open(place)
    assert not any("decision" in name for part in schema(place) for name in part)
    with DecisionLog.open(place) as log:
        assert log.list().decisions == ()


def assert_untouched(place: str) -> None:
    assert not any("decision" in name for part in schema(place) for name in part)


def test_killed_between_two_statements(place):
    """Killed before any statement of a migration, nothing is there; the next program makes the log."""
    statement = 0
    with killed(place) as kill_at:
        while kill_at(statement, 0):
            assert_untouched(place)
            statement += 1
    assert statement >= 20
    with DecisionLog.open(place) as log:
        assert log.verify().ok


@pytest.mark.parametrize("instructions", [1, 7, 30])
def test_killed_inside_a_statement(tmp_path, instructions):
    """Killed while SQLite works at a statement, nothing is there; the next program makes the log."""
    place = str(tmp_path / "decisions.db")
    deaths = 0
    with killed(place) as kill_at:
        # Statements that are too short for so many instructions do not kill it; those after them do.
        for statement in range(25):
            if kill_at(statement, instructions):
                assert_untouched(place)
                deaths += 1
    assert deaths >= 10
    with DecisionLog.open(place) as log:
        assert log.verify().ok


def test_processes_that_migrate_at_once(place):
    """Of several processes that open a log at one moment one makes it, and all use it."""
    program = (
        "import sys; from ebbtide.decision_log.log.decision_log import DecisionLog; "
        "from ebbtide.decisions.candidate import Candidate; "
        "print('ready', flush=True); sys.stdin.readline(); "
        f"log = DecisionLog.open({place!r}, timeout_s=60); "
        f"print(log.add(Candidate(description={TEXT!r} + sys.argv[1])).id)"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    assert [child.stdout.readline() for child in children] == ["ready\n"] * 4
    for child in children:
        child.stdin.write("\n")
        child.stdin.flush()
    ids = {child.communicate(timeout=60)[0].strip() for child in children}
    assert [child.returncode for child in children] == [0] * 4
    with DecisionLog.open(place) as log:
        assert ids <= {decision.id for decision in log.iterate()}
        assert len(ids) == 4
        assert version_of(place) == [(NEWEST,)]
        assert log.verify().ok
