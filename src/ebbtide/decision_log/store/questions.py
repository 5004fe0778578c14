"""Questions to the store. Each is bound to a tenant, and to an agent where the view names one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ebbtide.database.session import Session
from ebbtide.decision_log.record.counters import Counters, Sample, counters_of
from ebbtide.decision_log.record.events import EventKind, LogEvent, StoredEvent
from ebbtide.decision_log.record.identifiers import time_prefix
from ebbtide.decision_log.record.record import Decision, Status
from ebbtide.decision_log.record.results import SearchHit
from ebbtide.decision_log.record.view import View
from ebbtide.decision_log.store import statements
from ebbtide.decision_log.store.database import Database
from ebbtide.decision_log.store.rows import UNKNOWN_TIME, DamagedRow, column_text, decision_of
from ebbtide.decision_log.store.search_words import search_words
from ebbtide.decisions.repeats.duplicates import Earlier
from ebbtide.errors import UnknownDecisionError
from ebbtide.text.contrast.words import FUNCTION_WORDS

_PAGE = 500
_COMMON = frozenset(search_words(FUNCTION_WORDS))  # nearly every decision has some of them
_WAYS = ((True, False), (False, False), (False, True))  # every word or any; whole or what words begin with
_HAS_WORD = "instr(' ' || decisions.search_text || ' ', ?) > 0"
_SHORTEST = 3  # letters that a word may be found by
_RANKED = 500  # of the newest that match, unless more are wanted
_HIGHEST = "~"  # sorts after every character of an id


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A choice of decisions; None asks for all.

    Args:
        status: Where they stand.
        category: Of which category.
        source: How they came up.
        rule: Refused first by this rule.
        since: Opened then or later, seconds since the epoch.
        until: Opened before then.
        expired_before: Open ones that were opened before this count as abandoned.
    """

    status: tuple[Status, ...] | None = None
    category: str | None = None
    source: str | None = None
    rule: str | None = None
    since: float | None = None
    until: float | None = None
    expired_before: float | None = None


def where(view: View, criteria: Filter) -> tuple[str, list[Any]]:
    """The condition of a filter after ``tenant = ?``, and all values with the tenant first."""
    parts, values = [""], [view.tenant]

    def add(part: str, *more: Any) -> None:
        parts.append(part)
        values.extend(more)

    if view.agent is not None:
        add("agent = ?", view.agent)
    if view.session is not None:
        add("session = ?", view.session)
    if criteria.status is not None:
        _add_status(add, criteria.status, criteria.expired_before)
    if criteria.category is not None:
        add("category = ?", column_text(criteria.category))
    if criteria.source is not None:
        add("source = ?", criteria.source)
    if criteria.rule is not None:
        add("rule = ?", column_text(criteria.rule))
    if criteria.since is not None:
        add("opened_at >= ? AND opened_at < ?", criteria.since, UNKNOWN_TIME)
    if criteria.until is not None:
        add("opened_at < ?", criteria.until)
    return " AND ".join(parts), values


def _add_status(add: Any, status: tuple[Status, ...], expired_before: float | None) -> None:
    """Open decisions whose time is over read as abandoned, whether or not that was noted yet."""
    names = {each.value for each in status}
    if expired_before is None or (Status.OPENED in status) == (Status.ABANDONED in status):
        add(f"status IN ({', '.join('?' * len(names))})", *sorted(names))
        return
    names.discard(Status.OPENED.value)
    marks = ", ".join("?" * len(names))
    others = f"status IN ({marks}) OR " if names else ""
    compared = ">=" if Status.OPENED in status else "<"
    add(f"({others}status = 'opened' AND opened_at {compared} ?)", *sorted(names), expired_before)


def get(session: Session, view: View, identifier: str) -> Decision:
    """One decision.

    Raises:
        UnknownDecisionError: The view sees none of this id.
    """
    sql, values = statements.DECISION, [view.tenant, column_text(identifier)]
    if view.agent is not None:
        sql, values = statements.DECISION_OF_AGENT, [*values, view.agent]
    rows = session.rows(sql, values)
    decision = decision_of(rows[0]) if rows else None
    if decision is None or (view.session is not None and decision.scope.session != view.session):
        raise UnknownDecisionError(identifier, view.where)
    return decision


