"""The runs of a service on disk: every event, the latest state of each run, what was spent, and who did what.

It is the `RunStore` and the `RunLog` of the registry. One thread writes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

from ebbtide.database.group_writer import GroupWriter, LatestValues
from ebbtide.database.session import Session, SessionPool
from ebbtide.errors import StoreError
from ebbtide.events.event import Event
from ebbtide.service.runs.run_event import RunEvent, plain_name, plain_text, stored_event
from ebbtide.service.runs.run_origin import RunOrigin, RunSource
from ebbtide.service.runs.run_place import run_place
from ebbtide.service.runs.stuck_from import StuckFrom
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.runs.run_store import ModelCheck, RunStanding, StoredRun

_T = TypeVar("_T")

_ACTIONS: Final = tuple(Action)
_PAGE: Final = 5_000  # events that are read at once
_TOGETHER: Final = 180  # events of one statement: the SQLite of some systems takes 999 values at most
_FEW: Final = 20  # events whose places are asked for with them
_LINE_BYTES: Final = 300  # that an event takes in memory beside its line
_MOST_LAGGING: Final = 1000  # runs that are listed anew at a start, each read in some 10 ms
_ERASING: Final = ("delete", "expire")  # acts
_CHECK_BYTES: Final = 500  # that a check takes in memory
# The statements, in the SQL that SQLite and PostgreSQL both know.
#: Values: id, project, agent, user, source, started, latest; its row is the number of the run.
_NEW_RUN: Final = """
INSERT INTO runs (run_id, project, agent, "user", source, started, latest) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run_id) DO UPDATE SET
    project = coalesce(excluded.project, runs.project), agent = coalesce(excluded.agent, runs.agent),
    "user" = coalesce(excluded."user", runs."user"),
    started = CASE WHEN excluded.started < runs.started THEN excluded.started ELSE runs.started END,
    latest = CASE WHEN excluded.latest > runs.latest THEN excluded.latest ELSE runs.latest END,
    source = CASE excluded.source WHEN 'hooks' THEN 'hooks' ELSE runs.source END
RETURNING number, is_booked
"""
#: Values: run, quarter of an hour, model, dollars, tokens, calls, calls without a price.
SPENT: Final = """
INSERT INTO spending (run, quarter, model, cost_usd, tokens, calls, unpriced) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run, quarter, model) DO UPDATE SET
    cost_usd = spending.cost_usd + excluded.cost_usd, tokens = spending.tokens + excluded.tokens,
    calls = spending.calls + excluded.calls, unpriced = spending.unpriced + excluded.unpriced
"""
#: Values: revision, place, checks, state, id.
_STATE: Final = """
INSERT INTO states (run, revision, place, checks, state)
SELECT number, ?, ?, ?, ? FROM runs WHERE run_id = ?
ON CONFLICT (run) DO UPDATE SET revision = excluded.revision, place = excluded.place,
    checks = excluded.checks, state = excluded.state
WHERE excluded.revision >= states.revision
"""
#: Values: number of the check, place, agent, at, id.
_CHECK: Final = """
INSERT INTO checks (run, number, place, agent, at)
SELECT number, ?, ?, ?, CAST(? AS DOUBLE PRECISION) FROM runs WHERE run_id = ?
ON CONFLICT (run, number) DO UPDATE SET place = excluded.place, agent = excluded.agent, at = excluded.at
"""
_STANDING_COLUMNS: Final = "run_id, standing, kind, reason, events, cost_usd, tokens, latest, ended"
#: Values: events, whether it has ended, action, kind, reason, events, dollars, tokens, whether it has ended,
#: latest, latest, whether it is stuck, dollars from where on, whether it is stuck, chain, how many events of
#: it to look at, events before that, latest, id.
_STANDING: Final = """
UPDATE runs SET words = CASE WHEN events = ? AND ended = ? THEN words END,
    standing = ?, kind = ?, reason = ?, events = ?,
    cost_usd = CASE WHEN is_booked = 1 THEN cost_usd ELSE CAST(? AS DOUBLE PRECISION) END,
    tokens = CASE WHEN is_booked = 1 THEN tokens ELSE CAST(? AS BIGINT) END, ended = ?,
    latest = CASE WHEN latest < ? THEN ? ELSE latest END,
    stuck_from_usd = CASE WHEN ? = 0 THEN NULL WHEN stuck_since IS NULL THEN ? ELSE stuck_from_usd END,
    stuck_since = CASE WHEN ? = 1 THEN coalesce(stuck_since, (
        SELECT at FROM events WHERE run = runs.number AND chain = ? ORDER BY place LIMIT ? OFFSET ?
    ), ?) END
