"""Disks that are full, stores read-only, locked or torn, clocks that jump, over every store that is a file.

While a fault holds, a store refuses with an error of its own, and acknowledges nothing that it has not kept.
When the fault is over the store goes on, with all that it had acknowledged. A torn file is refused, or gives
what can be read.
"""

from __future__ import annotations

import math
import os
import resource
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from benchmarks.campaign.attack import Attack
from ebbtide.budget.shared.budget import Budget
from ebbtide.budget.shared.budgets import Budgets
from ebbtide.decision_log.deliberation.deliberation import Deliberation
from ebbtide.decision_log.log.decision_log import DecisionLog
from ebbtide.errors import EbbtideError, StoreError
from ebbtide.events.event import ToolCall
from ebbtide.service.runs.listing import find_run
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.service.runs.run_event import run_event
from ebbtide.service.runs.run_origin import RunOrigin
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.runs.run_store import SQLiteRunStore
from ebbtide.supervision.runs.runs import Runs
from ebbtide.supervision.supervisor import Supervisor

_NOBODY = 65534
_SLOW_S = 20.0  # that one use of a store may take, on a busy machine
_REST_S = 1.1  # for which a store that failed may not be asked again
_HUGE_S = (3600.0, 86_400.0, 31_536_000.0, 1e9)  # by which clocks jump


class Kept(Protocol):
    """A store that is open."""

    def write(self, number: int) -> None:
        """Have one thing kept.

        Raises:
            EbbtideError: It was not.
        """

    def kept(self) -> int:
        """How many things it has."""

    def close(self) -> None:
        """Let it go."""


class Decisions:
    """The decision log."""

    def __init__(self, place: Path) -> None:
        self._log = DecisionLog.open(place, timeout_s=1)
        self._work = Deliberation(self._log)

    def write(self, number: int) -> None:
        """A decision."""
        text = f"Use store {number} as it has room, " + f"and more of it {number} " * 20
        if self._work.record_decision(text, session=str(number)).id is None:
            raise StoreError("not kept")

    def kept(self) -> int:
        """Decisions."""
        self._log.verify()
        return sum(1 for _ in self._log.iterate())

    def close(self) -> None:
        """As of the log."""
        self._log.close()


class Spending:
    """A budget."""

    def __init__(self, place: Path) -> None:
        self._budgets = Budgets([Budget(scope="all", limit_usd=1e6)], str(place), lease_s=3600)

    def write(self, number: int) -> None:
        """A cent; what its store does not take at once waits in the process, and is not kept yet."""
        self._budgets.reserve(0.01).settle(0.01)

    def kept(self) -> int:
        """Cents."""
        (standing,) = self._budgets.standings()
        return round(standing.spent_usd * 100)

    def close(self) -> None:
        """Nothing is open."""


class ServiceRuns:
    """The runs of the service."""

    def __init__(self, place: Path) -> None:
        self._database = RunDatabase(place)
        self._runs = LiveRuns(self._database)

    def write(self, number: int) -> None:
        """An event."""
        event = ToolCall(name="ls", args={"n": number}, result="x" * 2000, seq=number)
        item = run_event(event, self._runs.prices, time.time())
        (place,) = self._runs.append("a", [item], RunOrigin()).result()
        self._runs.take("a", event, place)
        self._runs.note("a")

    def kept(self) -> int:
        """Events."""
        self._database.flush().result()
        row = find_run(self._database, "a")
        return 0 if row is None else int(row["events"])

    def close(self) -> None:
        """The runs and the database."""
        self._runs.close()
        self._database.close()


