"""A service of its own for each test, as a real process."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from playwright.sync_api import Browser, Page

PROGRAM = """
import json, sys
from ebbtide.service.web.server import serve_web
from ebbtide.service.web.service_settings import ServiceSettings
serve_web(
    ServiceSettings(port=0, **json.loads(sys.argv[1])),
    sys.argv[2],
    announce=lambda url: print(json.dumps({"url": url}), flush=True),
    open_log=None,
)
"""


class ServiceProcess:
    """A service that runs, and a client of it."""

    def __init__(
        self,
        folder: Path,
        *options: str,
        db: str | None = None,
        settings: Mapping[str, Any] | None = None,
        blocks: int | None = None,
    ) -> None:
        """A service with options of the command, or with settings that it has no options for.

        Args:
            folder: Where its files are.
            options: Of the command.
            db: Where the runs are; None takes a file in the folder.
            settings: Of `ServiceSettings`.
            blocks: KB that each of its files may have, as if the disk were full then.
        """
        self.folder = folder
        self.options = options
        self.settings = settings
        self.blocks = blocks
        self.file = folder / "runs.db"
        self.db = str(self.file) if db is None else db
        self.home = folder / "home"
        self.environment = {**os.environ, "EBBTIDE_STATE": str(folder / "state"), "HOME": str(self.home)}
        self.start()

    def start(self) -> None:
        line = [sys.executable, "-m", "ebbtide", "serve", "--port", "0", "--db", self.db, "--json"]
        if self.settings is not None:
            line = [sys.executable, "-c", PROGRAM, json.dumps(self.settings), self.db]
        if self.blocks is not None:
            line = ["bash", "-c", f'ulimit -S -f {self.blocks}; exec "$@"', "bash", *line]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*line, *self.options],
            env=self.environment,
            cwd=self.folder,
            stdout=pipe,
            stderr=pipe,
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        if not first:
            _, errors = self.process.communicate()
            raise RuntimeError(errors)
        self.url = json.loads(first)["url"]
        self.client = httpx.Client(base_url=self.url, timeout=20)

    def kill(self) -> None:
        """As a crash would."""
        self.client.close()
        self.process.kill()
        self.process.communicate()

    def end(self) -> int:
        """As SIGTERM would."""
        self.client.close()
        self.process.terminate()
        self.process.communicate(timeout=20)
        return self.process.returncode

    def send(self, run_id: str, *events: dict[str, Any], **query: str) -> dict[str, Any]:
        body = "\n".join(map(json.dumps, events))
        answer = self.client.post(f"/v1/runs/{run_id}/events", params=query, content=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def check(self, run_id: str) -> dict[str, Any]:
        return self.client.post(f"/v1/runs/{run_id}/check").json()

    def get(self, path: str, **query: Any) -> Any:
        answer = self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., ServiceProcess]]:
    services: list[ServiceProcess] = []

    def start_one(*options: str, **bounds: Any) -> ServiceProcess:
        services.append(ServiceProcess(tmp_path, *options, **bounds))
        return services[-1]

    yield start_one
    for service in services:
        service.kill()


@pytest.fixture
def service(start: Callable[..., ServiceProcess]) -> ServiceProcess:
    return start()


@pytest.fixture(scope="session")
def long_lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    service = ServiceProcess(tmp_path_factory.mktemp("service"))
    yield service
    service.kill()


@pytest.fixture(scope="session")
def long_lived_on_postgres(
    tmp_path_factory: pytest.TempPathFactory, postgres_server
) -> Iterator[ServiceProcess]:
    name = postgres_server.new_database()
    service = ServiceProcess(tmp_path_factory.mktemp("service"), db=postgres_server.url(name))
    yield service
    service.kill()
    postgres_server.drop_database(name)


@pytest.fixture
def empty_service(long_lived: ServiceProcess) -> ServiceProcess:
    """One without runs, in a process that other tests have used: each start takes a second."""
    return emptied(long_lived)


@pytest.fixture(params=["long_lived", "long_lived_on_postgres"])
def either_service(request: pytest.FixtureRequest) -> ServiceProcess:
    """Likewise, on each database."""
    return emptied(request.getfixturevalue(request.param))


def emptied(service: ServiceProcess) -> ServiceProcess:
    for run in service.get("/v1/runs", limit=1000)["runs"]:
        service.client.delete(f"/v1/runs/{quote(run['run_id'])}")
    return service


@pytest.fixture(scope="module")
def start_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., ServiceProcess]]:
    """Starts one for all tests of a file, in a folder with some files."""
    services: list[ServiceProcess] = []

    def start_one(*options: str, files: Mapping[str, str] | None = None, **bounds: Any) -> ServiceProcess:
        folder = tmp_path_factory.mktemp("service")
        for name, text in (files or {}).items():
            (folder / name).write_text(text, encoding="utf-8")
        services.append(ServiceProcess(folder, *options, **bounds))
        return services[-1]

    yield start_one
    for service in services:
        service.kill()


@pytest.fixture(scope="module")
def shared_service(start_shared: Callable[..., ServiceProcess]) -> ServiceProcess:
    """One for all tests of a file that do not end it."""
    return start_shared()


@pytest.fixture
def wait_for() -> Callable[..., None]:
    """Waits until something holds, and fails where it does not in time."""

    def wait(condition: Callable[[], object], seconds: float = 20) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    return wait


class Window:
    """A window of the browser, whose scripts may not fail, and which may ask nobody else."""

    def __init__(self, browser: Browser, url: str, *, width: int, scheme: str) -> None:
        self.url = url
        self.faults: list[str] = []
        self.may_lose = False  # whether requests may fail
        self.context = browser.new_context(
            viewport={"width": width, "height": 844}, color_scheme=scheme, reduced_motion="reduce"
        )
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda line: self._hear(line.type, line.text))
        self.page.on(
            "request",
            lambda request: None if request.url.startswith(url) else self.faults.append(request.url),
        )

    def _hear(self, kind: str, text: str) -> None:
        if kind == "error" and not (self.may_lose and "ERR_" in text):
            self.faults.append(text)

    def open(self, path: str = "/") -> Page:
        self.page.goto(self.url + path)
        self.page.wait_for_selector("html[data-ready=true]")
        return self.page


@pytest.fixture
def new_window(browser) -> Callable[..., Window]:
    """Makes a window of a service that shows nothing yet; the test closes it."""
    return lambda url, *, width=1280, scheme="light": Window(browser, url, width=width, scheme=scheme)


@pytest.fixture
def opened(new_window) -> Callable[..., Any]:
    """Opens a page of a service, and says in the end what failed in it."""

    @contextmanager
    def open_page(
        service: Any, path: str = "/", *, width: int = 1280, scheme: str = "light"
    ) -> Iterator[tuple[Page, Window]]:
        window = new_window(service.url, width=width, scheme=scheme)
        try:
            yield window.open(path), window
            assert window.faults == []
        finally:
            window.context.close()

    return open_page