WHERE run_id = ?
"""
#: Values: id, place, how many.
_EVENTS_SINCE: Final = (
    "SELECT place, at, line FROM events WHERE run = (SELECT number FROM runs WHERE run_id = ?)"
    " AND place > ? ORDER BY place LIMIT ?"
)
_CHECKS_OF: Final = (
    "SELECT checks.number, place, checks.agent, at FROM checks JOIN runs ON run = runs.number"
    " WHERE run_id = ? ORDER BY 1"
)
_STORED: Final = (
    f"SELECT {_STANDING_COLUMNS}, revision, state, place, checks"  # noqa: S608 - names of our own
    " FROM runs JOIN states ON run = number WHERE run_id = ?"
)
#: Each takes the id.
_ERASE: Final = (
    *(
        f"DELETE FROM {table} WHERE run = (SELECT number FROM runs WHERE run_id = ?)"  # noqa: S608
        for table in ("events", "checks", "states", "charged", "spending")
    ),
    *(f"DELETE FROM {table} WHERE run_id = ?" for table in ("alerts", "runs")),  # noqa: S608
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAct:
    """Something that a person did about a run.

    Args:
        act: ``stop``, ``acknowledge``, ``extend`` or ``delete``; ``expire`` where the service deletes.
        caller: From where: an address, or a program.
        detail: What they said to it; empty where nothing.
    """

    act: str
    run_id: str
    caller: str
    detail: str = ""


class _Standing(NamedTuple):
    """Standing of a run, as it is to be shown."""

    run: RunStanding
    stuck: StuckFrom | None


class RunDatabase:
    """The database of a service.

    Args:
        where: The path of a file, which is made where there is none, or the URL of a PostgreSQL server.

    Raises:
        ConfigError: `where` names neither.
        StoreError: It cannot be opened, is something else, or another service has it.
    """

    is_durable = True

    def __init__(self, where: str | os.PathLike[str]) -> None:
        self._place = run_place(where)
        self._writer = GroupWriter(self._place)
        self._readers = SessionPool(self._place.name, self._place.reader)
        self._standings = self.latest_values(_write_standings)

    def append(
        self, run_id: str, events: Sequence[RunEvent], origin: RunOrigin, now: float
    ) -> Future[list[int]]:
        """Keeps events of a run; returns the place of each in the log, 0 for one that was there before.

        Args:
            run_id: The run; it is made where there is none.
            now: Seconds since 1970.

        Raises:
            QueueFullError: Too much is waiting.
        """

        def write(session: Session) -> list[int]:
            started = min((item.at for item in events), default=now)
            run, is_booked = _run_row(session, run_id, origin, started, now)
            places = _keep(session, run, events)
            sums: dict[tuple[int, str], list[float]] = {}
            for item, place in zip(events, places, strict=True):
                if place and item.charge is not None and not is_booked:
                    quarter, model, cost, tokens, calls = item.charge
                    total = sums.setdefault((quarter, model), [0.0, 0, 0, 0])
                    parts = (cost or 0.0, tokens, calls, int(cost is None and tokens > 0))
                    total[:] = (before + part for before, part in zip(total, parts, strict=True))
            if any(places):
                query = "UPDATE runs SET received = received + ? WHERE number = ?"
                session.run(query, (sum(map(bool, places)), run))
            spent = [(run, quarter, model, *total) for (quarter, model), total in sums.items()]
            session.run_many(SPENT, spent)
            return places

        size = sum(len(item.line) + _LINE_BYTES for item in events)
        return self._writer.submit(write, size=size)

    def since(self, run_id: str, place: int, /) -> Iterator[tuple[int, Event]]:
        """Yields the events of a run after a place, each with its own.

        Raises:
            StoreError: They cannot be read, or one of them is damaged.
        """
        latest = place
        is_timed = False  # whether an event has stated its time: one that does not then has none
        while True:
            rows = self.read(_EVENTS_SINCE, (run_id, latest, _PAGE))
            for latest, at, line in rows:
                try:
                    event = stored_event(line)
                except ValueError as error:
                    raise StoreError(
                        f"{self._place.name}: event {latest} of run {run_id} is damaged ({error}). "
                        "Delete the run, or take a backup of the file"
                    ) from error
                if event.ts is not None:
                    is_timed = True
                elif not is_timed:
                    event.ts = at
                yield latest, event
            if len(rows) < _PAGE:
                return

    def checks(self, run_id: str, /) -> list[ModelCheck]:
        """Returns all checks of a run, by their numbers."""
        return [ModelCheck(*row) for row in self.read(_CHECKS_OF, (run_id,))]

    def add_check(self, run_id: str, check: ModelCheck, /) -> None:
        """Keeps a check, soon; a run that was deleted meanwhile stays so."""
        agent = None if check.agent is None else plain_text(check.agent)

        def write(session: Session) -> None:
            if not check.place and check.number == 1:  # it was only asked about, so far
                now = time.time()
                _run_number(session, run_id, RunOrigin(), now, now)
            session.run(_CHECK, (check.number, check.place, agent, check.at, run_id))

        self._writer.submit(write, size=_CHECK_BYTES, can_wait=True)

    def introduce(self, run_id: str, origin: RunOrigin, now: float) -> None:
        """Notes where a run comes from, soon; it is made where there is none."""
        self._writer.submit(lambda session: _run_number(session, run_id, origin, now, now), can_wait=True)

    def origin(self, run_id: str) -> RunOrigin | None:
        """Returns where a run comes from; None where there is no such run."""
        query = 'SELECT project, agent, "user", source FROM runs WHERE run_id = ?'
        rows = self.read(query, (run_id,))
        if not rows:
            return None
        project, agent, user, source = rows[0]
        return RunOrigin(project=project, agent=agent, user=user, source=RunSource(source))

    def note(self, standing: RunStanding, stuck: StuckFrom | None = None) -> None:
        """Shows a run as it stands, soon: the latest counts.

        Args:
            stuck: From where on it is stuck; the first one stays until it is stuck no more.
        """
        self._standings.put(standing.run_id, _Standing(standing, stuck))

    def annotate(self, run_id: str, note: str) -> None:
        """Notes what to know of a run before judging it, soon; an empty text says nothing."""
        note = plain_text(note)
        query = "UPDATE runs SET note = ? WHERE run_id = ? AND note != ?"
        self._writer.submit(lambda session: session.run(query, (note, run_id, note)))

    def flush(self) -> Future[None]:
        """Returns a future that is done when everything small that was handed over before is on disk."""
        # It asks something, so that a connection that has gone stale is noticed before the commit.
        return self._writer.submit(lambda session: session.run("SELECT 1"))

    def save(self, runs: Sequence[StoredRun], /) -> None:
        """Puts runs in the place of older revisions of them; a run that was deleted meanwhile stays so."""
        rows = [(run.revision, run.place, run.checks, run.state, run.standing.run_id) for run in runs]

        def write(session: Session) -> None:
            session.run_many(_STATE, rows)

        self._writer.write(write)

    def load(self, run_id: str, /) -> StoredRun | None:
        """Returns one run; None where it is not known."""
        rows = self.read(_STORED, (run_id,))
        if not rows:
            return None
        return StoredRun(_standing(rows[0][:-4]), *rows[0][-4:])

    def delete(self, run_id: str, /) -> None:
        """Forgets a run: nothing of it stays in a file, nor in the log of its changes."""
        self._writer.write(lambda session: _erase(session, run_id))
        self._place.erase()

    def silent_since(self, ts: float, run_id: str | None = None) -> list[str]:
        """Returns the runs of which nothing was heard since, in seconds since 1970; or one, if it is so."""
        one, values = ("", (ts,)) if run_id is None else (" AND run_id = ?", (ts, run_id))
        rows = self.read(f"SELECT run_id FROM runs WHERE latest < ?{one}", values)  # noqa: S608 - no values
        return [row[0] for row in rows]

    def standings(self) -> Iterable[RunStanding]:
        """Returns how every run stood when it was noted."""
        rows = self.read(f"SELECT {_STANDING_COLUMNS} FROM runs")  # noqa: S608 - names of our own
        return list(map(_standing, rows))

    def enter(self, act: PersonAct, *, stop_reason: str | None = None) -> None:
        """Writes down what a person did; a stop stands with its reason, and anything else lifts it.

        A run that they delete is gone in the same moment.

        Raises:
            StoreError: It cannot be written.
        """

        def write(session: Session) -> None:
            session.run("UPDATE runs SET stop_reason = ? WHERE run_id = ?", (stop_reason, act.run_id))
            if act.act in _ERASING:
                _erase(session, act.run_id)
            query = "INSERT INTO audit (at, act, run_id, caller, detail) VALUES (?, ?, ?, ?, ?)"
            session.run(query, (time.time(), act.act, act.run_id, act.caller, act.detail))

        self._writer.write(write)

    def lagging(self) -> list[str]:
        """Returns the runs of which more is in the log than is listed, after a crash; the latest first."""
        query = "SELECT run_id FROM runs WHERE received > events ORDER BY latest DESC LIMIT ?"
        return [row[0] for row in self.read(query, (_MOST_LAGGING,))]

    def stops(self) -> dict[str, str]:
        """Returns the runs that a person has ended, each with the reason."""
        return dict(self.read("SELECT run_id, stop_reason FROM runs WHERE stop_reason IS NOT NULL"))

    def knows(self, run_id: str) -> bool:
        """Returns True if there is such a run."""
        return bool(self.read("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)))

    def write(self, run: Callable[[Session], _T]) -> _T:
        """Has something else written, and wait for it, as `GroupWriter.write`."""
        return self._writer.write(run)

    def latest_values(self, write: Callable[[Session, Mapping[str, _T]], None]) -> LatestValues[_T]:
        """Returns `LatestValues` with the writer of this database."""
        return LatestValues(self._writer, write)

    def read(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Returns the rows of a query.

        Raises:
            StoreError: The database cannot be read.
        """
        with self._readers.session() as session:
            return session.rows(query, values)

    def waiting(self) -> tuple[int, int]:
        """Returns how much waits to be written, as `GroupWriter.waiting` does."""
        return self._writer.waiting()

    def close(self) -> None:
        """Writes what waits, and writes no more."""
        self._writer.close()
        self._readers.close()


