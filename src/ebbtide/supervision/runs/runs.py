"""The registry of runs: one supervisor each, made, kept, put away and brought back by its id."""

from __future__ import annotations

import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from ebbtide.budget.limits import Limits
from ebbtide.budget.prices import Prices
from ebbtide.checks import number, whole
from ebbtide.errors import EbbtideError, error_text, expect, shown
from ebbtide.events.event import Event, ToolCall
from ebbtide.events.transcript import Round
from ebbtide.supervision.ladder import Action
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.runs.run_budgets import EventCost, RunBudgets
from ebbtide.supervision.runs.run_saver import RETRY_S, RunReader, RunSaver
from ebbtide.supervision.runs.run_store import MemoryRunStore, ModelCheck, RunLog, RunStanding, RunStore
from ebbtide.supervision.runs.watched_run import WatchedRun
from ebbtide.supervision.supervisor import Supervisor
from ebbtide.supervision.verdict import Verdict

if TYPE_CHECKING:
    from ebbtide.budget.shared.budget import Spender
    from ebbtide.budget.shared.budgets import Budgets

_TOGETHER = 64  # runs that are put away at once


def _with_public_prices() -> Callable[[str], Supervisor]:
    prices = Prices()  # they are looked up once for all runs
    return lambda _: Supervisor(prices=prices)


