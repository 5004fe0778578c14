"""Both databases keep the same, and say the same of it."""

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from ebbtide import Candidate, DecisionLog, ModelCall, StoredRun, ToolCall, Usage
from ebbtide.budget.prices import Prices
from ebbtide.errors import ConfigError, StoreError
from ebbtide.events.event import Event
from ebbtide.service.alerts.alert import Alert, AlertLevel
from ebbtide.service.alerts.alert_book import AlertBook
from ebbtide.service.otlp.export import PackedExport, SignalKind
from ebbtide.service.otlp.span_receiver import SpanReceiver
from ebbtide.service.runs.listing import (
    RunFilter,
    RunOrder,
    SpendingBy,
    audit,
    find_runs,
    list_runs,
    spending,
)
from ebbtide.service.runs.live_runs import LiveRuns
from ebbtide.service.runs.run_database import PersonAct, RunDatabase
from ebbtide.service.runs.run_event import run_event
from ebbtide.service.runs.run_origin import RunOrigin
from ebbtide.service.runs.run_place import run_place
from ebbtide.service.runs.stuck_from import StuckFrom
from ebbtide.service.sessions.session_watch import file_states, keep_file_state
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.runs.run_store import ModelCheck, RunStanding

NOW = 1_790_000_000.0
SUMS = {"cost_usd": 2.0, "tokens": 30, "model_calls": 3, "unpriced_calls": 1}
#: What is looked for, and the runs with it.
LETTERS = {
    "": {"100%", "a_b", "Ax!b", "o'r"},
    "%": {"100%"},
    "_": {"a_b"},
    "!": {"Ax!b"},
    "'": {"o'r"},
    "aX": {"Ax!b"},
    "BILL": {"o'r"},
    "100": {"100%"},
    "nothing": set(),
}
TABLES = ("runs", "events", "checks", "states", "charged", "spending", "exports", "alerts", "session_files")


@pytest.fixture
def database(db: str) -> Iterator[RunDatabase]:
    database = RunDatabase(db)
    yield database
    database.close()


def add(database: RunDatabase, run_id: str, *events: Event, **origin: Any) -> list[int]:
    items = [run_event(event, Prices(), NOW) for event in events]
    return database.append(run_id, items, RunOrigin(**origin), NOW).result()


def tool(seq: int | None, **fields: Any) -> ToolCall:
    return ToolCall(name="ls", args={"n": seq}, result="a", seq=seq, ts=NOW, **fields)


def model(seq: int, **usage: Any) -> ModelCall:
    return ModelCall(usage=Usage(input_tokens=10, **usage), seq=seq, ts=NOW)


def standing(run_id: str, **fields: Any) -> RunStanding:
    values = {"action": Action.ALLOW, "kind": None, "reason": "", "events": 1, "cost_usd": None}
    return RunStanding(**{"run_id": run_id, "tokens": None, "latest": NOW, **values, **fields})


def row(database: RunDatabase, run_id: str) -> dict[str, Any]:
    database.flush().result()
    (row,) = find_runs(database, [run_id])
    return row


def test_an_event_with_a_number_is_kept_once(database) -> None:
    """For each chain, also within one body; one without a number is always new."""
    first = add(database, "a", tool(1), tool(2), tool(1), tool(None), tool(1, chain_id="b"))
    assert [place > 0 for place in first] == [True, True, False, True, True]
    again = add(database, "a", tool(2), tool(None), tool(3))
    assert [place > 0 for place in again] == [False, True, True]
    places = [place for place in first + again if place]
    assert places == sorted(set(places))
    assert [place for place, _ in database.since("a", 0)] == places
    assert [event.seq for _, event in database.since("a", places[2])] == [1, None, 3]
    assert list(database.since("nobody", 0)) == []
    assert database.read("SELECT received FROM runs") == [(6,)]


def test_names_of_a_run_come_one_by_one(database) -> None:
    """A name that is not said leaves what was said; odd letters are taken."""
    add(database, "a", tool(1), project="p\0\ud800", agent="x")
    add(database, "a", tool(2), user="u", agent="y")
    origin = database.origin("a")
    assert (origin.project, origin.agent, origin.user) == ("p?", "y", "u")
    assert database.origin("b") is None
    assert (database.knows("a"), database.knows("b")) == (True, False)


def test_letters_are_looked_for(database) -> None:
    """What means something in SQL means itself, and small letters find large ones."""
    for run_id in ("100%", "a_b", "Ax!b", "o'r"):
        add(database, run_id, tool(1), project="billing" if run_id == "o'r" else None)
    for text, run_ids in LETTERS.items():
        rows, _ = list_runs(database, RunFilter(text=text))
        assert {row["run_id"] for row in rows} == run_ids, text