def _keep(session: Session, run: int, events: Sequence[RunEvent]) -> list[int]:
    """Keeps events of a run; returns the place of each, 0 for one that was there before."""
    places: list[int] = []
    for start in range(0, len(events), _TOGETHER):
        batch = events[start : start + _TOGETHER]
        values = [value for item in batch for value in (run, *item.key, item.at, item.line)]
        marks = ", ".join(["(?, ?, ?, ?, ?)"] * len(batch))
        insert = f"INSERT INTO events (run, chain, seq, at, line) VALUES {marks} ON CONFLICT DO NOTHING"  # noqa: S608 - marks alone
        if len(batch) <= _FEW:
            places += _places(batch, session.rows(f"{insert} RETURNING place, chain, seq", values))
            continue
        # SQLite gives other threads a turn at each row of an answer, and waits for its own again.
        latest = session.rows("SELECT coalesce(max(place), 0) FROM events WHERE run = ?", (run,))[0][0]
        session.run(insert, values)
        new = "FROM events WHERE run = ? AND place > ?"
        count, first, last = session.rows(f"SELECT count(*), min(place), max(place) {new}", (run, latest))[0]
        if count == len(batch) == last - first + 1:
            places += range(first, last + 1)
        else:
            places += _places(batch, session.rows(f"SELECT place, chain, seq {new}", (run, latest)))
    return places


