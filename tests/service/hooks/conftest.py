"""A service of its own for each test, as a real process, and the real client."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ebbtide.service.hooks import hook_client
from ebbtide.service.hooks.state_folder import read_address


class LocalState:
    """The folder of a service, and what can be done with it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[str]] = []

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "EBBTIDE_STATE": str(self.folder)}

    def serve(self, *options: str) -> subprocess.Popen[str]:
        """Start a service, and wait until it answers or ends."""
        line = [sys.executable, "-m", "ebbtide", "hooks", "serve", *options]
        pipe = subprocess.PIPE
        process = subprocess.Popen(line, env=self.environment, stdout=pipe, stderr=pipe, encoding="utf-8")
        self.processes.append(process)
        while process.poll() is None and not self.is_running():
            time.sleep(0.05)
        return process

    def is_running(self) -> bool:
        return self.status() is not None

    def status(self) -> dict[str, Any] | None:
        content = hook_client.exchange("GET", "/status", b"", time.monotonic() + 1)
        return None if content is None else json.loads(content)

    def count_faults(self) -> int:
        """How often its store has failed, once it has; it writes once a second."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            status = self.status()
            if status is not None and (count := status["faults"].get("store", 0)):
                return count
            time.sleep(0.05)
        return 0

    def hook(self, agent: str, event: dict[str, Any], *flags: str) -> dict[str, Any]:
        """Returns the answer of the service, which arrives: its note is confirmed, as the client does."""
        query = "&".join(f"{flag}=1" for flag in flags)
        path, body = f"/hooks/{agent}?{query}", json.dumps(event).encode()
        content, ticket = hook_client.ask("POST", path, body, time.monotonic() + 5)
        assert content is not None
        if ticket:
            hook_client.exchange("POST", f"/delivered/{ticket}", b"", time.monotonic() + 5)
        return json.loads(content)

    def client(self, *arguments: str, stdin: str) -> subprocess.CompletedProcess[str]:
        """The client as an agent runs it."""
        line = [sys.executable, "-I", "-S", hook_client.__file__, *arguments]
        return subprocess.run(
            line,
            input=stdin,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            timeout=20,
            check=False,
        )

    def end(self) -> None:
        # One that a client has started may still be on its way.
        deadline = time.monotonic() + 10
        while (self.folder / "starting").exists() and not self.is_running() and time.monotonic() < deadline:
            time.sleep(0.05)
        hook_client.exchange("POST", "/end", b"", time.monotonic() + 2)
        for process in self.processes:
            process.kill()
            process.communicate()
        address = read_address(self.folder)
        deadline = time.monotonic() + 5
        while address is not None and self.is_running() and time.monotonic() < deadline:
            time.sleep(0.05)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalState]:
    local = LocalState(tmp_path / "state")
    monkeypatch.setenv("EBBTIDE_STATE", str(local.folder))
    yield local
    local.end()