class Runs:
    """Watches many runs, each by its id, and answers before each call of a model what to do.

    A run is made when it is first heard of. One that was silent for long, or makes room for others, goes to
    the store, and comes back as it was. With a store that lasts, every run is written at most once a second,
    at its end and at the end of the process, so that after a crash it goes on from there.

    It may be used from several threads, from a listener and from a signal handler. An event without a time
    gets that of the clock.

    Args:
        make: Makes the supervisor of a run, given its id: its limits, prices and tools. It has to make the
            same one again after a restart. None makes one without limits, with public prices where the extra
            ``prices`` is installed.
        store: Keeps the runs that are not at hand; None keeps them in memory.
        idle_s: Seconds of silence after which a run goes to the store.
        most: Runs that are kept at hand, some 60 KB each.
        save_every_s: Seconds between two writings of one run, where the store lasts.
        listener: Called with the id and the verdict when what is to be done about a run has changed.
        budgets: Budgets that others draw on too: money is set aside before each call of a model, and charged
            with its event.
        spender: Who pays for a run, given its id; None names the run and the agent that is asked for alone.
        clock: Seconds since 1970.
        log: A log of all events: a run that comes back takes up from it what its stored state lacks, and
            is written only when that would take long.

    Attributes:
        faults: How often the ``store``, the ``listener`` or the ``budgets`` failed; the runs do not notice.
        last_fault: The latest of them, in words.

    Raises:
        TypeError: `make` is no function.
        ConfigError: A number is out of range.

    >>> runs = Runs()
    >>> for _ in range(3):
    ...     turn = runs.before_model("invoice-7")
    ...     verdict = runs.record("invoice-7", ToolCall(name="ls", args={"path": "."}, result="a.txt"))
    >>> [(run.run_id, run.action.value) for run in runs.standing()]
    [('invoice-7', 'nudge')]
    >>> runs.before_model("invoice-7").note
    '[ebbtide] The same call returned the same result again. Repeating it will not change it. Try ...'
    """

    def __init__(
        self,
        make: Callable[[str], Supervisor] | None = None,
        *,
        store: RunStore | None = None,
        idle_s: float = 3600.0,
        most: int = 1000,
        save_every_s: float = 1.0,
        listener: Callable[[str, Verdict], object] | None = None,
        budgets: Budgets | None = None,
        spender: Callable[[str], Spender] | None = None,
        clock: Callable[[], float] = time.time,
        log: RunLog | None = None,
    ) -> None:
        if not (make is None or callable(make)):
            raise TypeError(
                f"make = {shown(make)}: expected a function of the run's id that makes a Supervisor"
            )
        whole("most", most, 1)
        for name, value in (("idle_s", idle_s), ("save_every_s", save_every_s)):
            expect(name, value, int, float)
            number(name, value, above=0, expected="seconds, more than 0")
        if store is not None and not hasattr(store, "is_durable"):
            raise TypeError(f"store: expected a RunStore or None, not {shown(store)}")
        self._store = MemoryRunStore() if store is None else store
        self._reader = RunReader(
            make or _with_public_prices(),
            self._store,
            log,
            clock,
            self._fault,
            has_budgets=budgets is not None,
        )
        self._idle_s = idle_s
        self._most = most
        self._listener = listener
        self._budgets = None if budgets is None else RunBudgets(budgets, spender, self._fault)
        self._clock = clock
        self._log = log
        self._runs: OrderedDict[str, WatchedRun] = OrderedDict()  # the one that was silent longest first
        self._leaving: dict[str, WatchedRun] = {}  # on their way to the store
        self._departures = 0
        # Re-entrant, for listeners and signal handlers. Nobody who holds it waits for the store.
        self._lock = threading.RLock()
        self._saver = RunSaver(self._tidy, self._finish, save_every_s) if self._store.is_durable else None
        self.faults: dict[str, int] = {}
        self.last_fault: str | None = None

    def get(self, run_id: str) -> Supervisor:
        """Returns the supervisor of a run, to read; what is recorded with it directly may be lost.

        Raises:
            TypeError: The id is no text, or `make` gave something else than a `Supervisor`.
            ConfigError: The run has limits, and its state cannot be read: it would start from zero.
        """
        run = self._runs.get(run_id)
        if run is not None and run.retry_at is not None:
            self._complete(run_id)
        with self._at_hand(run_id) as run:
            return run.supervisor

    def record(self, run_id: str, event: Event | Round) -> Verdict:
        """Takes one more event or round of a run, as `Supervisor.record` does.

        An event belongs to the chain that its `chain_id` names; where it names none, to that of its agent, if
        `before_model` was asked for that agent by name; and where it names no agent either, to that of the
        only agent that was asked for.
        """
        return self._take(run_id, event)

    def take(self, run_id: str, event: Event, place: int, *, is_past: bool = False) -> Verdict:
        """Takes an event that the log has; one that the run has already changes nothing.

        Args:
            place: Of the event in the log, from 1.
            is_past: True if it was before anybody watched: it is charged to no budget, and no listener
                is called.
        """
        return self._take(run_id, event, place, is_past=is_past)

    def _take(self, run_id: str, event: Event | Round, place: int = 0, *, is_past: bool = False) -> Verdict:
        budgets = None if is_past else self._budgets
        with self._at_hand(run_id) as run:
            spending = None
            if 0 < place <= run.place:
                verdict = run.supervisor.verdict()
            else:
                event = run.placed(event) if isinstance(event, Event) else event
                before = run.supervisor.tally.cost
                verdict = run.record(event, place)
                if budgets is not None:
                    spending = budgets.spending(event, before, run.supervisor.tally)
            change = run.change(verdict)
        if self._budgets is not None:
            self._charge(self._budgets, run_id, spending, place)  # without the lock: the store may take long
        if change is not None:
            self._report(run_id, change, is_past=is_past)
        return verdict

    def _charge(self, budgets: RunBudgets, run_id: str, spending: EventCost | None, place: int) -> None:
        """Charges what an event took; None where there is nothing to charge."""
        budgets.charge(run_id, spending, place)

    def before_model(self, run_id: str, *, agent: str | None = None, now: float | None = None) -> Advice:
        """Returns what to do before the next call of a run's model.

        Args:
            agent: Whose model is called, where several agents of the run work at the same time: each is a
                chain of its own. Agents that take turns share one chain: leave it out.
            now: Seconds on the clock of the events; None takes the clock of the registry, unless the events
                come with a time of their own.
        """
        budgets = self._budgets
        refusal = None if budgets is None else budgets.before_model(run_id, agent)
        with self._at_hand(run_id) as run:
            if now is None and not run.has_own_time:
                now = run.latest
            if budgets is not None:
                run.supervisor.hold_budget(refusal)
            verdict = run.check(agent, now)
            change = run.change(verdict)
            self._log_check(run_id, run, agent, now)
        if budgets is not None and refusal is None and verdict.rank > Action.FINALIZE.rank:
            budgets.release(run_id)
        if change is not None:
            self._report(run_id, change)
        return Advice(verdict)

    def before_tool(self, run_id: str, call: ToolCall) -> Advice:
        """Returns what to do before a tool is called, as `Supervisor.check_before_tool` does."""
        with self._at_hand(run_id) as run:
            return Advice(run.supervisor.check_before_tool(call))

    def before_end(self, run_id: str, text: str) -> str | None:
        """Returns what to tell the model before a run ends with these last words; None where it may end.

        It is said once until a person speaks again, and only of what the recorded calls contradict, or
        outdate: a test that failed, or one that passed before the last edit. The ``check_claims`` of the
        profile switches it off.

        Args:
            text: The last words of its model, in English; those in other languages make no claims.
        """
        expect("text", text, str)
        with self._at_hand(run_id) as run:
            return run.check_report(text)

    def acknowledge(self, run_id: str, *, agent: str | None = None) -> None:
        """Records that a person has seen what holds, and lets the run go on: see `Supervisor.acknowledge`."""
        with self._at_hand(run_id) as run:
            run.supervisor.acknowledge(agent)
            run.answered()
            run.unlogged = run.revision
        if self._budgets is not None:
            self._budgets.approve(run_id)

    def extend(self, run_id: str, turns: int, *, limits: Limits | None = None) -> None:
        """Lets a run go on for some more turns of the model, as `Supervisor.extend` does."""
        with self._at_hand(run_id) as run:
            run.supervisor.extend(turns, limits=limits)
            run.answered()
            run.unlogged = run.revision

    def end(self, run_id: str) -> RunStanding:
        """Ends a run of which nothing more comes, and writes it; returns what it has come to.

        An id that comes again later goes on from there.
        """
        with self._at_hand(run_id) as run:
            run.supervisor.settle()
            run.has_ended = True  # also for who is about to save it at this moment
            stored = run.stored(run_id)
            self._leaving[run_id] = self._runs.pop(run_id)
        try:
            if run.retry_at is None:
                self._store.save([stored])
                run.saved(stored)
        except EbbtideError as error:
            self._fault("store", error)
        self._departed({run_id: run})
        if self._budgets is not None:
            self._budgets.forget(run_id)
        return stored.standing

    def forget(self, run_id: str) -> None:
        """Deletes all that is known of a run: its next event is the first."""
        with self._lock:
            self._runs.pop(run_id, None)
            self._leaving.pop(run_id, None)
            self._departures += 1
        self._store.delete(run_id)

    def standing(self) -> list[RunStanding]:
        """Returns how every run stands, at hand or in the store: the most urgent first."""
        runs = {standing.run_id: standing for standing in self._store.standings()}
        with self._lock:
            at_hand = list(self._runs.items())
        for run_id, run in at_hand:
            with self._lock:
                runs[run_id] = run.standing(run_id)
        return sorted(runs.values(), key=lambda standing: standing.urgency, reverse=True)

    def save(self, run_id: str | None = None) -> None:
        """Writes every run that has changed, or one alone; a signal handler may do so."""
        with self._lock:
            runs = {**self._leaving, **self._runs}
        self._write({name: run for name, run in runs.items() if run_id in (None, name)})

    def close(self) -> None:
        """Writes every run that has changed, and writes no more by itself."""
        self._finish()

    def _finish(self) -> None:
        if self._saver is not None:
            self._saver.close()
        self.save()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Number of runs at hand."""
        return len(self._runs)

    @property
    def has_budgets(self) -> bool:
        """True if a store of budgets is asked before each call."""
        return self._budgets is not None

    def is_at_hand(self, run_id: str) -> bool:
        """True if a run is in memory, and nothing of it is still to be read."""
        run = self._runs.get(run_id)
        return run is not None and not run.is_due()

    def is_whole(self, run_id: str) -> bool:
        """True if a run is as the store and the log have it; one that could not be read is not."""
        run = self._runs.get(run_id)
        return run is None or run.retry_at is None

    @contextmanager
    def _at_hand(self, run_id: str) -> Iterator[WatchedRun]:
        """Yields the run, which nobody else changes meanwhile."""
        if not isinstance(run_id, str):
            raise TypeError(f"run_id = {run_id!r:.60}: expected a text")
        while True:
            with self._lock:
                run = self._runs.get(run_id)
                if run is not None:
                    self._runs.move_to_end(run_id)
                    run.latest = max(run.latest, self._clock())
                    run.revision += 1
                    run.has_ended = False
                    yield run
                    return
            self._bring_back(run_id)

    def _bring_back(self, run_id: str) -> None:
        """Puts a run at hand, and others away."""
        with self._lock:
            leaving = self._leaving.pop(run_id, None)
            if leaving is not None:
                self._runs[run_id] = leaving
            departures = self._departures
        if leaving is None:
            self._fetch(run_id, departures)
        self._put_away()
        if self._saver is not None:
            self._saver.keep_on()

    def _fetch(self, run_id: str, departures: int) -> None:
        """Makes a run, or reads it from the store; one that came or went since `departures` is left alone."""
        run = self._reader.read(run_id)
        with self._lock:
            # Another thread may have had it at hand, and put it away again, since it was read.
            if run_id not in self._runs and run_id not in self._leaving and self._departures == departures:
                self._runs[run_id] = run

    def _complete(self, run_id: str) -> None:
        """Reads what a run at hand was before, where that could not be read when it came."""
        with self._lock:
            run = self._runs.get(run_id)
            if run is None or not run.is_due():
                return
            run.retry_at = time.monotonic() + RETRY_S
            revision = run.revision
        whole = self._reader.read_again(run_id)
        with self._lock:
            # What came meanwhile may not be in it: the next try has that too.
            if whole is not None and self._runs.get(run_id) is run and run.revision == revision:
                self._runs[run_id] = whole

    def _log_check(self, run_id: str, run: WatchedRun, agent: str | None, now: float | None) -> None:
        if self._log is None or run.retry_at is not None:  # whose checks are not counted from their first
            return
        try:
            self._log.add_check(run_id, ModelCheck(run.checks, run.place, agent, now))
        except EbbtideError as error:
            run.unlogged = run.revision
            self._fault("store", error)

    def _tidy(self) -> None:
        """Writes what has changed, and puts runs away: its thread does so now and then."""
        self.save()
        self._put_away()

    def _put_away(self) -> None:
        """Moves runs to the store that were silent for long, or are too many."""
        leaving: dict[str, WatchedRun] = {}
        with self._lock:
            since = self._clock() - self._idle_s
            while self._runs and len(leaving) < _TOGETHER:
                run_id, run = next(iter(self._runs.items()))
                if len(self._runs) <= self._most and run.latest > since:
                    break
                leaving[run_id] = self._leaving[run_id] = self._runs.pop(run_id)
        if leaving:
            self._write(leaving)
            self._departed(leaving)

    def _departed(self, leaving: Mapping[str, WatchedRun]) -> None:
        """Drops runs that are in the store, unless it failed."""
        with self._lock:
            self._departures += 1
            for run_id, run in leaving.items():
                if self._leaving.get(run_id) is run:
                    del self._leaving[run_id]
                    if run.lags(has_log=self._log is not None):
                        self._runs[run_id] = run
                        self._runs.move_to_end(run_id, last=False)

    def _write(self, runs: Mapping[str, WatchedRun]) -> None:
        """Saves the runs that have changed."""
        has_log = self._log is not None
        changed = [(run_id, run) for run_id, run in runs.items() if run.lags(has_log=has_log)]
        for start in range(0, len(changed), _TOGETHER):
            rows = []
            for run_id, run in changed[start : start + _TOGETHER]:
                rows.append((run, run.stored_beside(run_id, self._lock)))
                if self._saver is not None:
                    self._saver.breathe()
            try:
                self._store.save([stored for _, stored in rows])
            except EbbtideError as error:
                self._fault("store", error)
                return
            for run, stored in rows:
                run.saved(stored)

    def _report(self, run_id: str, verdict: Verdict, *, is_past: bool = False) -> None:
        """Calls the listener: something else is to be done about a run than before."""
        # Without the lock: a listener may wait for another thread that needs a run.
        if self._listener is not None and not is_past:
            try:
                self._listener(run_id, verdict)
            except Exception as error:  # noqa: BLE001 - the run does not notice
                self._fault("listener", error)

    def _fault(self, where: str, error: Exception) -> None:
        self._count_fault(where, error)
        if sum(self.faults.values()) == 1:
            warnings.warn(
                f"the registry of runs goes on without its {where}: {error_text(error)}; see Runs.faults",
                RuntimeWarning,
                stacklevel=3,
            )

    def _count_fault(self, where: str, error: Exception) -> None:
        self.faults[where] = self.faults.get(where, 0) + 1
        self.last_fault = f"{where}: {error_text(error)}"


class RunSupervisor:
    """One run of a registry, which answers what a `Supervisor` would.

    Give it as the `supervisor` of an `ExecutionContext`, whose limits hold before a call is made. The
    registry watches the loops of the run, and takes them over a restart.

    >>> from ebbtide import ExecutionContext, Limits
    >>> runs = Runs()
    >>> with ExecutionContext(Limits(tool_calls=9), supervisor=RunSupervisor(runs, "run 1")) as context:
    ...     look = context.wrap_tool_call(lambda place: "nothing", name="look")
    ...     _ = look("attic")
    >>> runs.get("run 1").events
    1
    """

    def __init__(self, runs: Runs, run_id: str) -> None:
        self._runs = runs
        self._run_id = run_id

    def record(self, event: Event) -> Verdict:
        """Takes an event that has happened."""
        return self._runs.record(self._run_id, event)

    def check_before_model(self, chain_id: str | None = None, *, now: float | None = None) -> Verdict:
        """Returns what to do before a call of the model."""
        return self._runs.before_model(self._run_id, agent=chain_id, now=now).verdict

    def ending(self, chain_id: str) -> Verdict | None:
        """Returns the verdict that ends the chain, if there is one."""
        return self._runs.get(self._run_id).ending(chain_id)
