"""Statements of `RunDatabase`, in the SQL that SQLite and PostgreSQL both know."""

from __future__ import annotations

from typing import Final

#: Values: id, project, agent, user, source, started, latest; its row is the number of the run.
NEW_RUN: Final = """
INSERT INTO runs (run_id, project, agent, "user", source, started, latest) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run_id) DO UPDATE SET
    project = coalesce(excluded.project, runs.project), agent = coalesce(excluded.agent, runs.agent),
    "user" = coalesce(excluded."user", runs."user"),
    started = CASE WHEN excluded.started < runs.started THEN excluded.started ELSE runs.started END,
    latest = CASE WHEN excluded.latest > runs.latest THEN excluded.latest ELSE runs.latest END,
    source = CASE excluded.source WHEN 'hooks' THEN 'hooks' ELSE runs.source END
RETURNING number, is_booked
"""


def new_events(count: int) -> str:
    """Returns the statement that keeps events which were not there.

    Values for each event: run, chain, seq, at, line.
    """
    values = ", ".join(["(?, ?, ?, ?, ?)"] * count)
    return f"INSERT INTO events (run, chain, seq, at, line) VALUES {values} ON CONFLICT DO NOTHING"  # noqa: S608 - marks alone


#: What follows `new_events` where the places and keys of what was kept are its rows.
KEPT: Final = " RETURNING place, chain, seq"
#: Values: run.
LATEST_PLACE: Final = "SELECT coalesce(max(place), 0) FROM events WHERE run = ?"
#: Values: run, a place; how many events came after it, and between which places.
PLACES_AFTER: Final = "SELECT count(*), min(place), max(place) FROM events WHERE run = ? AND place > ?"
#: Values: run, a place.
KEPT_AFTER: Final = "SELECT place, chain, seq FROM events WHERE run = ? AND place > ?"
#: Values: how many are new, run.
RECEIVED: Final = "UPDATE runs SET received = received + ? WHERE number = ?"
#: Values: dollars, tokens, id; its row is the number of the run.
BOOKED: Final = """
UPDATE runs SET is_booked = 1, cost_usd = ?, tokens = ? WHERE run_id = ? RETURNING number
"""
#: Values: run, quarter of an hour, model, dollars, tokens, calls, calls without a price.
SPENT: Final = """
INSERT INTO spending (run, quarter, model, cost_usd, tokens, calls, unpriced) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run, quarter, model) DO UPDATE SET
    cost_usd = spending.cost_usd + excluded.cost_usd, tokens = spending.tokens + excluded.tokens,
    calls = spending.calls + excluded.calls, unpriced = spending.unpriced + excluded.unpriced
"""
#: Values: revision, place, checks, state, id.
STATE: Final = """
INSERT INTO states (run, revision, place, checks, state)
SELECT number, ?, ?, ?, ? FROM runs WHERE run_id = ?
ON CONFLICT (run) DO UPDATE SET revision = excluded.revision, place = excluded.place,
    checks = excluded.checks, state = excluded.state
WHERE excluded.revision >= states.revision
"""
#: Values: number of the check, place, agent, at, id.
CHECK: Final = """
INSERT INTO checks (run, number, place, agent, at)
SELECT number, ?, ?, ?, CAST(? AS DOUBLE PRECISION) FROM runs WHERE run_id = ?
ON CONFLICT (run, number) DO UPDATE SET place = excluded.place, agent = excluded.agent, at = excluded.at
"""
STANDING_COLUMNS: Final = "run_id, standing, kind, reason, events, cost_usd, tokens, latest, ended"
#: Values: events, whether it has ended, action, kind, reason, events, dollars, tokens, whether it has ended,
#: latest, latest, whether it is stuck, dollars from where on, whether it is stuck, chain, how many events of
#: it to look at, events before that, latest, id.
STANDING: Final = """
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
EVENTS_SINCE: Final = (
    "SELECT place, at, line FROM events WHERE run = (SELECT number FROM runs WHERE run_id = ?)"
    " AND place > ? ORDER BY place LIMIT ?"
)
CHECKS_OF: Final = (
    "SELECT checks.number, place, checks.agent, at FROM checks JOIN runs ON run = runs.number"
    " WHERE run_id = ? ORDER BY 1"
)
ORIGIN: Final = 'SELECT project, agent, "user", source FROM runs WHERE run_id = ?'
STORED: Final = (
    f"SELECT {STANDING_COLUMNS}, revision, state, place, checks"  # noqa: S608 - names of our own
    " FROM runs JOIN states ON run = number WHERE run_id = ?"
)
#: Values: at, act, id, caller, detail.
AUDIT: Final = "INSERT INTO audit (at, act, run_id, caller, detail) VALUES (?, ?, ?, ?, ?)"
#: Each takes the id.
ERASE: Final = (
    *(
        f"DELETE FROM {table} WHERE run = (SELECT number FROM runs WHERE run_id = ?)"  # noqa: S608
        for table in ("events", "checks", "states", "charged", "spending")
    ),
    *(f"DELETE FROM {table} WHERE run_id = ?" for table in ("alerts", "runs")),  # noqa: S608
)