def test_pages_have_each_run_once(database) -> None:
    chance = random.Random(5)  # noqa: S311 - a test
    run_ids = sorted(f"r{number}" for number in range(25))
    for run_id in run_ids:
        add(database, run_id, tool(1))
        action, latest = chance.choice(list(Action)), NOW + chance.randrange(5)
        database.note(standing(run_id, action=action, latest=latest))
    database.flush().result()
    for order in RunOrder:
        runs = list(pages(database, RunFilter(order=order, limit=4)))
        assert sorted(run["run_id"] for run in runs) == run_ids
        keys = [(Action(run["action"]).rank if order is RunOrder.WORST else 0, run["latest"]) for run in runs]
        assert keys == sorted(keys, reverse=True)
    rows, _ = list_runs(database, RunFilter(standing=[Action.STOP], since=NOW + 1))
    assert {run["action"] for run in rows} == {"stop"}


def pages(database: RunDatabase, wanted_runs: RunFilter) -> Iterator[dict[str, Any]]:
    while True:
        rows, cursor = list_runs(database, wanted_runs)
        yield from rows
        if cursor is None:
            return
        wanted_runs = replace(wanted_runs, cursor=cursor)


def test_what_was_spent_is_whole_numbers(database) -> None:
    """However it is grouped, the groups are all of it."""
    add(database, "a", model(1, model="m", cost_usd=1.5), model(2, model="m", cost_usd=0.5), project="p")
    add(database, "b", model(1, model="nobody-knows-it"), agent="x")
    add(database, "a", model(1, model="m", cost_usd=9.0))
    for by in SpendingBy:
        groups = spending(database, by, None)
        sums = {key: sum(group[key] or 0 for group in groups) for key in groups[0] if key in SUMS}
        assert sums == SUMS, by
        assert all(type(group[key]) is int for group in groups for key in ("tokens", "model_calls", "runs"))
        assert spending(database, by, NOW + 1e6) == []


def test_from_where_on_a_run_is_stuck(database) -> None:
    """The first that is told stays until it is stuck no more; without an event, when it was told."""
    add(database, "a", *(replace(tool(seq), ts=NOW - 100 + seq) for seq in range(1, 10)))
    chain = next(event for _, event in database.since("a", 0)).chain_id
    database.note(standing("a", action=Action.STOP, cost_usd=1.0), StuckFrom(chain, 3, 0.25))
    assert row(database, "a")["stuck_since"] == NOW - 97
    database.note(standing("a", cost_usd=2.0, latest=NOW + 5), StuckFrom(cost_usd=0.5))
    assert (row(database, "a")["stuck_since"], row(database, "a")["stuck_usd"]) == (NOW - 97, 1.75)
    database.note(standing("a", latest=NOW + 1))
    assert (row(database, "a")["stuck_since"], row(database, "a")["latest"]) == (None, NOW + 5)
    database.note(standing("a", latest=NOW + 9), StuckFrom())
    assert row(database, "a")["stuck_since"] == NOW + 9


def test_states_and_checks_come_back(database) -> None:
    """An older state does not take the place of a newer one, and neither makes a run that was deleted."""
    add(database, "a", tool(1))
    runs = [StoredRun(standing("a"), 2, b"\0new", 1, 2), StoredRun(standing("a"), 1, b"old", 0, 0)]
    database.save(runs[:1])
    database.save(runs[1:])
    database.save([StoredRun(standing("gone"), 1, b"x")])
    stored = database.load("a")
    assert (stored.revision, stored.state, stored.place, stored.checks) == (2, b"\0new", 1, 2)
    assert database.load("gone") is None
    checks = [ModelCheck(1, 0, None, None), ModelCheck(2, 1, "w", NOW), ModelCheck(2, 1, "w", NOW + 1)]
    for check in checks:
        database.add_check("a", check)
    database.flush().result()
    assert database.checks("a") == [checks[0], checks[2]]


def test_what_people_do_is_written_down(database) -> None:
    """A stop holds until somebody lets the run go on, and who deletes is known when the run is not."""
    for run_id in ("a", "b"):
        add(database, run_id, tool(1))
    database.enter(PersonAct(act="stop", run_id="a", caller="Ann", detail="enough"), stop_reason="enough")
    assert database.stops() == {"a": "enough"}
    database.enter(PersonAct(act="acknowledge", run_id="a", caller="Ann"))
    assert database.stops() == {}
    database.enter(PersonAct(act="delete", run_id="b", caller="Bo"))
    assert [entry["act"] for entry in audit(database, run_id=None, limit=2)] == ["delete", "acknowledge"]
    assert [entry["caller"] for entry in audit(database, run_id="b", limit=9)] == ["Bo"]
    assert database.silent_since(NOW + 1) == ["a"]
    assert database.silent_since(NOW + 1, "b") == []


def test_nothing_of_a_deleted_run_stays(database) -> None:
    add(database, "a", tool(1), model(2, model="m"))
    database.add_check("a", ModelCheck(1, 1, None, NOW))
    database.save([StoredRun(standing("a"), 1, b"x")])
    enter_alert(database, "a")
    database.delete("a")
    assert [table for table in TABLES if database.read(f"SELECT * FROM {table}")] == []  # noqa: S608 - ours


