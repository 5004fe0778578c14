"""Every statement of the store, in one place. ``?`` stands for a value; a dialect says how it is written.

Each statement on decisions and events names the tenant.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

#: Columns of the table of decisions, in the order of `ebbtide.decision_log.store.rows.row_of`.
COLUMNS = (
    "tenant",
    "agent",
    "id",
    "session",
    "status",
    "source",
    "frame",
    "category",
    "opened_at",
    "settled_at",
    "review_by",
    "start_print",
    "final_print",
    "refused",
    "rule",
    "outcome",
    "sample_key",
    "version",
    "asked",
    "description",
    "search_text",
    "state",
)

_TENANT, _ID = COLUMNS.index("tenant"), COLUMNS.index("id")
_READ = "description, asked, state"
# What a decision is born with; only its end takes the words.
_BORN = frozenset({"tenant", "agent", "id", "session", "source", "frame", "opened_at", "sample_key"})
_WORDS = frozenset({"start_print", "asked"})

#: Where each value of `UPDATE_DECISION`, and of `EMPTY_DECISION`, stands in a row.
UPDATED = tuple(place for place, name in enumerate(COLUMNS) if name not in _BORN | _WORDS)
EMPTIED = tuple(place for place, name in enumerate(COLUMNS) if name not in _BORN)


def _update(places: tuple[int, ...]) -> str:
    # An index is written anew where one of its columns is named here.
    sets = ", ".join(f"{COLUMNS[place]} = ?" for place in places)
    return f"UPDATE decisions SET {sets} WHERE tenant = ? AND id = ?"  # noqa: S608 - names of columns, no values


def values_of_change(row: Sequence[Any], places: tuple[int, ...]) -> list[Any]:
    """The values of `UPDATE_DECISION` or `EMPTY_DECISION` for a row."""
    return [*(row[place] for place in places), row[_TENANT], row[_ID]]


INSERT_DECISION = f"INSERT INTO decisions ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608 - names of columns, no values
UPDATE_DECISION = _update(UPDATED)
EMPTY_DECISION = _update(EMPTIED)
DECISION = f"SELECT {_READ} FROM decisions WHERE tenant = ? AND id = ?"  # noqa: S608 - likewise
DECISION_OF_AGENT = f"{DECISION} AND agent = ?"
VERSION_OF = "SELECT version FROM decisions WHERE tenant = ? AND id = ? AND agent = ?"
AGENT_OF = "SELECT agent FROM decisions WHERE tenant = ? AND id = ?"
EXISTS = "SELECT 1 FROM decisions WHERE tenant = ? AND id = ?"
SELECT_DECISIONS = f"SELECT {_READ} FROM decisions WHERE tenant = ?"  # noqa: S608 - likewise
ROWS_OF_AGENT = (
    f"SELECT {', '.join(COLUMNS)} FROM decisions "  # noqa: S608 - likewise
    "WHERE tenant = ? AND agent = ? AND id > ? ORDER BY id LIMIT ?"
)
COUNT_DECIDED = "SELECT count(DISTINCT decision_id) FROM decision_events WHERE tenant = ? AND agent = ?"
IDS_BETWEEN = "SELECT id FROM decisions WHERE tenant = ? AND id >= ? AND id < ?"
DELETE_DECISIONS = "DELETE FROM decisions WHERE tenant = ? AND agent = ?"

HEAD = "SELECT seq, head, ts FROM decision_streams WHERE tenant = ? AND agent = ?"
INSERT_HEAD = (
    "INSERT INTO decision_streams (tenant, agent, seq, head, ts) "
    "VALUES (?, ?, 0, '', ?) ON CONFLICT DO NOTHING"
)
UPDATE_HEAD = "UPDATE decision_streams SET seq = ?, head = ?, ts = ? WHERE tenant = ? AND agent = ?"
HEADS = "SELECT agent, seq, head FROM decision_streams WHERE tenant = ? ORDER BY agent"

INSERT_EVENT = (
    "INSERT INTO decision_events (tenant, agent, seq, kind, decision_id, ts, body, body_hash, hash) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_EVENT = "SELECT agent, seq, kind, decision_id, ts, body, body_hash, hash FROM decision_events"
EVENTS_OF = f"{_EVENT} WHERE tenant = ? AND decision_id = ? ORDER BY seq"
EVENTS_OF_AGENT = f"{_EVENT} WHERE tenant = ? AND decision_id = ? AND agent = ? ORDER BY seq"
EVENTS_PAGE = f"{_EVENT} WHERE tenant = ? AND agent = ? AND seq > ? ORDER BY seq LIMIT ?"
EVENT_AGENTS = "SELECT DISTINCT agent FROM decision_events WHERE tenant = ?"
ERASE_BODIES = (
    "UPDATE decision_events SET body = NULL WHERE tenant = ? AND agent = ? AND decision_id = ? AND seq = ?"
)

#: Earlier decisions to compare with: like with like.
WINDOW_OF_STARTS = (
    "SELECT id, asked, opened_at FROM decisions WHERE tenant = ? AND agent = ? AND session = ? "
    "AND opened_at >= ? AND opened_at <= ? AND start_print <> '' AND status IN ('opened', 'kept') "
    "ORDER BY opened_at DESC LIMIT ?"
)
WINDOW_OF_FINALS = (
    "SELECT id, description, settled_at FROM decisions WHERE tenant = ? AND agent = ? AND session = ? "
    "AND settled_at >= ? AND settled_at <= ? AND final_print <> '' AND status = 'kept' "
    "ORDER BY settled_at DESC LIMIT ?"
)
EQUAL_STARTS = (
    "SELECT id, asked, opened_at FROM decisions WHERE tenant = ? AND agent = ? AND session = ? "
    "AND opened_at >= ? AND opened_at <= ? AND start_print = ? AND status IN ('opened', 'kept') "
    "ORDER BY opened_at DESC LIMIT 1"
)
EQUAL_FINALS = (
    "SELECT id, description, settled_at FROM decisions WHERE tenant = ? AND agent = ? AND session = ? "
    "AND settled_at >= ? AND settled_at <= ? AND final_print = ? AND status = 'kept' "
    "ORDER BY settled_at DESC LIMIT 1"
)

#: Decisions that stand, by what they are about.
DELETE_SUBJECT = "DELETE FROM decision_subjects WHERE key = ? AND id = ?"
# Subqueries, since a planner without statistics would read all decisions of the agent to join them.
_STANDING = (
    "SELECT * FROM (SELECT id, (SELECT description FROM decisions WHERE tenant = ? AND id = s.id) AS text "
    "FROM decision_subjects AS s WHERE key = ? AND (SELECT 1 FROM decisions WHERE tenant = ? AND id = s.id "
    "AND agent = ? AND status = 'kept' AND (settled_at IS NULL OR settled_at <= ?)) = 1 "
    "ORDER BY id DESC LIMIT ?) AS of_key"
)

ADD_COUNT = (
    "INSERT INTO decision_counts (tenant, agent, source, frame, mode, layer, rule, verdict, n) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (tenant, agent, source, frame, mode, layer, rule, verdict) "
    "DO UPDATE SET n = decision_counts.n + excluded.n"
)
COUNTS = "SELECT source, frame, mode, layer, rule, verdict, sum(n) FROM decision_counts WHERE tenant = ?"
COUNTS_GROUP = " GROUP BY source, frame, mode, layer, rule, verdict ORDER BY 1, 2, 3, 4, 5, 6"
DELETE_COUNTS = "DELETE FROM decision_counts WHERE tenant = ? AND agent = ? AND verdict <> 'not_captured'"
BY_STATUS = "SELECT status, count(*) FROM decisions WHERE tenant = ?"


@cache
def insert_subject(keys: int) -> str:
    """Takes a decision with so many keys into the index of subjects: values of key, id, key, id and so on."""
    marks = ", ".join(["(?, ?)"] * keys)
    return f"INSERT INTO decision_subjects (key, id) VALUES {marks} ON CONFLICT DO NOTHING"  # noqa: S608 - no values


@cache
def standing(keys: int) -> str:
    """The newest decisions that stand, of each of some keys: tenant, key, tenant, agent, time, how many."""
    return " UNION ALL ".join([_STANDING] * keys)
