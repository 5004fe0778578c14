"""Events read anew: the check of their chain, and the fold of everything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from ebbtide.database.session import Session
from ebbtide.decision_log.log.counting import count_keys
from ebbtide.decision_log.record.events import Fault, LogEvent, Verification, check_stream
from ebbtide.decision_log.record.folding import apply, fold
from ebbtide.decision_log.record.record import Decision
from ebbtide.decision_log.record.view import View
from ebbtide.decision_log.store import questions, statements
from ebbtide.decision_log.store.connection import Store
from ebbtide.decision_log.store.rows import row_of
from ebbtide.decision_log.store.transaction import Transaction

_ROWS = 200  # that are read at once


def verify(session: Session, view: View, noted_heads: Mapping[str, str]) -> Verification:
    """Follow every stream of a view, and compare the decisions with the fold of their events.

    Raises:
        StoreError: Both fit, and the database finds itself damaged.
    """
    stored_heads = questions.heads(session, view)
    checks = {
        agent: check_stream(
            view.tenant,
            agent,
            questions.stream(session, view.tenant, agent),
            head=stored_heads.get(agent, "0:"),
            noted_head=noted_heads.get(agent),
        )
        for agent in sorted({*questions.streams(session, view), *noted_heads})
    }
    faults = [
        fault
        for agent, check in checks.items()
        for fault in check.faults or _table_faults(session, view.tenant, agent)
    ]
    if not faults:
        session.check()
    return Verification(
        faults=tuple(faults),
        events=sum(check.events for check in checks.values()),
        heads={agent: check.heads[agent] for agent, check in checks.items()},
        purged=sum(check.purged for check in checks.values()),
    )


def _table_faults(session: Session, tenant: str, agent: str) -> Iterator[Fault]:
    """Faults where the table of decisions does not say what the events add up to."""
    after, rows_seen = "", 0
    while rows := session.rows(statements.ROWS_OF_AGENT, (tenant, agent, after, _ROWS)):
        for row in rows:
            after, rows_seen = row[2], rows_seen + 1
            expected = fold(questions.events_of(session, View(tenant=tenant, agent=agent), after))
            if expected is None or row_of(expected) != tuple(row):
                seq = 0 if expected is None else expected.version
                what = f"decision {after} is not what its events say; `rebuild` makes it anew"
                yield Fault(agent=agent, seq=seq, what=what)
    decisions = session.rows(statements.COUNT_DECIDED, (tenant, agent))[0][0]
    if decisions != rows_seen:
        what = f"{decisions} decisions have events and {rows_seen} are listed; `rebuild` makes them anew"
        yield Fault(agent=agent, seq=0, what=what)


def rebuild(store: Store, view: View) -> int:
    """Make decisions and counts anew from their events, agent by agent."""
    agents = store.read(lambda session: questions.streams(session, view))
    return sum(
        store.write(partial(_rebuild_agent, tenant=view.tenant, agent=agent), order=(view.tenant, agent))
        for agent in agents
    )


def _rebuild_agent(tx: Transaction, tenant: str, agent: str) -> int:
    tx.lock(tenant, agent)
    tx.clear(tenant, agent)
    decisions: dict[str, Decision] = {}
    events: dict[str, list[LogEvent]] = {}
    for stored in questions.stream(tx.session, tenant, agent):
        event = questions.read_event(tenant, agent, stored)
        decisions[event.decision_id] = apply(decisions.get(event.decision_id), event)
        events.setdefault(event.decision_id, []).append(event)
    for identifier, decision in decisions.items():
        tx.save(decision, new=True)
        tx.count(count_keys(events[identifier]))
    return len(decisions)
