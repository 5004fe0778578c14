"""The runs of a service on disk: every event, the latest state of each run, what was spent, and who did what.

It is the `RunStore` and the `RunLog` of the registry. One thread writes; reading opens the file anew.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from ebbtide.errors import StoreError
from ebbtide.events.event import Event
from ebbtide.service.runs.run_event import RunEvent, plain_name, stored_event
from ebbtide.service.runs.run_origin import RunOrigin
from ebbtide.service.runs.run_source import RunSource
from ebbtide.service.runs.stuck_from import StuckFrom
from ebbtide.service.runs.writer import DatabaseWriter
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.runs.run_store import ModelCheck, RunStanding, StoredRun

_T = TypeVar("_T")

_ACTIONS: Final = tuple(Action)
_PAGE: Final = 5_000  # events that are read at once
_LINE_BYTES: Final = 300  # that an event takes in memory beside its line
_MOST_LAGGING: Final = 1000  # runs that are listed anew at a start, each read in some 10 ms
_ERASING: Final = ("delete", "expire")  # acts
_CHECK_BYTES: Final = 500  # that a check takes in memory
_NEW_RUN: Final = """
INSERT INTO runs (run_id, project, agent, user, source, started, latest) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run_id) DO UPDATE SET
    project = coalesce(excluded.project, project), agent = coalesce(excluded.agent, agent),
    user = coalesce(excluded.user, user),
    started = min(started, excluded.started), latest = max(latest, excluded.latest),
    source = CASE excluded.source WHEN 'hooks' THEN 'hooks' ELSE source END
RETURNING number
"""
_NEW_EVENT: Final = "INSERT OR IGNORE INTO events (run, chain, seq, at, line) VALUES (?, ?, ?, ?, ?)"
_SPENT: Final = """
INSERT INTO spending (run, day, model, cost_usd, tokens, calls, unpriced) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run, day, model) DO UPDATE SET
    cost_usd = cost_usd + excluded.cost_usd, tokens = tokens + excluded.tokens,
    calls = calls + excluded.calls, unpriced = unpriced + excluded.unpriced
"""
_STATE: Final = """
INSERT INTO states (run, revision, place, checks, state)
SELECT number, ?, ?, ?, ? FROM runs WHERE run_id = ?
ON CONFLICT (run) DO UPDATE SET revision = excluded.revision, place = excluded.place,
    checks = excluded.checks, state = excluded.state
WHERE excluded.revision >= states.revision
"""
_CHECK: Final = """
INSERT OR REPLACE INTO checks (run, number, place, agent, at)
SELECT number, ?, ?, ?, ? FROM runs WHERE run_id = ?
"""
_STANDING_COLUMNS: Final = "run_id, standing, kind, reason, events, cost_usd, tokens, latest, ended"
_STANDING: Final = """
UPDATE runs SET standing = :standing, kind = :kind, reason = :reason, events = :events, cost_usd = :cost_usd,
    tokens = :tokens, ended = :ended, latest = max(latest, :latest),
    stuck_from_usd = CASE WHEN NOT :is_stuck THEN NULL WHEN stuck_since IS NULL THEN :from_usd
        ELSE stuck_from_usd END,
    stuck_since = CASE WHEN :is_stuck THEN coalesce(stuck_since, (
        SELECT at FROM events WHERE run = runs.number AND chain = :chain AND :first_event
        ORDER BY place LIMIT 1 OFFSET :first_event - 1
    ), :latest) END
WHERE run_id = :run_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAct:
    """Something that a person did about a run.

    Args:
        act: ``stop``, ``acknowledge``, ``extend`` or ``delete``; ``expire`` where the service deletes.
        run_id: The run.
        caller: From where: an address, or a program.
        detail: What they said to it; empty where nothing.
    """

    act: str
    run_id: str
    caller: str
    detail: str = ""


class _Standing(NamedTuple):
    """What is to be shown of a run."""

    run: RunStanding
    stuck: StuckFrom | None


