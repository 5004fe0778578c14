"""Stores of the runs that are not at hand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from ebbtide.bounded import Bounded
from ebbtide.codec import Record, from_whole_wire
from ebbtide.database.kept_file import KeptFile
from ebbtide.database.migrating import Schema
from ebbtide.errors import StoreError
from ebbtide.events.event import Event
from ebbtide.supervision.ladder import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStanding(Record):
    """Standing of one run.

    Args:
        action: The strictest action that holds.
        kind: What was found, as in `Verdict.kind`; None where nothing was.
        reason: Why, in one sentence for a person.
        events: Events so far.
        cost_usd: What they cost, in dollars; None where that is not known.
        tokens: Tokens of all classes; None where they are not known.
        latest: When the run was last heard of, in seconds since 1970.
        ended: True if it has ended.
    """

    run_id: str
    action: Action
    kind: str | None
    reason: str
    events: int
    cost_usd: float | None
    tokens: int | None
    latest: float
    ended: bool = False

    @property
    def urgency(self) -> tuple[bool, int, float, float]:
        """Sort key: runs that go on first, then by the strictest action, the highest cost, the latest."""
        return (not self.ended, self.action.rank, self.cost_usd or 0.0, self.latest)

    @classmethod
    def from_dict(cls, wire: Mapping[str, Any]) -> RunStanding:
        """Reads the wire form back.

        Raises:
            KeyError, TypeError, ValueError: It is none.
        """
        return from_whole_wire(cls, wire)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One run as a store keeps it.

    Args:
        standing: How it stands.
        revision: Grows with each change: what is older does not take the place of what is newer.
        state: What `Supervisor.to_bytes` gave: a few KB.
        place: Of the latest event in it, in the log that is kept beside; 0 where none is kept.
        checks: How many checks are in it, likewise.
    """

    standing: RunStanding
    revision: int
    state: bytes
    place: int = 0
    checks: int = 0


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """Question before a call of a model, whose answer hands over what is to be said.

    Args:
        number: Of the checks of its run, from 1.
        place: Of the latest event before it; 0 where there was none.
        agent: Whose model is called; None where nobody says.
        at: Seconds on the clock of the events.
    """

    number: int
    place: int
    agent: str | None
    at: float | None


class RunLog(Protocol):
    """A log of all events and checks, kept beside a store.

    What the stored state of a run lacks is read from it, so that a state is written only now and then.
    """

    def since(self, run_id: str, place: int, /) -> Iterable[tuple[int, Event]]:
        """Yields the events of a run after a place, each with its own.

        Raises:
            StoreError: They cannot be read.
        """

    def checks(self, run_id: str, /) -> Iterable[ModelCheck]:
        """Returns all checks of a run, by their numbers.

        Raises:
            StoreError: They cannot be read.
        """

    def add_check(self, run_id: str, check: ModelCheck, /) -> None:
        """Keeps a check, soon: it is not waited for.

        Raises:
            StoreError: It cannot be taken.
        """


class RunStore(Protocol):
    """Keeps the latest state of each run. It is called from several threads at once.

    Any object with these methods is one: `Runs(store=...)`. `SQLiteRunStore` keeps runs in a file.

    >>> store = MemoryRunStore()
    >>> standing = RunStanding(
    ...     run_id="run 1",
    ...     action=Action.ALLOW,
    ...     kind=None,
    ...     reason="No reason to stop.",
    ...     events=1,
    ...     cost_usd=None,
    ...     tokens=None,
    ...     latest=1.76e9,
    ... )
    >>> store.save([StoredRun(standing=standing, revision=1, state=b"")])
    >>> store.load("run 1").standing.events
    1
    """

    @property
    def is_durable(self) -> bool:
        """True if what is saved is there after a crash."""

    def save(self, runs: Sequence[StoredRun], /) -> None:
        """Puts runs in the place of older revisions of them; all of them or none.

        Raises:
            StoreError: They cannot be written.
        """

    def load(self, run_id: str, /) -> StoredRun | None:
        """Returns one run; None where it is not known."""

    def delete(self, run_id: str, /) -> None:
        """Forgets a run; one that is not known changes nothing."""

    def standings(self) -> Iterable[RunStanding]:
        """Returns how every run stood when it was saved."""