def listed(
    session: Session,
    view: View,
    criteria: Filter,
    *,
    limit: int,
    cursor: str | None = None,
    newest_first: bool = False,
) -> list[Decision]:
    """Decisions in the order of their ids; `cursor` is the last one of those before."""
    condition, values = where(view, criteria)
    if cursor is not None:
        condition += f" AND id {'<' if newest_first else '>'} ?"
        values.append(cursor)
    if newest_first and criteria.since is not None:
        condition += " AND id >= ?"
        values.append(time_prefix(criteria.since))
    order = "ORDER BY id DESC" if newest_first else "ORDER BY id"
    sql = f"{statements.SELECT_DECISIONS}{condition} {order} LIMIT ?"
    return [decision_of(row) for row in session.rows(sql, [*values, limit])]


def search(
    session: Session,
    database: Database,
    view: View,
    text: str,
    criteria: Filter,
    *,
    limit: int,
    every_word: bool = False,
) -> list[SearchHit]:
    """Decisions that have all the words of a text; or else any; or else words that begin with one of them.

    With `every_word`, there is no or else.
    """
    words = list(dict.fromkeys(search_words([text])))[:64]
    if not words:
        return []
    condition, values = where(view, criteria)
    for every, begins in _WAYS[:1] if every_word else _WAYS:
        if begins:
            words = [word for word in words if len(word) >= _SHORTEST]
        if not words or (len(words) == 1 and not every and not begins):
            continue
        indexed, others = words, []
        if every and database.search_row is not None:
            indexed = [word for word in words if word not in _COMMON] or words
            others = [word for word in words if word not in indexed]
        value = database.search_value(indexed, every=every, begins=begins)
        in_row = "".join([database.search_row or "" for _ in others])
        head = [value] if "?" in database.search_rank else []
        sql = (
            "SELECT description, asked, state, fits FROM ("  # noqa: S608 - no values
            f"SELECT n AS place, {database.search_rank} AS fits FROM decisions{database.search_from} "
            f"WHERE tenant = ?{condition}{database.search_where}{in_row}{database.search_newest}"
            ") AS hits JOIN decisions ON n = place ORDER BY fits DESC, id DESC LIMIT ?"
        )
        limits = [max(limit, _RANKED), limit] if database.search_newest else [limit]
        rows = session.rows(sql, [*head, *values, value, *(f" {word} " for word in others), *limits])
        if len(rows) < limit and database.search_rest is not None:
            ends = "" if begins else " "
            has_words = (" AND " if every else " OR ").join([_HAS_WORD] * len(words))
            sql = (
                f"SELECT description, asked, state, 0.0 FROM {database.search_rest} "  # noqa: S608 - no values
                f"WHERE tenant = ?{condition} AND ({has_words}) ORDER BY id DESC LIMIT ?"
            )
            rows += session.rows(sql, [*values, *(f" {word}{ends}" for word in words), limit - len(rows)])
        if rows:
            return [SearchHit(decision=decision_of(row), rank=float(row[3])) for row in rows]
    return []


def overdue(session: Session, view: View, now: float, *, limit: int) -> list[Decision]:
    """Kept decisions that somebody should have looked at by now, and nobody did; longest overdue first."""
    condition, values = where(view, Filter(status=(Status.KEPT, Status.SUPERSEDED)))
    sql = (
        f"{statements.SELECT_DECISIONS}{condition} AND review_by <= ? AND outcome IS NULL "
        "ORDER BY review_by, id LIMIT ?"
    )
    return [decision_of(row) for row in session.rows(sql, [*values, now, limit])]


def ids_that_begin(session: Session, view: View, prefix: str) -> list[str]:
    """At most two ids that begin so."""
    sql = statements.IDS_BETWEEN
    values = [view.tenant, prefix, prefix + _HIGHEST]
    if view.agent is not None:
        sql, values = f"{sql} AND agent = ?", [*values, view.agent]
    return [str(row[0]) for row in session.rows(f"{sql} ORDER BY id LIMIT 2", values)]


def sample(session: Session, view: View, size: int) -> Sample:
    """The decisions whose ids have the smallest hashes: a sample that is the same for everybody."""
    condition, values = where(view, Filter(status=_REVIEWABLE))

    def draw(*, refused: bool) -> tuple[tuple[Decision, ...], int]:
        drawing = f"{statements.SELECT_DECISIONS}{condition} AND refused = ?"
        for few in (" AND sample_key < 144115188075855872", ""):  # 1 in 64 is enough of a large log
            sql = f"{drawing}{few} ORDER BY sample_key LIMIT ?"
            rows = session.rows(sql, [*values, int(refused), size])
            if len(rows) == size:
                break
        sql = f"SELECT count(*) FROM decisions WHERE tenant = ?{condition} AND refused = ?"  # noqa: S608 - no values
        drawn_from = int(session.rows(sql, [*values, int(refused)])[0][0])
        return tuple(map(decision_of, rows)), drawn_from

    kept, kept_of = draw(refused=False)
    refusals, refused_of = draw(refused=True)
    return Sample(kept_decisions=kept, refused_decisions=refusals, kept_of=kept_of, refused_of=refused_of)


