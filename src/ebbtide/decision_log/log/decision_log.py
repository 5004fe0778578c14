"""The log of decisions: what is in it, and every change that is not the gate's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import Self, TypeVar

from ebbtide.clock import Clock, system_clock
from ebbtide.decision_log.log import replay, steps
from ebbtide.decision_log.log.reading import ReadableLog, Statuses, statuses_of
from ebbtide.decision_log.record.events import EventKind
from ebbtide.decision_log.record.particulars import Particulars
from ebbtide.decision_log.record.record import Decision, Link, Relation, Review, Status
from ebbtide.decision_log.record.results import Added, Change
from ebbtide.decision_log.record.view import View
from ebbtide.decision_log.store import questions
from ebbtide.decision_log.store.connection import Store
from ebbtide.decision_log.store.questions import Filter
from ebbtide.decision_log.store.transaction import Transaction, checked_time
from ebbtide.decisions.assessment import Assessment
from ebbtide.decisions.candidate import Candidate
from ebbtide.errors import ConfigError, StaleDecisionError, UnknownDecisionError, expect

_T = TypeVar("_T")
_AT_ONCE = 200  # decisions that are given up or purged in one transaction


class DecisionLog(ReadableLog):
    """A view of a log: one tenant, and perhaps one agent and one session of it.

    `DecisionLog.open` gives the first one, `scope` narrower ones on the same store. What a view does not see
    it does not change either: ids of others are unknown ids. All methods may be called from several threads.
    Writing is acknowledged after the commit; reading writes nothing.

    Args:
        view: What is seen of it.
        clock: What time it is, where a call does not say.
        open_ttl_s: Seconds after which a decision that was opened and not taken counts as abandoned.

    Raises:
        ConfigError: `open_ttl_s` is not above 0.

    >>> with DecisionLog.open(":memory:", agent="coder") as log:
    ...     kept = log.add(Candidate(description="Use SQLite for the log, it needs no server"))
    ...     [hit.decision.candidate.description for hit in log.search("server for logs")]
    ['Use SQLite for the log, it needs no server']
    """

    @classmethod
    def open(
        cls,
        where: str | os.PathLike[str],
        *,
        tenant: str = "default",
        agent: str | None = None,
        session: str | None = None,
        clock: Clock = system_clock,
        open_ttl_s: float = 3600.0,
        create: bool = True,
        read_only: bool = False,
        timeout_s: float = 5.0,
        durable: bool = False,
    ) -> Self:
        """Open a log.

        Args:
            where: A path of a SQLite file, ``:memory:``, ``sqlite:///path`` or ``postgresql://...`` (extra
                ``postgres``).
            tenant: Whose log; see `View`.
            agent: Whose decisions; None sees those of all agents.
            session: Of which session; None sees all.
            clock: What time it is.
            open_ttl_s: Seconds after which an open decision counts as abandoned.
            create: Whether a log that is not there is made.
            read_only: Never write, not even the schema.
            timeout_s: How long to wait for another writer, in seconds.
            durable: For SQLite: wait for the disk at every commit. Without, what was acknowledged survives
                the death of the process, and the last moment may be lost when the machine loses power.

        Raises:
            ConfigError: A name or number cannot be used.
            StoreError: It cannot be opened; the message says why and what to do.
        """
        view = View(tenant=tenant, agent=agent, session=session)
        store = Store(where, create=create, read_only=read_only, timeout_s=timeout_s, durable=durable)
        return cls(store, view, clock=clock, open_ttl_s=open_ttl_s)

    def scope(
        self, *, tenant: str | None = None, agent: str | None = None, session: str | None = None
    ) -> DecisionLog:
        """Another view of the same store; what is None stays as it is here."""
        here = self.view
        view = View(
            tenant=here.tenant if tenant is None else tenant,
            agent=here.agent if agent is None else agent,
            session=here.session if session is None else session,
        )
        return DecisionLog(self.store, view, clock=self.clock, open_ttl_s=self.open_ttl_s)

    def close(self) -> None:
        """Close the store, for all views of it."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(
        self,
        candidate: Candidate,
        *,
        agent: str | None = None,
        session: str | None = None,
        at: float | None = None,
        assessment: Assessment | None = None,
        prediction: str | None = None,
        review_by: float | None = None,
    ) -> Decision:
        """Keep a decision past the gate and the window, which `Deliberation.record_decision` asks."""
        scope, when = self.view.scope(agent, session), self._time(at)
        due = None if review_by is None else checked_time(review_by, "review_by")
        taken = Decision(
            scope=scope,
            candidate=candidate,
            settled_at=when,
            assessment=assessment,
            prediction=prediction,
            review_by=due,
        )
        return self._write(scope.agent, lambda tx: steps.settle(tx, taken))

    def add_batch(self, decisions: Iterable[Decision]) -> tuple[Added, ...]:
        """Bring in decisions from somewhere else: all of them, or none.

        One that is there already, by its id or origin, is left as it is, so that an import can be repeated.
        """
        rows, now = [replace(each, scope=self.view.scope_of(each)) for each in decisions], self._time(None)
        for each in rows:
            for name in ("opened_at", "settled_at", "review_by"):
                if getattr(each, name) is not None:
                    checked_time(getattr(each, name), name)

        def work(tx: Transaction) -> tuple[Added, ...]:
            for agent in sorted({each.scope.agent for each in rows}):
                tx.lock(self.tenant, agent)
            results = (steps.add_imported(tx, each, now) for each in rows)
            return tuple(Added(id=identifier, created=created) for identifier, created in results)

        return self._write(self.view.agent or "", work)

    def review(self, decision_id: str, review: Review) -> Decision:
        """Note how a decision turned out. Nothing is overwritten: the latest review counts.

        Raises:
            UnknownDecisionError: This view has none of that id.
            LifecycleError: It is still open, or purged.
        """
        checked_time(review.ts)
        return self._step(decision_id, lambda tx, decision, at: steps.add_review(tx, decision, review, at))

    def link(self, decision_id: str, relation: Relation, to: str, *, why: str = "") -> Decision:
        """Note how a decision stands to another one of this view."""

        def step(tx: Transaction, decision: Decision, at: float) -> Decision:
            other = questions.get(tx.session, self.view, to)
            return steps.add_link(tx, decision, Link(relation=relation, to=other.id, why=why), at)

        return self._step(decision_id, step)

    def amend(
        self, decision_id: str, change: Particulars, *, why: str = "", version: int | None = None
    ) -> Decision:
        """Change what the record of a decision says beside it.

        The texts of `change` take the place of those that are there, its lists are added to them.

        Args:
            decision_id: Which decision.
            change: What is said anew.
            version: Only if nothing happened to it since it had this version.

        Raises:
            LifecycleError: Something happened to it since, or it is neither kept nor open nor superseded.
        """
        expect("change", change, Particulars)
        return self._step(
            decision_id,
            lambda tx, decision, at: steps.amend(tx, decision, change, at, why=why, version=version),
        )

    def supersede(self, decision_id: str, *, by: str, why: str = "") -> Decision:
        """A decision takes the place of another one; the old one, as it is then.

        Raises:
            LifecycleError: One of them is not kept, or they are the same.
        """

        def work(tx: Transaction) -> Decision:
            old, new = self._load(tx, [decision_id, by])
            return steps.supersede(tx, old, new, self._time(None), why=why)

        return self._write(self.view.agent or "", work)

    def restore(self, decision_id: str, *, by: str, why: str = "") -> Decision:
        """Bring a decision back from the quarantine.

        Raises:
            LifecycleError: It is not there.
        """
        return self.restore_batch([decision_id], by=by, why=why)[0]

    def restore_batch(
        self, decision_ids: Iterable[str], *, by: str, why: str = "", undo: bool = False
    ) -> tuple[Decision, ...]:
        """Bring decisions back from the quarantine: all of them, or none.

        Args:
            by: The person who says so.
            undo: Only that a clean-up is undone: it does not say that they are decisions.
        """
        ids = list(decision_ids)

        def work(tx: Transaction) -> tuple[Decision, ...]:
            at = self._time(None)
            decisions = self._load(tx, ids)
            return tuple(steps.restore(tx, each, at, by=by, why=why, undo=undo) for each in decisions)

        return self._write(self.view.agent or "", work)

    def quarantine(
        self,
        decision_id: str,
        assessment: Assessment,
        *,
        by: str,
        why: str = "",
        version: int | None = None,
    ) -> Decision:
        """Put a kept decision into quarantine; with `version`, only if nothing happened to it since."""
        change = Change(id=decision_id, version=version, assessment=assessment)
        return self.quarantine_batch([change], by=by, why=why)[0]

    def quarantine_batch(self, changes: Iterable[Change], *, by: str, why: str = "") -> tuple[Decision, ...]:
        """Put decisions into quarantine: all of them, or none.

        Raises:
            StaleDecisionError: Some changed since their `version`.
            LifecycleError: One is not kept.
        """
        plan = list(changes)

        def work(tx: Transaction) -> tuple[Decision, ...]:
            decisions = self._load(tx, [change.id for change in plan])
            pairs = list(zip(decisions, plan, strict=True))
            stale = tuple(each.id for each, change in pairs if change.version not in (None, each.version))
            if stale:
                raise StaleDecisionError(stale)
            at = self._time(None)
            return tuple(
                steps.quarantine(tx, each, change.assessment, at, by=by, why=why) for each, change in pairs
            )

        return self._write(self.view.agent or "", work)

    def sweep(self, now: float | None = None) -> tuple[str, ...]:
        """Give up the open decisions whose time is over; their ids."""
        at = self._time(now)
        return self._each_before(at - self.open_ttl_s, (Status.OPENED,), partial(steps.abandon, at=at))

    def purge(
        self,
        *,
        before: float,
        status: Statuses = (Status.QUARANTINED, Status.ABANDONED),
        by: str,
        why: str = "retention",
    ) -> tuple[str, ...]:
        """Take out the texts of decisions that were opened before a time; tombstones stay. Their ids."""
        at, end = self._time(None), checked_time(before, "before")
        states = statuses_of(status, (Status.QUARANTINED, Status.ABANDONED))
        if Status.PURGED in states:
            raise ConfigError("status = purged: what is purged has no text to take out")
        erase = partial(steps.erase, at=at, kind=EventKind.PURGED, by=by, why=why)
        ids = self._each_before(end, states, erase)
        # Also where nothing is left to purge: the time before, the files may not have been free for it.
        self.store.erase()
        return ids

    def redact(self, decision_id: str, *, by: str, why: str = "") -> Decision:
        """Take out the text of one decision, also where it stands with its original; a tombstone stays."""

        def step(tx: Transaction, decision: Decision, at: float) -> Decision:
            if decision.status is Status.PURGED:
                return decision
            return steps.erase(tx, decision, at, kind=EventKind.REDACTED, by=by, why=why)

        redacted = self._step(decision_id, step)
        self.store.erase()
        return redacted

    def rebuild(self) -> int:
        """Make the decisions and counts of the view anew from their events; how many decisions."""
        return replay.rebuild(self.store, self.view)

    def _step(self, decision_id: str, step: Callable[[Transaction, Decision, float], Decision]) -> Decision:
        def work(tx: Transaction) -> Decision:
            return step(tx, self._load(tx, [decision_id])[0], self._time(None))

        return self._write(self.view.agent or "", work)

    def _load(self, tx: Transaction, ids: Iterable[str]) -> list[Decision]:
        """Decisions of the view that are to be changed, in the order of `ids`.

        Raises:
            UnknownDecisionError: The view has no such decision.
        """
        view, wanted_ids = self.view, list(ids)
        if view.agent is None:
            # The streams of several agents are locked in one order everywhere.
            agents = {tx.agent_of(view.tenant, identifier) for identifier in wanted_ids}
            for agent in sorted(agents):
                tx.lock(view.tenant, agent)
        decisions = [tx.load(view.tenant, view.agent, identifier) for identifier in wanted_ids]
        for decision in decisions:
            if view.session is not None and decision.scope.session != view.session:
                raise UnknownDecisionError(decision.id, view.where)
        return decisions

    def _each_before(
        self, end: float, status: tuple[Status, ...], step: Callable[[Transaction, Decision], object]
    ) -> tuple[str, ...]:
        """Changes the decisions with a status that were opened before a time, some at once; their ids."""
        criteria = Filter(status=status, until=end)

        def work(tx: Transaction) -> list[str]:
            decisions = questions.listed(tx.session, self.view, criteria, limit=_AT_ONCE)
            for agent in sorted({each.scope.agent for each in decisions}):
                tx.lock(self.tenant, agent)
            fresh = [tx.load(self.tenant, each.scope.agent, each.id) for each in decisions]
            changed = [each for each in fresh if each.status in status]
            for each in changed:
                step(tx, each)
            return [each.id for each in changed]

        ids: list[str] = []
        while some := self._write(self.agent or "", work):
            ids += some
        return tuple(ids)

    def _write(self, agent: str, work: Callable[[Transaction], _T]) -> _T:
        return self.store.write(work, order=(self.tenant, agent))