class MemoryRunStore:
    """Runs in the memory of this process, a few KB each.

    Args:
        most: Runs that are kept; for one more, the one that was saved first is forgotten.

    Attributes:
        forgotten: Runs that made room for others before they had ended.
    """

    is_durable = False

    def __init__(self, most: int = 1_000_000) -> None:
        self._lock = threading.RLock()
        self._runs: Bounded[str, StoredRun] = Bounded(most)
        self.forgotten = 0

    def save(self, runs: Sequence[StoredRun], /) -> None:
        """Puts runs in the place of older revisions of them."""
        with self._lock:
            for run in runs:
                run_id = run.standing.run_id
                before = self._runs.get(run_id)
                if before is not None and before.revision > run.revision:
                    continue
                self._runs.pop(run_id, None)
                dropped = self._runs.put(run_id, run)
                if dropped is not None:
                    self.forgotten += not dropped[1].standing.ended

    def load(self, run_id: str, /) -> StoredRun | None:
        """Returns one run; None where it is not known."""
        return self._runs.get(run_id)

    def delete(self, run_id: str, /) -> None:
        """Forgets a run; one that is not known changes nothing."""
        self._runs.pop(run_id, None)

    def standings(self) -> Iterable[RunStanding]:
        """Returns how every run stood when it was saved."""
        return [run.standing for run in list(self._runs.values())]


_SCHEMA = Schema(
    what="file of runs",
    folder=Path(__file__).parent / "schema",
    tables=("runs",),
    version_table="runs_version",
    lock=0x45424252,
)
_SAVE = """
INSERT INTO runs (run_id, revision, latest, standing, state) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (run_id) DO UPDATE SET revision = excluded.revision, latest = excluded.latest,
    standing = excluded.standing, state = excluded.state
WHERE excluded.revision >= runs.revision
"""
_SWEEP_S = 3600.0


class SQLiteRunStore:
    """Runs in a file of SQLite, a few KB each.

    A run is held by one process at a time: of two that save the same run, the one with more changes counts.
    The file is opened for each use, so that a store survives a fork.

    Args:
        path: The file; it is made where there is none. Its folder has to be there.
        keep_s: Seconds after which a run that was not heard of any more is deleted; None keeps all.

    Raises:
        StoreError: The file cannot be opened, or is something else.
    """

    is_durable = True

    def __init__(self, path: str | PathLike[str], *, keep_s: float | None = 30 * 24 * 3600.0) -> None:
        self._file = KeptFile(path, _SCHEMA)
        self._keep_s = keep_s
        self._swept = 0.0

    def save(self, runs: Sequence[StoredRun], /) -> None:
        """Puts runs in the place of older revisions of them; all of them or none.

        Raises:
            StoreError: The file cannot be written.
        """
        rows = [
            (
                run.standing.run_id,
                run.revision,
                run.standing.latest,
                json.dumps(run.standing.to_dict()),
                run.state,
            )
            for run in runs
        ]
        with self._file.transaction() as database:
            database.executemany(_SAVE, rows)
            now = time.time()
            if self._keep_s is not None and now - self._swept > _SWEEP_S:
                self._swept = now
                database.execute("DELETE FROM runs WHERE latest < ?", (now - self._keep_s,))

    def load(self, run_id: str, /) -> StoredRun | None:
        """Returns one run; None where it is not known.

        Raises:
            StoreError: The file cannot be read, or the row is damaged.
        """
        with self._file.transaction(write=False) as database:
            row = database.execute(
                "SELECT standing, revision, state FROM runs WHERE run_id = ?", (run_id,)
            ).fetchone()
        return None if row is None else StoredRun(self._standing(row[0]), *row[1:])

    def delete(self, run_id: str, /) -> None:
        """Forgets a run; one that is not known changes nothing."""
        with self._file.transaction() as database:
            database.execute("DELETE FROM runs WHERE run_id = ?", (run_id,))

    def standings(self) -> Iterable[RunStanding]:
        """Returns how every run stood when it was saved."""
        with self._file.transaction(write=False) as database:
            rows = database.execute("SELECT standing FROM runs").fetchall()
        return [self._standing(text) for (text,) in rows]

    def _standing(self, text: str) -> RunStanding:
        try:
            return RunStanding.from_dict(json.loads(text))
        except (LookupError, TypeError, ValueError) as error:
            raise StoreError(f"{self._file.name}: a damaged row of a run: {text!r:.80}") from error