_REVIEWABLE = (Status.KEPT, Status.SUPERSEDED, Status.QUARANTINED)


def counters(session: Session, view: View) -> Counters:
    """Counts of verdicts, and of decisions by status."""
    sql, values = statements.COUNTS, [view.tenant]
    if view.agent is not None:
        sql, values = f"{sql} AND agent = ?", [*values, view.agent]
    counts = session.rows(sql + statements.COUNTS_GROUP, values)
    condition, values = where(view, Filter())
    rows = session.rows(f"{statements.BY_STATUS}{condition} GROUP BY status ORDER BY status", values)
    return counters_of(counts, {str(status): int(times) for status, times in rows})


def events_of(session: Session, view: View, identifier: str) -> list[LogEvent]:
    """The events of a decision, in order.

    Raises:
        StoreError: One is damaged.
    """
    sql, values = statements.EVENTS_OF, [view.tenant, identifier]
    if view.agent is not None:
        sql, values = statements.EVENTS_OF_AGENT, [*values, view.agent]
    rows = session.rows(sql, values)
    return [read_event(view.tenant, str(row[0]), stored_event(row)) for row in rows]


def stream(session: Session, tenant: str, agent: str) -> Iterator[StoredEvent]:
    """A whole stream, in order, some events at a time."""
    after = -(1 << 62)
    while rows := session.rows(statements.EVENTS_PAGE, (tenant, agent, after, _PAGE)):
        yield from map(stored_event, rows)
        after = rows[-1][1]


def stored_event(row: Sequence[Any]) -> StoredEvent:
    """An event of a row that begins with its agent."""
    _agent, seq, kind, decision_id, ts, body, body_hash, digest = row
    return StoredEvent(
        seq=seq, kind=kind, decision_id=decision_id, ts=ts, body_json=body, body_hash=body_hash, hash=digest
    )


def read_event(tenant: str, agent: str, stored: StoredEvent) -> LogEvent:
    """A stored event, taken at its word.

    Raises:
        StoreError: It is damaged.
    """
    with DamagedRow():
        kind = EventKind(stored.kind)
        body: dict[str, Any] | None = None if stored.body_json is None else json.loads(stored.body_json)
    return LogEvent(
        tenant=tenant,
        agent=agent,
        seq=stored.seq,
        kind=kind,
        decision_id=stored.decision_id,
        ts=stored.ts,
        body=body,
        body_hash=stored.body_hash,
        hash=stored.hash,
    )


def heads(session: Session, view: View) -> dict[str, str]:
    """The last event of each stream as the store notes it, ``seq:hash``, by agent."""
    rows = session.rows(statements.HEADS, (view.tenant,))
    return {str(a): f"{seq}:{head}" for a, seq, head in rows if view.agent in (None, a)}


def streams(session: Session, view: View) -> list[str]:
    """The agents that have events or a head."""
    agents: set[str] = {str(row[0]) for row in session.rows(statements.EVENT_AGENTS, (view.tenant,))}
    agents |= set(heads(session, view))
    return sorted(agent for agent in agents if view.agent in (None, agent))


def earlier(
    session: Session,
    scope: tuple[str, str, str],
    print_of_text: str,
    times: tuple[float, float],
    *,
    final: bool,
    most: int,
) -> tuple[list[Earlier], bool]:
    """The decisions of a window: those that were started, or those that were taken.

    Args:
        session: The connection.
        scope: Tenant, agent and session; the empty session is that of decisions without one.
        print_of_text: Fingerprint of the text that they are compared with.
        times: From when to when, both included.
        final: Whether final texts are compared; else what is about to be thought about.
        most: Rows that are read; of those before them only one with the same fingerprint.

    Returns:
        The decisions, oldest first, and whether there were more.
    """
    many = statements.WINDOW_OF_FINALS if final else statements.WINDOW_OF_STARTS
    rows = session.rows(many, (*scope, *times, most + 1))
    truncated = len(rows) > most
    if truncated:
        equal = statements.EQUAL_FINALS if final else statements.EQUAL_STARTS
        rows = [*rows[:most], *session.rows(equal, (*scope, *times, print_of_text))]
    by_id = {row[0]: row for row in reversed(rows)}
    with DamagedRow():
        window = [
            Earlier(id=identifier, text=json.loads(text), ts=ts) for identifier, text, ts in by_id.values()
        ]
    return window, truncated