def enter_alert(database: RunDatabase, run_id: str) -> bool:
    alert = Alert(
        level=AlertLevel.STOP,
        run_id=run_id,
        reason="",
        kind=None,
        agent=None,
        project=None,
        cost_usd=None,
        at=NOW,
        words=None,
        link="",
    )
    return AlertBook(database).enter(alert, [("hook", {"text": "\0"}), ("command", {})])


def test_an_alert_is_told_once_a_channel(database) -> None:
    book = AlertBook(database)
    assert [enter_alert(database, "a"), enter_alert(database, "a")] == [True, False]
    assert [len(book.due(channel, NOW)) for channel in ("hook", "command", "other")] == [1, 1, 0]
    (alert,) = book.due("hook", NOW)
    book.settle(alert.number, "waiting", due=NOW + 5)
    assert (book.due("hook", NOW), book.waiting()) == ([], 2)
    book.settle(alert.number, "sent")
    assert book.waiting() == 1
    database.enter(PersonAct(act="acknowledge", run_id="a", caller="Ann"))
    assert enter_alert(database, "a")


def test_exports_and_files_are_remembered(database) -> None:
    receiver = SpanReceiver(LiveRuns(database))
    export = PackedExport(kind=next(iter(SignalKind)), media="m", encoding="", body=b"\0\xff")
    marks = [receiver.keep(export) for _ in range(3)]
    assert list(receiver.kept()) == [(mark, export) for mark in marks]
    receiver.forget(marks[1])
    assert [mark for mark, _ in receiver.kept()] == marks[2:]
    for state in ("1", "2"):
        keep_file_state(database, "/a", state)
    assert file_states(database) == {"/a": "2"}


def test_what_fails_leaves_the_others(database) -> None:
    """Of what is written together, only the part at fault fails."""
    futures = [
        database._writer.submit(lambda session, n=n: session.run("SELECT 1" if n % 3 else "SELECT no_such"))
        for n in range(9)
    ]
    assert [future.exception() is None for future in futures] == [bool(n % 3) for n in range(9)]
    assert all(isinstance(future.exception(), StoreError) for future in futures[::3])


def test_what_is_noted_outlives_a_fault(database) -> None:
    """Of many notes of a run the latest is written, again where the first try failed."""
    add(database, "a", tool(1))

    def write(session: Any, values: Any) -> None:
        session.run(query)
        batches.append(dict(values))

    batches: list[dict[str, int]] = []
    latest, query = database.latest_values(write), "SELECT no_such"
    for value in range(5):
        latest.put("a", value)
    database.flush().result()
    assert batches == []
    query = "SELECT 1"
    latest.put("b", 7)
    database.flush().result()
    latest.put("c", 8)
    database.flush().result()
    assert batches == [{"a": 4, "b": 7}, {"c": 8}]


def test_a_service_that_was_cut_off_writes_no_more(postgres_url: str) -> None:
    """Where another one has taken its place meanwhile, until that one has ended."""
    import psycopg

    first = RunDatabase(postgres_url)
    add(first, "a", tool(1))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'ebbtide' AND datname = current_database()"
        )
    second = RunDatabase(postgres_url)
    with pytest.raises(StoreError, match="another service has this database"):
        add(first, "a", tool(2))
    add(second, "a", tool(3))
    second.close()
    assert [bool(place) for place in add(first, "a", tool(2), tool(3))] == [True, False]
    first.close()


def test_one_service_has_it(db: str) -> None:
    """The second is refused until the first has ended, and what was kept is there then."""
    first = RunDatabase(db)
    add(first, "a", tool(1))
    with pytest.raises(StoreError, match=r"another service has this .* name another --db"):
        RunDatabase(db)
    first.close()
    second = RunDatabase(db)
    assert second.knows("a")
    second.close()


@pytest.mark.parametrize("where", ["mysql://ann:marmalade@h/d", ":memory:", "", "sqlite://"])
def test_places_that_are_none(where: str) -> None:
    with pytest.raises(ConfigError, match="--db") as raised:
        run_place(where)
    assert "marmalade" not in str(raised.value)


def test_tables_of_somebody_else_are_left_alone(postgres_url: str) -> None:
    """Ours have a schema of their own, beside whatever is called the same."""
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE runs (mine TEXT)")
        with DecisionLog.open(postgres_url) as log:
            log.add(Candidate(description="Use PostgreSQL because there are many writers"))
        database = RunDatabase(postgres_url)
        add(database, "a", tool(1))
        assert connection.execute("SELECT * FROM runs").fetchall() == []
        assert connection.execute("SELECT run_id FROM ebbtide_service.runs").fetchall() == [("a",)]
        database.close()


def test_an_event_that_is_damaged_on_disk_is_named(tmp_path) -> None:
    """A torn page can leave a row whose line is no JSON: that is an error of the store."""
    database = RunDatabase(tmp_path / "runs.db")
    item = run_event(ToolCall(name="ls", args={}, result="a", seq=1), Prices(), NOW)
    database.append("a", [replace(item, line=item.line.replace(b"ls", b"\0"))], RunOrigin(), NOW).result()
    with pytest.raises(StoreError, match="event 1 of run a is damaged"):
        list(database.since("a", 0))
    database.close()
