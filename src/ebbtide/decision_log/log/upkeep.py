"""Upkeep of a log: expiry, retention, the check of the chain, and the fold of everything anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from ebbtide.database.session import Session
from ebbtide.decision_log.log import steps
from ebbtide.decision_log.log.erasing import count_keys, erase, read_event
from ebbtide.decision_log.record.counters import Sample
from ebbtide.decision_log.record.events import EventKind, Fault, LogEvent, Verification, check_stream
from ebbtide.decision_log.record.folding import apply, fold
from ebbtide.decision_log.record.record import Decision, Status
from ebbtide.decision_log.record.view import View
from ebbtide.decision_log.store import questions, statements
from ebbtide.decision_log.store.connection import Store
from ebbtide.decision_log.store.questions import Filter
from ebbtide.decision_log.store.rows import row_of
from ebbtide.decision_log.store.transaction import Transaction
from ebbtide.errors import ConfigError, UnknownDecisionError

_AT_ONCE = 200


def with_expiry(decision: Decision, now: float, open_ttl_s: float) -> Decision:
    """A decision as it reads now: an open one whose time is over is abandoned, noted or not."""
    opened_at = decision.opened_at
    if decision.status is not Status.OPENED or opened_at is None or now - opened_at <= open_ttl_s:
        return decision
    return replace(decision, status=Status.ABANDONED, settled_at=opened_at + open_ttl_s)


def load_decisions(tx: Transaction, view: View, ids: Iterable[str]) -> list[Decision]:
    """Decisions of a view that are to be changed, in the order of their ids in `ids`.

    Raises:
        UnknownDecisionError: The view has no such decision.
    """
    wanted_ids = list(ids)
    decisions: dict[str, Decision] = {}
    if view.agent is None:
        # The streams of several agents are locked in one order everywhere.
        agents = {_agent_of(tx, view, identifier) for identifier in wanted_ids}
        for agent in sorted(agents):
            tx.lock(view.tenant, agent)
    for identifier in wanted_ids:
        decision = tx.load(view.tenant, view.agent, identifier)
        if view.session is not None and decision.scope.session != view.session:
            raise UnknownDecisionError(identifier, view.where)
        decisions[identifier] = decision
    return [decisions[identifier] for identifier in wanted_ids]


def _agent_of(tx: Transaction, view: View, identifier: str) -> str:
    rows = tx.session.rows(statements.AGENT_OF, (view.tenant, identifier))
    if not rows:
        raise UnknownDecisionError(identifier, view.where)
    return str(rows[0][0])


def sweep(store: Store, view: View, at: float, opened_before: float) -> tuple[str, ...]:
    """Give up the decisions that were opened before a time and not taken."""
    criteria = Filter(status=(Status.OPENED,), until=opened_before)

    def work(tx: Transaction) -> list[str]:
        decisions = questions.oldest(tx.session, view, criteria, limit=_AT_ONCE)
        for scope in sorted({(each.scope.tenant, each.scope.agent) for each in decisions}):
            tx.lock(*scope)
        ids = []
        for each in decisions:
            decision = tx.load(each.scope.tenant, each.scope.agent, each.id)
            if decision.status is Status.OPENED:
                steps.abandon(tx, decision, at)
                ids.append(decision.id)
        return ids

    all_ids: list[str] = []
    while some := store.write(work, order=(view.tenant, view.agent or "")):
        all_ids += some
    return tuple(all_ids)


def purge(
    store: Store,
    view: View,
    at: float,
    before: float,
    status: tuple[Status, ...],
    *,
    by: str,
    why: str,
) -> tuple[str, ...]:
    """Take out the texts of decisions that were opened before a time."""
    if Status.PURGED in status:
        raise ConfigError("status = purged: what is purged has no text to take out")
    criteria = Filter(status=status, until=before)

    def work(tx: Transaction) -> list[str]:
        decisions = questions.oldest(tx.session, view, criteria, limit=_AT_ONCE)
        for scope in sorted({(each.scope.tenant, each.scope.agent) for each in decisions}):
            tx.lock(*scope)
        for each in decisions:
            decision = tx.load(each.scope.tenant, each.scope.agent, each.id)
            if decision.status in status:
                erase(tx, decision, at, kind=EventKind.PURGED, by=by, why=why)
        return [each.id for each in decisions]

    all_ids: list[str] = []
    while some := store.write(work, order=(view.tenant, view.agent or "")):
        all_ids += some
    # Also where nothing is left to purge: the time before, the files may not have been free to be cleaned.
    store.erase()
    return tuple(all_ids)


def redact(store: Store, view: View, at: float, decision_id: str, *, by: str, why: str) -> Decision:
    """Take out the text of one decision."""

    def work(tx: Transaction) -> Decision:
        decision = load_decisions(tx, view, [decision_id])[0]
        if decision.status is Status.PURGED:
            return decision
        return erase(tx, decision, at, kind=EventKind.REDACTED, by=by, why=why)

    decision_left = store.write(work, order=(view.tenant, view.agent or ""))
    store.erase()
    return decision_left


def events_of(session: Session, view: View, decision_id: str) -> tuple[LogEvent, ...]:
    """The events of a decision.

    Raises:
        UnknownDecisionError: The view has no such decision.
    """
    decision = questions.get(session, view, decision_id)
    rows = questions.events_of(session, view, decision.id)
    return tuple(read_event(view.tenant, agent, stored) for agent, stored in rows)


def sample(session: Session, view: View, size: int) -> Sample:
    """Decisions for people to look at."""
    return Sample(
        kept_decisions=tuple(questions.sample(session, view, refused=False, size=size)),
        refused_decisions=tuple(questions.sample(session, view, refused=True, size=size)),
        kept_of=questions.sampled_of(session, view, refused=False),
        refused_of=questions.sampled_of(session, view, refused=True),
    )


def checked_heads(view: View, expected_head: str | None, heads: Mapping[str, str] | None) -> dict[str, str]:
    """The heads that were noted before, by agent.

    Raises:
        ConfigError: One is no head, or it is not known whose it is.
    """
    by_agent = dict(heads or {})
    if expected_head is not None:
        if view.agent is None:
            raise ConfigError("expected_head: name the agent whose head it is, or give heads={agent: head}")
        by_agent[view.agent] = expected_head
    for agent, head in by_agent.items():
        number, _, digest = head.partition(":")
        if not number.isdecimal() or (len(digest) != 64 and number != "0"):
            raise ConfigError(
                f"head of {agent!r:.60} = {head!r:.90}: expected number:hash, as heads() gives it"
            )
    return by_agent


def verify(session: Session, view: View, noted_heads: Mapping[str, str]) -> Verification:
    """Follow every stream of a view, and compare the decisions with the fold of their events.

    Raises:
        StoreError: Both fit, and the database finds itself damaged.
    """
    faults: list[Fault] = []
    last_events: dict[str, str] = {}
    events = purged = 0
    stored_heads = questions.heads(session, view)
    for agent in sorted({*questions.streams(session, view), *noted_heads}):
        stream = questions.stream(session, view.tenant, agent)
        check = check_stream(
            view.tenant, agent, stream, head=stored_heads.get(agent, "0:"), noted_head=noted_heads.get(agent)
        )
        faults += check.faults
        last_events[agent] = check.head
        events += check.events
        purged += check.purged
        if not check.faults:
            faults += _table_faults(session, view.tenant, agent)
    if not faults:
        session.check()
    return Verification(faults=tuple(faults), events=events, heads=last_events, purged=purged)


def _table_faults(session: Session, tenant: str, agent: str) -> Iterator[Fault]:
    """Faults where the table of decisions does not say what the events add up to."""
    after, rows_seen = "", 0
    while rows := session.rows(statements.ROWS_OF_AGENT, (tenant, agent, after, _AT_ONCE)):
        for row in rows:
            after, rows_seen = row[2], rows_seen + 1
            events = session.rows(statements.EVENTS_OF_AGENT, (tenant, after, agent))
            expected = fold(read_event(tenant, agent, questions.stored_event(each)) for each in events)
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
        event = read_event(tenant, agent, stored)
        decisions[event.decision_id] = apply(decisions.get(event.decision_id), event)
        events.setdefault(event.decision_id, []).append(event)
    for identifier, decision in decisions.items():
        tx.save(decision, new=True)
        for key, times in count_keys(events[identifier]).items():
            tx.count(key, times)
    return len(decisions)
