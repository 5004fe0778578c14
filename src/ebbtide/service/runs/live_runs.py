"""Registry of a service: an event is on disk before anything follows from it, and a person may end a run."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Final

from ebbtide.budget.ledger.inherited_calls import InheritedCalls
from ebbtide.budget.prices import Prices
from ebbtide.budget.shared.budget import Spender
from ebbtide.budget.shared.budgets import Budgets
from ebbtide.budget.tally import usd
from ebbtide.clock import calendar_seconds
from ebbtide.errors import StoreError
from ebbtide.events.event import Event
from ebbtide.events.transcript import Round
from ebbtide.service.runs.charging import ChargeMarks, RunSpenders
from ebbtide.service.runs.run_database import PersonAct, RunDatabase
from ebbtide.service.runs.run_event import RunEvent, run_event
from ebbtide.service.runs.run_origin import RunOrigin, RunSource
from ebbtide.service.runs.stuck_from import StuckFrom, stuck_from
from ebbtide.supervision.facts import PersonFacts
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.runs.run_budgets import EventCost, RunBudgets
from ebbtide.supervision.runs.run_store import RunStanding, RunStore
from ebbtide.supervision.runs.runs import Runs
from ebbtide.supervision.runs.watched_run import standing_of
from ebbtide.supervision.summary.run_summary import RunSummary
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict
from ebbtide.text.redaction import redacted

_WAIT_S: Final = 0.2  # that a hook waits for the disk: its agent waits for it
_HAND_OVER_S: Final = 2.0  # that a check waits for the disk: its run waits for it
_MOST: Final = 1000  # runs at hand, some 60 KB each
_IDLE_S: Final = 900.0
_WAKE_UP_S: Final = 86_400.0  # a wake-up that was missed for longer is not of now
_SAVE_EVERY_S: Final = 5.0  # between two looks for runs of which much is in the log alone

#: Called with a run whose verdict has changed, and what holds now.
VerdictListener = Callable[[str, Verdict], object]
#: Called with events that are on disk now; it is to take no time.
EventsListener = Callable[[Sequence[RunEvent], RunOrigin], object]
#: Called with a run that was heard of.
RunListener = Callable[[RunStanding], object]
OutcomeListener = Callable[[str, RunSummary], object]


class LiveRuns(Runs):
    """`Runs` that a `RunDatabase` keeps. It may be used from several threads.

    The methods of `Runs` are for callers in this process, as the hooks are: where the disk fails, the run
    goes on and the fault is counted. `append` and `take` are the two halves of `record` for callers who hear
    of a fault, and send their events again.

    Args:
        store: Keeps their states, where that is not the database itself; it hands them on to it.
        budgets: What the runs may spend together; None sets no bounds.
        project_of: Gives the project of a run that hooks report, by its id; None knows of none.
        redact: True to mask keys and passwords in what is shown.
        clock: Seconds since 1970.

    Attributes:
        faults: How often the database or a listener failed, by what failed.
        last_fault: The latest of them, in words.
        on_verdict: Called when what is to be done about a run has changed.
        on_run: Called with each run that was heard of, as it stands.
        on_outcome: Called with a run that is over and its summary, once or more.
        on_events: Called with new events, once they are on disk.
        inherited_by: Gives the calls in the record of a run that another one owns, by its id; None of none.
    """

    def __init__(
        self,
        database: RunDatabase,
        *,
        store: RunStore | None = None,
        prices: Prices | None = None,
        budgets: Budgets | None = None,
        project_of: Callable[[str], str | None] | None = None,
        redact: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.database = database
        self.prices = Prices() if prices is None else prices
        self._redact = redact
        self.on_verdict: list[VerdictListener] = []
        self.on_run: list[RunListener] = []
        self.on_events: list[EventsListener] = []
        self.on_outcome: list[OutcomeListener] = []
        self.inherited_by: Callable[[str], InheritedCalls | None] = lambda _: None
        self._stops = database.stops()
        self._stuck: dict[str, StuckFrom] = {}  # runs that are stuck
        self._wake_ups: dict[str, float] = {}  # when those of runs are missed
        self._unread: dict[str, None] = {}  # runs whose past could not be read; the next first
        self.budgets = budgets
        self._project_of = project_of
        self._spenders = RunSpenders(database)
        self._charges = ChargeMarks(database)
        super().__init__(
            lambda _: Supervisor(prices=self.prices),
            store=database if store is None else store,
            most=_MOST,
            idle_s=_IDLE_S,
            save_every_s=_SAVE_EVERY_S,
            budgets=budgets,
            spender=self._spender,
            clock=clock,
            log=database,
        )
        self._stopping = threading.Lock()

    def resume(self) -> None:
        """Charges and lists what the last process was killed before it could.

        Raises:
            StoreError: The runs cannot be read, or not written.
        """
        if self.budgets is not None:
            budgets = RunBudgets(self.budgets, self._spender, self._count_fault)
            self._charges.charge_rest(budgets, lambda: Supervisor(prices=self.prices))
        self._charges.begin(has_budgets=self.budgets is not None)
        for run_id in self.database.lagging():
            self.note(run_id, now=0.0)  # nothing was heard of it since

    def read_again(self) -> None:
        """Lists the runs as they stand whose past could not be read, as far as it can be now."""
        for run_id in tuple(self._unread):
            self.note(run_id, now=0.0)  # nothing was heard of it since
            if run_id in self._unread:  # likely the others cannot be read either
                return

    def append(
        self,
        run_id: str,
        events: Sequence[RunEvent],
        origin: RunOrigin,
        *,
        now: float | None = None,
        is_past: bool = False,
    ) -> Future[list[int]]:
        """Keeps events; done when they are on disk, with the place of each, 0 for one that was there before.

        Args:
            now: When they were heard of, in seconds since 1970; None asks the clock.
            is_past: True if they were before anybody watched: no listener is called.

        Raises:
            QueueFullError: Too much waits to be written.
        """
        if self.budgets is not None:
            self._name(run_id, origin)
            self.get(run_id)  # once they are in the log, who fetches the run has them, uncharged
        future = self.database.append(run_id, events, origin, self._clock() if now is None else now)
        for listener in () if is_past else self.on_events:
            future.add_done_callback(partial(_call_with_new, listener, events, origin))
        return future

    def note(self, run_id: str, *, now: float | None = None) -> Verdict:
        """Shows a run as it stands; returns what holds. It was heard of now, unless another time is given.

        One that cannot be read stays as it is listed, until it can be.
        """
        supervisor = self.get(run_id)
        verdict = self._ending(run_id) or supervisor.verdict()
        missed_at = calendar_seconds(supervisor.wake_up_missed_at)
        if missed_at is None:
            self._wake_ups.pop(run_id, None)
        else:
            self._wake_ups[run_id] = missed_at
        latest = self._clock() if now is None else now
        standing = standing_of(run_id, supervisor.tally, verdict, latest=latest)
        self._unread.pop(run_id, None)
        if not self.is_whole(run_id):
            self._unread[run_id] = None
            return verdict
        stuck = stuck_from(verdict, standing.cost_usd)
        if stuck is None:
            self._stuck.pop(run_id, None)
        else:
            stuck = self._stuck.setdefault(run_id, stuck)
        self._show(standing, stuck)
        return verdict

    def missed_wake_ups(self, now: float) -> list[str]:
        """Returns the runs whose agents lie at rest since a wake-up did not come, each once.

        Those that were missed a day ago are left out, and those of runs that this process has not heard of.
        """
        missed = [run_id for run_id, at in tuple(self._wake_ups.items()) if at <= now]
        return [run_id for run_id in missed if self._wake_ups.pop(run_id, -math.inf) > now - _WAKE_UP_S]

    def record(self, run_id: str, event: Event | Round) -> Verdict:
        """Takes an event of a hook; the id begins with the name of the agent. A round is in no log."""
        verdict = self._take(run_id, event, self._keep(run_id, event) if isinstance(event, Event) else 0)
        self.note(run_id)
        return self._ending(run_id) or verdict

    def _keep(self, run_id: str, event: Event) -> int:
        """Puts an event into the log; returns its place, 0 where that was not possible in time."""
        item = run_event(event, self.prices, self._clock())
        with self._counted():
            project = None if self._project_of is None else self._project_of(run_id)
            agent = run_id.partition(":")[0]
            origin = RunOrigin(project=project, agent=agent, source=RunSource.HOOKS)
            return self.append(run_id, [item], origin).result(_WAIT_S)[0]
        return 0

    def before_model(
        self,
        run_id: str,
        *,
        agent: str | None = None,
        now: float | None = None,
        origin: RunOrigin | None = None,
    ) -> Advice:
        """Returns what to do before the next call of a run's model; where a person has ended the run, that.

        Args:
            now: Seconds on the clock of the events; None as in `Runs.before_model`.
            origin: Where the run comes from, so that its first call is paid by who has to; None says nothing.
        """
        ending = self._ending(run_id)
        if ending is not None:
            return Advice(ending)
        if origin is not None and self.budgets is not None and self._name(run_id, origin):
            with self._counted():
                self.database.introduce(run_id, origin, self._clock())
        advice = super().before_model(run_id, agent=agent, now=now)
        if advice.verdict.rank:
            self.note(run_id)
        return advice

    async def handed_over(self) -> None:
        """Waits a little until what was handed over is on disk, so that it is said once; counts a fault."""
        with self._counted():
            async with asyncio.timeout(_HAND_OVER_S):
                await asyncio.wrap_future(self.database.flush())

    def verdict(self, run_id: str) -> Verdict:
        """Returns what holds for a run; where a person has ended it, that."""
        return self._ending(run_id) or self.get(run_id).verdict()

    def acknowledge(self, run_id: str, *, agent: str | None = None) -> None:
        """Records that the person whose agent it is lets the run go on; a fault is counted."""
        with self._counted():
            self.go_on(PersonAct(act="acknowledge", run_id=run_id, caller="agent"), agent=agent)

    def end(self, run_id: str) -> RunStanding:
        """Ends a run, and shows it so; returns what it has come to."""
        standing = super().end(run_id)
        self._stuck.pop(run_id, None)
        self._wake_ups.pop(run_id, None)
        self._show(standing)
        return standing

    def report_outcome(self, run_id: str, outcome: RunSummary) -> None:
        """Calls the listeners with a run that is over."""
        self._call(self.on_outcome, run_id, outcome)

    def stop(self, act: PersonAct) -> Verdict:
        """Ends a run for a person: the next check says so, and so does every one after it.

        Raises:
            StoreError: It cannot be written; the run goes on.
        """
        self.database.enter(act, stop_reason=act.detail)
        with self._stopping:
            self._stops[act.run_id] = act.detail
        verdict = self.note(act.run_id)
        self._call(self.on_verdict, act.run_id, verdict)
        return verdict

    def go_on(self, act: PersonAct, *, turns: int | None = None, agent: str | None = None) -> Verdict:
        """Lets a run go on for a person, whatever holds, even where they had ended it.

        Args:
            turns: For some turns of the model; None for good, as `Runs.acknowledge` does.
            agent: Of which agent; None for all.

        Raises:
            StoreError: It cannot be written.
            ConfigError: `turns` is no whole number from 1 on.
        """
        if turns is None:
            super().acknowledge(act.run_id, agent=agent)
        else:
            self.extend(act.run_id, turns)
        self.save(act.run_id)
        self.database.enter(act)
        with self._stopping:
            self._stops.pop(act.run_id, None)
        verdict = self.note(act.run_id)
        self._call(self.on_verdict, act.run_id, verdict)
        return verdict

    def erase(self, act: PersonAct) -> None:
        """Deletes all that is known of a run, but for who did so.

        Raises:
            StoreError: It cannot be written.
        """
        self.database.enter(act)
        self.forget(act.run_id)
        self._unread.pop(act.run_id, None)
        self._stuck.pop(act.run_id, None)
        self._wake_ups.pop(act.run_id, None)
        self._spenders.forget(act.run_id)
        with self._stopping:
            self._stops.pop(act.run_id, None)

    def close(self) -> None:
        """Writes what has changed, and ends."""
        super().close()
        if self.budgets is not None:
            self.budgets.close()
        self.database.close()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Counts what the database does not do, or not in time: the run goes on."""
        try:
            yield
        except (StoreError, TimeoutError) as error:
            self._count_fault("database", error)

    def _charge(self, budgets: RunBudgets, run_id: str, spending: EventCost | None, place: int) -> None:
        """Charges what an event took, and notes its place if the store of budgets has taken it."""
        super()._charge(budgets, run_id, spending, place)
        if self.budgets is None or not place or self.budgets.waiting:
            return
        with self._counted():
            self._charges.put(run_id, place)

    def _spender(self, run_id: str) -> Spender:
        """Returns who pays for a run; nobody by name, where the database cannot say."""
        with self._counted():
            return self._spenders.of(run_id)
        return Spender()

    def _name(self, run_id: str, origin: RunOrigin) -> bool:
        """Takes what is said of who pays for a run; returns True if it is new."""
        with self._counted():
            return self._spenders.name(run_id, origin)
        return False

    def _ending(self, run_id: str) -> Verdict | None:
        """Returns what a person has said; None where they have not ended the run."""
        reason = self._stops.get(run_id)
        if reason is None:
            return None
        return Verdict(action=Action.STOP, cause=Cause.PERSON, facts=PersonFacts(reason=reason))

    def _report(self, run_id: str, verdict: Verdict, *, is_past: bool = False) -> None:
        """Keeps from where on a run is stuck, with what it had cost by then, and calls the listeners."""
        stuck = stuck_from(verdict, usd(self.get(run_id).tally.cost))
        if stuck is not None:
            self._stuck.setdefault(run_id, stuck)
        if not is_past:
            self._call(self.on_verdict, run_id, verdict)

    def _show(self, standing: RunStanding, stuck: StuckFrom | None = None) -> None:
        standing = redacted(standing) if self._redact else standing
        with self._counted():
            self.database.note(standing, stuck)
        self._call(self.on_run, standing)

    def _call(self, listeners: Sequence[Callable[..., object]], *news: object) -> None:
        for listener in listeners:
            try:
                listener(*news)
            except Exception as error:  # noqa: BLE001 - the run does not notice
                self._count_fault("listener", error)


def _call_with_new(
    listener: EventsListener, events: Sequence[RunEvent], origin: RunOrigin, future: Future[list[int]]
) -> None:
    """Calls a listener with the events that were not there before, once they are on disk."""
    if future.exception() is None:
        listener([item for item, place in zip(events, future.result(), strict=True) if place], origin)