def _places(events: Sequence[RunEvent], rows: Sequence[tuple[Any, ...]]) -> Iterator[int]:
    """Yields the place of each event, 0 for one that was not kept; places rise in the order of the events."""
    kept = sorted(rows, reverse=True)
    for item in events:
        is_kept = bool(kept) and kept[-1][1:] == item.key
        yield kept.pop()[0] if is_kept else 0


def _write_standings(session: Session, standings: Mapping[str, _Standing]) -> None:
    for run, _ in standings.values():
        if not run.events:  # it has only asked, which may be written after this
            _run_number(session, run.run_id, RunOrigin(), run.latest, run.latest)
    session.run_many(_STANDING, [_standing_row(item) for item in standings.values()])


def _standing_row(item: _Standing) -> tuple[Any, ...]:
    """Returns the values of `_STANDING`."""
    run, stuck = item
    is_stuck = int(stuck is not None)
    first = (stuck.first_event or 0) if stuck is not None else 0
    chain = None if stuck is None else plain_name(stuck.chain_id)
    return (
        *(run.events, int(run.ended)),
        *(
            run.action.rank,
            run.kind,
            plain_text(run.reason),
            run.events,
            run.cost_usd,
            run.tokens,
            int(run.ended),
        ),
        *(run.latest, run.latest),
        *(is_stuck, None if stuck is None else stuck.cost_usd),
        *(is_stuck, chain, min(first, 1), max(0, first - 1)),
        *(run.latest, run.run_id),
    )


def _standing(row: Sequence[Any]) -> RunStanding:
    """Returns what `_STANDING` has written."""
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


def _run_number(session: Session, run_id: str, origin: RunOrigin, started: float, latest: float) -> int:
    """Returns the number of a run, which is made where there is none."""
    return _run_row(session, run_id, origin, started, latest)[0]


def _run_row(
    session: Session, run_id: str, origin: RunOrigin, started: float, latest: float
) -> tuple[int, bool]:
    """The number of a run, and whether what it took is booked from its files and not of its events."""
    values = (run_id, origin.project, origin.agent, origin.user, origin.source.value, started, latest)
    number, is_booked = session.rows(_NEW_RUN, values)[0]
    return number, bool(is_booked) or origin.source is RunSource.SESSION_FILE


def _erase(session: Session, run_id: str) -> None:
    """Deletes a run and all that belongs to it."""
    for query in _ERASE:
        session.run(query, (run_id,))