class StoredRuns:
    """Runs of a program that keeps them in a file."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._runs = Runs(store=SQLiteRunStore(place), save_every_s=0.001)

    def write(self, number: int) -> None:
        """A run with an event, saved."""
        self._runs.record(f"run-{number}", ToolCall(name="ls", args={"n": number}, result="x" * 2000))
        before = sum(self._runs.faults.values())
        self._runs.save()
        if sum(self._runs.faults.values()) > before:
            raise StoreError("not saved")

    def kept(self) -> int:
        """Runs."""
        return sum(1 for _ in SQLiteRunStore(self._place).standings())

    def close(self) -> None:
        """As of the runs."""
        self._runs.close()


STORES: dict[str, type[Kept]] = {
    "decisions": Decisions,
    "budgets": Spending,
    "runs of the service": ServiceRuns,
    "stored runs": StoredRuns,
}


@contextmanager
def no_room(place: Path, one: Attack) -> Iterator[None]:
    """Files of this process cannot grow past a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = max(path.stat().st_size for path in place.parent.glob(f"{place.name}*"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + one.chance.randrange(100_000), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def read_only(place: Path, _: Attack) -> Iterator[None]:
    """Nothing in the folder may be written by whoever this process is meanwhile."""
    paths = list(place.parent.glob(f"{place.name}*"))
    modes = {path: path.stat().st_mode for path in (place.parent, *paths)}
    for path in paths:
        path.chmod(0o444)
    place.parent.chmod(0o555)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(_NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        for path, mode in modes.items():
            if path.exists():
                path.chmod(mode)


@contextmanager
def locked(place: Path, one: Attack) -> Iterator[None]:
    """Another program has the file for itself, for a while."""
    with closing(sqlite3.connect(place, isolation_level=None, check_same_thread=False)) as other:
        other.execute("PRAGMA busy_timeout = 5000")
        other.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(one.chance.uniform(0.0, 3.0), other.rollback)
        timer.start()
        try:
            yield
        finally:
            timer.join()


FAULTS = {"no room": no_room, "read-only": read_only, "locked": locked}


def held(one: Attack, store: str, fault: str, folder: Path) -> None:
    """Write, let the fault hold while more is written, then write again."""
    place, kind = folder / "store.db", STORES[store]
    evidence = {"store": store, "fault": fault}
    open_one, acknowledged, tried = kind(place), 0, 0
    try:
        for number in range(one.chance.randint(1, 20)):
            open_one.write(number)
            acknowledged = tried = number + 1
        with suppress(EbbtideError), FAULTS[fault](place, one):
            for _ in range(one.chance.randint(1, 6)):
                begin = time.monotonic()
                tried += 1
                try:
                    open_one.write(tried)
                except EbbtideError:
                    one.counts["refused"] += 1
                else:
                    acknowledged += 1
                one.expect(time.monotonic() - begin < _SLOW_S, "a fault holds a writer up", **evidence)
            if fault == "read-only" and one.chance.random() < 0.5:
                kind(place).close()  # refused, or read without a word
        time.sleep(_REST_S)
        for _ in range(5):
            tried += 1
            open_one.write(tried)
            acknowledged += 1
        now = open_one.kept()
        one.expect(acknowledged <= now <= tried, "acknowledged and not kept, or kept twice", **evidence,
                   acknowledged=acknowledged, tried=tried, kept=now)  # fmt: skip
    except EbbtideError as error:
        one.find("a store does not go on after a fault", **evidence, error=str(error)[:300])
    finally:
        open_one.close()
    again = kind(place)
    kept = again.kept()
    again.close()
    one.expect(acknowledged <= kept <= tried, "acknowledged and lost after a start", **evidence,
               acknowledged=acknowledged, tried=tried, kept=kept)  # fmt: skip


def torn(one: Attack, store: str, folder: Path) -> None:
    """Pages of the file, or of its log, are overwritten, or it is cut: only our own errors."""
    place, kind = folder / "store.db", STORES[store]
    open_one = kind(place)
    for number in range(one.chance.randint(1, 30)):
        open_one.write(number)
    if one.chance.random() < 0.7:
        open_one.close()
    for path in (place, place.with_name(f"{place.name}-wal")):
        if not path.exists():
            continue
        data = bytearray(path.read_bytes())
        if not data or one.chance.random() < 0.3:
            continue
        for _ in range(one.chance.randint(1, 4)):
            at = one.chance.randrange(len(data))
            size = one.chance.choice((1, 100, 4096, 8192))
            match one.chance.randrange(3):
                case 0:
                    data[at : at + size] = one.chance.randbytes(len(data[at : at + size]))
                case 1:
                    data[at // 4096 * 4096 :][:4096] = bytes(len(data[at // 4096 * 4096 :][:4096]))
                    data[at : at + size] = bytes(len(data[at : at + size]))
                case _:
                    del data[at:]
            if not data:
                break
        path.write_bytes(data)
    begin = time.monotonic()
    with suppress(EbbtideError):
        again = kind(place)
        try:
            with suppress(EbbtideError):
                again.kept()
            again.write(99)
            again.kept()
        finally:
            with suppress(EbbtideError):
                again.close()
    with suppress(EbbtideError):
        open_one.close()
    one.expect(time.monotonic() - begin < _SLOW_S, "a torn file holds a reader up", store=store)


def clocks(one: Attack, folder: Path) -> None:
    """The clock of the service jumps ahead and back, and so do times of events: all counts once."""
    now = [1_790_000_000.0]

    def clock() -> float:
        if one.chance.random() < 0.2:
            now[0] += one.chance.choice((-1, 1)) * one.chance.choice(_HUGE_S)
        now[0] += one.chance.random()
        return now[0]

    database = RunDatabase(folder / "runs.db")
    runs = LiveRuns(database, clock=clock)
    watched = Supervisor()
    count = one.chance.randint(5, 30)
    for seq in range(count):
        ts = one.chance.choice((None, clock(), -1.0, 0.0, 1e11, math.nan))
        event = ToolCall(name="ls", args={"n": seq}, result=str(seq), seq=seq, ts=ts)
        (place,) = runs.append("a", [run_event(event, runs.prices, clock())], RunOrigin()).result()
        runs.take("a", event, place)
        action = watched.record(event).action
        one.expect(action is Action.ALLOW, "a jump of the clock makes a loop", seq=seq, action=action)
        runs.before_model("a")
        runs.note("a")
    database.flush().result()
    row = find_run(database, "a")
    one.expect(row is not None and row["events"] == count, "events are lost by a jump", count=count, row=row)
    one.expect(not runs.faults, "a jump of the clock is a fault", faults=dict(runs.faults))
    runs.close()
    again = LiveRuns(RunDatabase(folder / "runs.db"))
    events = again.get("a").tally.events
    again.close()
    one.expect(events == count, "events are lost by a start after a jump", count=count, events=events)


def attack(one: Attack) -> None:
    """Every fault on every store, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        cases = [(store, fault) for store in STORES for fault in (*FAULTS, "torn")] + [("clock", "jumps")]
        while one.goes_on:
            one.chance.shuffle(cases)
            for store, fault in cases:
                if not one.goes_on:
                    break
                place = Path(tempfile.mkdtemp(dir=folder))
                place.chmod(0o755)
                one.counts["faults"] += 1
                one.counts[f"faults: {fault}"] += 1
                try:
                    if fault == "jumps":
                        clocks(one, place)
                    elif fault == "torn":
                        torn(one, store, place)
                    else:
                        held(one, store, fault, place)
                except Exception as error:  # noqa: BLE001 - what escapes is what is looked for
                    one.find(
                        "an error that is not ours escapes", store=store, fault=fault, error=repr(error)[:300]
                    )
