"""Questions to a log of decisions. Nothing here writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf

from ebbtide.clock import Clock, system_clock
from ebbtide.database.session import Session
from ebbtide.decision_log.log import replay
from ebbtide.decision_log.record.counters import Counters, Sample
from ebbtide.decision_log.record.events import LogEvent, Verification
from ebbtide.decision_log.record.record import Decision, Status, page_name
from ebbtide.decision_log.record.results import Page, SearchHit
from ebbtide.decision_log.record.view import View
from ebbtide.decision_log.store import questions
from ebbtide.decision_log.store.connection import Store
from ebbtide.decision_log.store.questions import Filter
from ebbtide.decision_log.store.transaction import checked_time
from ebbtide.decisions.candidate import Source
from ebbtide.errors import ConfigError, UnknownDecisionError, expect, shown

#: One state, several, or None for the usual ones.
Statuses = Status | Iterable[Status] | None

_LISTED = (Status.KEPT, Status.SUPERSEDED, Status.OPENED)
_FOUND = (Status.KEPT, Status.SUPERSEDED)


class ReadableLog:
    """The questions of a `DecisionLog`.

    Args:
        view: What is seen of it.
        clock: What time it is, where a call does not say.
        open_ttl_s: Seconds after which a decision that was opened and not taken counts as abandoned.

    Raises:
        ConfigError: `open_ttl_s` is not above 0.
    """

    def __init__(
        self, store: Store, view: View, *, clock: Clock = system_clock, open_ttl_s: float = 3600.0
    ) -> None:
        expect("open_ttl_s", open_ttl_s, int, float)
        if isinstance(open_ttl_s, bool) or not open_ttl_s > 0 or 10**15 < open_ttl_s < inf:
            raise ConfigError(f"open_ttl_s = {shown(open_ttl_s)}: expected seconds above 0")
        self.store = store
        self.view = view
        self.clock = clock
        self.open_ttl_s = float(open_ttl_s)

    @property
    def tenant(self) -> str:
        """The tenant whose log it is."""
        return self.view.tenant

    @property
    def agent(self) -> str | None:
        """The agent whose decisions are seen; None: those of all agents of the tenant."""
        return self.view.agent

    @property
    def session(self) -> str | None:
        """The session whose decisions are seen; None: those of all."""
        return self.view.session

    def get(self, decision_id: str) -> Decision:
        """One decision, in whatever state.

        Raises:
            UnknownDecisionError: This view has none of that id.
        """
        return self._with_expiry(self.stored(decision_id), self.clock())

    def stored(self, decision_id: str) -> Decision:
        """One decision as the store has it: an open one is open, whatever the time.

        Raises:
            UnknownDecisionError: This view has none of that id.
        """
        return self.store.read(lambda s: questions.get(s, self.view, decision_id))

    def resolve(self, beginning: str) -> str:
        """The one id that begins so, or that of the record that was imported from a file of this name.

        Raises:
            UnknownDecisionError: There is none, or more than one.
        """
        if name := page_name(beginning.strip()):
            every = self.iterate(status=tuple(Status))
            records = [each.id for each in every if each.document and each.document.name == name]
            if len(records) != 1:
                hint = "several records have this name" if records else "no record of this name was imported"
                raise UnknownDecisionError(beginning, self.view.where, hint)
            return records[0]
        prefix = beginning.strip().upper()
        ids = self.store.read(lambda s: questions.ids_that_begin(s, self.view, prefix)) if prefix else []
        if len(ids) != 1:
            hint = "several ids begin so; give more of it" if ids else "`ebbtide decisions list` names them"
            raise UnknownDecisionError(beginning, self.view.where, hint)
        return ids[0]

    def list(
        self,
        *,
        status: Statuses = None,
        category: str | None = None,
        agent: str | None = None,
        session: str | None = None,
        source: Source | None = None,
        since: float | None = None,
        until: float | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page:
        """Decisions, newest first, some at a time.

        Args:
            status: Where they stand; None takes those that are kept, superseded or open: what was refused,
                given up or purged is not listed unless it is asked for.
            category: Of which category; None takes all.
            agent: Whose; None takes those of the view.
            session: Of which session; None takes those of the view.
            source: How they came up.
            since: Opened then or later, in seconds since the epoch.
            until: Opened before then.
            limit: At most so many, from 1.
            cursor: `Page.cursor` of the page before.

        Raises:
            ConfigError: `limit` is below 1, or the agent or session is not of this view.
        """
        criteria = self._filter(
            statuses_of(status, _LISTED), category=category, source=source, since=since, until=until
        )
        return self._page(self._narrow(agent, session), criteria, limit, cursor)

    def iterate(
        self,
        *,
        status: Statuses = None,
        agent: str | None = None,
        since: float | None = None,
        until: float | None = None,
        page: int = 500,
    ) -> Iterator[Decision]:
        """Every decision, oldest first; with status None in every state."""
        view = self._narrow(agent, None)
        criteria = self._filter(None if status is None else statuses_of(status, ()), since=since, until=until)
        after: str | None = None
        while decisions := self._listed(view, criteria, _at_least_one(page), after):
            yield from decisions
            after = decisions[-1].id

    def search(
        self,
        text: str,
        *,
        limit: int = 20,
        status: Statuses = None,
        agent: str | None = None,
        every_word: bool = False,
    ) -> tuple[SearchHit, ...]:
        """Decisions that have all words of a text, best first; if there are none, those with any of them.

        Endings do not count ("caches" finds "caching"). Open decisions are not searched, and quarantined
        ones only where `status` asks for them. With `every_word`, one that lacks a word is never a hit.
        """
        view, now = self._narrow(agent, None), self.clock()
        criteria = self._filter(statuses_of(status, _FOUND))
        most = _at_least_one(limit)
        self.store.index_words()
        hits = self.store.read(
            lambda s: questions.search(
                s, self.store.database, view, text, criteria, limit=most, every_word=every_word
            )
        )
        return tuple(SearchHit(decision=self._with_expiry(hit.decision, now), rank=hit.rank) for hit in hits)

    def get_recent_decisions(
        self, agent_id: str, since: float, limit: int = 5, session: str | None = None
    ) -> tuple[Decision, ...]:
        """Decisions of an agent that were opened at `since` or later, newest first, open ones among them.

        Source: decision quality gate, layer 2 (clause Q07).
        """
        return self.list(agent=agent_id, session=session, since=since, limit=limit).decisions

    def quarantined(self, *, rule: str | None = None, limit: int = 50, cursor: str | None = None) -> Page:
        """Returns what can be restored, newest first; `rule` takes only what that rule refused."""
        criteria = Filter(status=(Status.QUARANTINED,), rule=rule)
        return self._page(self.view, criteria, limit, cursor)

    def overdue(self, now: float | None = None, *, limit: int = 50) -> tuple[Decision, ...]:
        """Kept decisions whose `review_by` has passed without a review, longest overdue first."""
        at = self._time(now)
        most = _at_least_one(limit)
        return tuple(self.store.read(lambda s: questions.overdue(s, self.view, at, limit=most)))

    def events(self, decision_id: str) -> tuple[LogEvent, ...]:
        """Returns the events of a decision, in order.

        Raises:
            UnknownDecisionError: This view has none of that id.
        """

        def ask(session: Session) -> tuple[LogEvent, ...]:
            decision = questions.get(session, self.view, decision_id)
            return tuple(questions.events_of(session, self.view, decision.id))

        return self.store.read(ask)

    def counts(self) -> Counters:
        """Counts what the gate kept and refused so far, by rule, source, frame, mode and layer."""
        return self.store.read(lambda s: questions.counters(s, self.view))

    def sample(self, size: int = 50) -> Sample:
        """At most `size` kept and `size` refused decisions for people to look at; see `Sample`."""
        most = _at_least_one(size)
        return self.store.read(lambda s: questions.sample(s, self.view, most))

    def heads(self) -> dict[str, str]:
        """The last event of each agent's stream, ``seq:hash``: note it where nobody can change it."""
        return self.store.read(lambda s: questions.heads(s, self.view))

    def verify(self, *, heads: Mapping[str, str] | None = None) -> Verification:
        """Follow every stream of the view, and say where it is not what was written.

        Args:
            heads: Heads that were noted before, by agent. Without them, a tail that was cut off together with
                the store's own note of it cannot be seen.

        Raises:
            ConfigError: A head is not ``seq:hash``.
        """
        for agent, head in (heads or {}).items():
            number, _, digest = head.partition(":")
            if not number.isdecimal() or (len(digest) != 64 and number != "0"):
                raise ConfigError(
                    f"head of {agent!r:.60} = {head!r:.90}: expected number:hash, as heads() gives it"
                )
        return self.store.read(lambda s: replay.verify(s, self.view, heads or {}))

    def _time(self, at: float | None) -> float:
        return checked_time(self.clock() if at is None else at)

    def _narrow(self, agent: str | None, session: str | None) -> View:
        here = self.view
        if agent is None and session is None:
            return here
        return View(tenant=here.tenant, agent=here.narrow_agent(agent), session=here.narrow_session(session))

    def _filter(
        self,
        status: tuple[Status, ...] | None,
        *,
        category: str | None = None,
        source: Source | None = None,
        since: float | None = None,
        until: float | None = None,
    ) -> Filter:
        return Filter(
            status=status,
            category=category,
            source=None if source is None else Source(source).value,
            since=None if since is None else checked_time(since, "since"),
            until=None if until is None else checked_time(until, "until"),
            expired_before=self.clock() - self.open_ttl_s,
        )

    def _page(self, view: View, criteria: Filter, limit: int, cursor: str | None) -> Page:
        most = _at_least_one(limit)
        decisions = self._listed(view, criteria, most + 1, cursor, newest_first=True)
        more = decisions[most - 1].id if len(decisions) > most else None
        return Page(decisions=tuple(decisions[:most]), cursor=more)

    def _listed(
        self, view: View, criteria: Filter, limit: int, cursor: str | None, *, newest_first: bool = False
    ) -> Sequence[Decision]:
        now = self.clock()
        decisions = self.store.read(
            lambda s: questions.listed(
                s, view, criteria, limit=limit, cursor=cursor, newest_first=newest_first
            )
        )
        return [self._with_expiry(each, now) for each in decisions]

    def _with_expiry(self, decision: Decision, now: float) -> Decision:
        """A decision as it reads now: an open one whose time is over is abandoned, noted or not."""
        opened_at, ttl_s = decision.opened_at, self.open_ttl_s
        if decision.status is not Status.OPENED or opened_at is None or now - opened_at <= ttl_s:
            return decision
        return replace(decision, status=Status.ABANDONED, settled_at=opened_at + ttl_s)


def statuses_of(status: Statuses, default: tuple[Status, ...]) -> tuple[Status, ...]:
    """The states that are asked for.

    Raises:
        ValueError: One of them is none.
    """
    if status is None:
        return default
    return (Status(status),) if isinstance(status, str) else tuple(Status(each) for each in status)


def _at_least_one(limit: int) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ConfigError(f"limit = {shown(limit)}: expected a number from 1")
    return limit