class RunDatabase:
    """The file of a service.

    Args:
        path: The file; it is made where there is none.

    Raises:
        StoreError: It cannot be opened, or is something else.
    """

    is_durable = True

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer = DatabaseWriter(path)
        self._lock = threading.Lock()
        self._standings: dict[str, _Standing] = {}  # to be written with what is written next
        self._is_noted = False  # a job waits that writes them

    def append(
        self, run_id: str, events: Sequence[RunEvent], origin: RunOrigin, now: float
    ) -> Future[list[int]]:
        """Keep events of a run; the place of each in the log, 0 for one that was there before.

        Args:
            run_id: The run; it is made where there is none.
            events: In their order.
            origin: Where the run comes from.
            now: Seconds since 1970.

        Raises:
            QueueFullError: Too much is waiting.
        """

        def write(database: sqlite3.Connection) -> list[int]:
            run = _run_number(database, run_id, origin, min((item.at for item in events), default=now), now)
            places = []
            sums: dict[tuple[int, str], list[float]] = {}
            for item in events:
                cursor = database.execute(_NEW_EVENT, (run, *item.key, item.at, item.line))
                is_new = cursor.rowcount == 1
                places.append(cursor.lastrowid or 0 if is_new else 0)
                if is_new and item.charge is not None:
                    day, model, cost, tokens, calls = item.charge
                    total = sums.setdefault((day, model), [0.0, 0, 0, 0])
                    parts = (cost or 0.0, tokens, calls, int(cost is None and tokens > 0))
                    total[:] = (before + part for before, part in zip(total, parts, strict=True))
            if any(places):
                count = sum(map(bool, places))
                database.execute("UPDATE runs SET received = received + ? WHERE number = ?", (count, run))
            database.executemany(_SPENT, [(run, day, model, *total) for (day, model), total in sums.items()])
            return places

        size = sum(len(item.line) + _LINE_BYTES for item in events)
        return self._writer.submit(write, size=size)

    def since(self, run_id: str, place: int, /) -> Iterator[tuple[int, Event]]:
        """As `RunLog.since`."""
        latest = place
        while True:
            rows = self.read(
                "SELECT place, at, line FROM events WHERE run = (SELECT number FROM runs WHERE run_id = ?)"
                " AND place > ? ORDER BY place LIMIT ?",
                (run_id, latest, _PAGE),
            )
            for latest, at, line in rows:
                yield latest, stored_event(line, at)
            if len(rows) < _PAGE:
                return

    def checks(self, run_id: str, /) -> list[ModelCheck]:
        """As `RunLog.checks`."""
        rows = self.read(
            "SELECT checks.number, place, checks.agent, at FROM checks JOIN runs ON run = runs.number"
            " WHERE run_id = ? ORDER BY 1",
            (run_id,),
        )
        return [ModelCheck(*row) for row in rows]

    def add_check(self, run_id: str, check: ModelCheck, /) -> None:
        """As `RunLog.add_check`; a run that was deleted meanwhile stays so."""

        def write(database: sqlite3.Connection) -> None:
            if not check.place and check.number == 1:  # it was only asked about, so far
                now = time.time()
                _run_number(database, run_id, RunOrigin(), now, now)
            database.execute(_CHECK, (check.number, check.place, check.agent, check.at, run_id))

        self._writer.submit(write, size=_CHECK_BYTES, can_wait=True)

    def introduce(self, run_id: str, origin: RunOrigin, now: float) -> None:
        """Say where a run comes from, soon; it is made where there is none."""
        self._writer.submit(lambda database: _run_number(database, run_id, origin, now, now), can_wait=True)

    def origin(self, run_id: str) -> RunOrigin | None:
        """Where a run comes from; None where there is no such run."""
        rows = self.read("SELECT project, agent, user, source FROM runs WHERE run_id = ?", (run_id,))
        if not rows:
            return None
        project, agent, user, source = rows[0]
        return RunOrigin(project=project, agent=agent, user=user, source=RunSource(source))

    def note(self, standing: RunStanding, stuck: StuckFrom | None = None) -> None:
        """Show a run as it stands, soon: the latest counts.

        Args:
            standing: How it stands.
            stuck: From where on it is stuck; the first that is told stays until it is stuck no more.
        """
        with self._lock:
            self._standings[standing.run_id] = _Standing(standing, stuck)
            if self._is_noted:
                return
            self._is_noted = True
            try:
                future = self._writer.submit(self._write_standings, can_wait=True)
            except StoreError:
                self._is_noted = False
                raise
        future.add_done_callback(self._standings_done)

    def annotate(self, run_id: str, note: str) -> None:
        """Say what to know of a run before judging it, soon; an empty text says nothing."""
        query = "UPDATE runs SET note = ? WHERE run_id = ? AND note != ?"
        self._writer.submit(lambda database: database.execute(query, (note, run_id, note)))

    def flush(self) -> Future[None]:
        """Done when everything that was handed over before is on disk."""
        return self._writer.submit(lambda _: None)

    def save(self, runs: Sequence[StoredRun], /) -> None:
        """As `RunStore.save`; a run that was deleted meanwhile stays so."""
        rows = [(run.revision, run.place, run.checks, run.state, run.standing.run_id) for run in runs]

        def write(database: sqlite3.Connection) -> None:
            database.executemany(_STATE, rows)

        self._writer.write(write)

    def load(self, run_id: str, /) -> StoredRun | None:
        """As `RunStore.load`."""
        rows = self.read(
            f"SELECT {_STANDING_COLUMNS}, revision, state, place, checks"  # noqa: S608 - names of our own
            " FROM runs JOIN states ON run = number WHERE run_id = ?",
            (run_id,),
        )
        if not rows:
            return None
        return StoredRun(_standing(rows[0][:-4]), *rows[0][-4:])

    def delete(self, run_id: str, /) -> None:
        """As `RunStore.delete`: nothing of it stays in the file, nor in the log of its changes."""
        self._writer.write(lambda database: _erase(database, run_id))
        self.read("PRAGMA wal_checkpoint(TRUNCATE)")

    def silent_since(self, ts: float, run_id: str | None = None) -> list[str]:
        """The runs of which nothing was heard since, in seconds since 1970; or one, if it is so."""
        query = "SELECT run_id FROM runs WHERE latest < ?1 AND (?2 IS NULL OR run_id = ?2)"
        return [row[0] for row in self.read(query, (ts, run_id))]

    def standings(self) -> Iterable[RunStanding]:
        """As `RunStore.standings`."""
        rows = self.read(f"SELECT {_STANDING_COLUMNS} FROM runs")  # noqa: S608 - names of our own
        return list(map(_standing, rows))

    def enter(self, act: PersonAct, *, stop_reason: str | None = None) -> None:
        """Write down what a person did; a stop stands with its reason, and anything else lifts it.

        A run that they delete is gone in the same moment.

        Raises:
            StoreError: It cannot be written.
        """

        def write(database: sqlite3.Connection) -> None:
            database.execute("UPDATE runs SET stop_reason = ? WHERE run_id = ?", (stop_reason, act.run_id))
            if act.act in _ERASING:
                _erase(database, act.run_id)
            database.execute(
                "INSERT INTO audit (at, act, run_id, caller, detail) VALUES (?, ?, ?, ?, ?)",
                (time.time(), act.act, act.run_id, act.caller, act.detail),
            )

        self._writer.write(write)

    def lagging(self) -> list[str]:
        """The runs of which more is in the log than is listed, after a crash; the latest first."""
        query = "SELECT run_id FROM runs WHERE received > events ORDER BY latest DESC LIMIT ?"
        return [row[0] for row in self.read(query, (_MOST_LAGGING,))]

    def stops(self) -> dict[str, str]:
        """The runs that a person has ended, each with the reason."""
        return dict(self.read("SELECT run_id, stop_reason FROM runs WHERE stop_reason IS NOT NULL"))

    def knows(self, run_id: str) -> bool:
        """Whether there is such a run."""
        return bool(self.read("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)))

    def write(self, run: Callable[[sqlite3.Connection], _T]) -> _T:
        """Have something else written, and wait for it, as `DatabaseWriter.write`."""
        return self._writer.write(run)

    def read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query.

        Raises:
            StoreError: The file cannot be read.
        """
        try:
            with closing(sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=rw", uri=True)) as database:
                return database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: {error}") from error

    def waiting(self) -> tuple[int, int]:
        """As `DatabaseWriter.waiting`."""
        return self._writer.waiting()

    def close(self) -> None:
        """Write what waits, and write no more."""
        self._writer.close()

    def _write_standings(self, database: sqlite3.Connection) -> dict[str, _Standing]:
        """Write what was noted; it."""
        with self._lock:
            standings = dict(self._standings)
            self._is_noted = False
        for run, _ in standings.values():
            if not run.events:  # it has only asked, which may be written after this
                _run_number(database, run.run_id, RunOrigin(), run.latest, run.latest)
        database.executemany(_STANDING, [_standing_row(item) for item in standings.values()])
        return standings

    def _standings_done(self, future: Future[dict[str, _Standing]]) -> None:
        """What is written is noted no more; what is not waits for the next."""
        with self._lock:
            if future.exception() is not None:
                self._is_noted = False
                return
            for run_id, item in future.result().items():
                if self._standings.get(run_id) is item:
                    del self._standings[run_id]


def _standing_row(item: _Standing) -> dict[str, Any]:
    """The values of `_STANDING`."""
    run, stuck = item
    first = None if stuck is None else stuck.first_event
    return {
        "run_id": run.run_id,
        "standing": run.action.rank,
        "kind": run.kind,
        "reason": run.reason,
        "events": run.events,
        "cost_usd": run.cost_usd,
        "tokens": run.tokens,
        "ended": run.ended,
        "latest": run.latest,
        "is_stuck": stuck is not None,
        "from_usd": None if stuck is None else stuck.cost_usd,
        "chain": None if stuck is None else plain_name(stuck.chain_id),
        "first_event": first or 0,
    }


def _standing(row: Sequence[Any]) -> RunStanding:
    """What `_STANDING` has written."""
    run_id, rank, kind, reason, events, cost_usd, tokens, latest, ended = row
    return RunStanding(
        run_id=run_id,
        action=_ACTIONS[rank],
        kind=kind,
        reason=reason,
        events=events,
        cost_usd=cost_usd,
        tokens=tokens,
        latest=latest,
        ended=bool(ended),
    )


def _run_number(
    database: sqlite3.Connection, run_id: str, origin: RunOrigin, started: float, latest: float
) -> int:
    """The number of a run, which is made where there is none."""
    values = (run_id, origin.project, origin.agent, origin.user, origin.source, started, latest)
    rows = database.execute(_NEW_RUN, values).fetchall()
    number: int = rows[0][0]
    return number


def _erase(database: sqlite3.Connection, run_id: str) -> None:
    """Delete a run and all that belongs to it."""
    for table in ("events", "checks", "states", "spending"):
        query = f"DELETE FROM {table} WHERE run = (SELECT number FROM runs WHERE run_id = ?)"  # noqa: S608
        database.execute(query, (run_id,))
    for table in ("alerts", "runs"):
        database.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))  # noqa: S608
