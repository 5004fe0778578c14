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
from ebbtide.supervision.runs.run_budgets import RunBudgets
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
    '[ebbtide] The same call gave the same answer again: it will not change by asking. Try something ...'
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
        self._reader = RunReader(make or _with_public_prices(), self._store, log, clock, self._fault)
        self._idle_s = idle_s
        self._most = most
        self._listener = listener
        self._budgets = RunBudgets(budgets, spender, self._fault)
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
        """The supervisor of a run, to read; what is recorded with it directly may be lost.

        Raises:
            TypeError: The id is no text, or `make` gave something else than a `Supervisor`.
            ConfigError: The run has limits, and its state cannot be read: it would start from zero.
        """
        self._complete(run_id)
        with self._at_hand(run_id) as run:
            return run.supervisor

    def record(self, run_id: str, event: Event | Round) -> Verdict:
        """Take one more event or round of a run, as `Supervisor.record`.

        An event belongs to the chain that its `chain_id` names; where it names none, to that of its agent, if
        `before_model` was asked for that agent by name; and where it names no agent either, to that of the
        only agent that was asked for.

        Args:
            run_id: The run.
            event: What happened.
        """
        return self._take(run_id, event)

    def take(self, run_id: str, event: Event, place: int, *, is_past: bool = False) -> Verdict:
        """Take an event that the log has; one that the run has already changes nothing.

        Args:
            run_id: The run.
            event: What happened.
            place: Of the event in the log, from 1.
            is_past: Whether it was before anybody watched: it is charged to no budget.
        """
        return self._take(run_id, event, place, charges=not is_past)

    def _take(self, run_id: str, event: Event | Round, place: int = 0, *, charges: bool = True) -> Verdict:
        with self._at_hand(run_id) as run:
            spending = None
            if 0 < place <= run.place:
                verdict = run.supervisor.verdict()
            else:
                event = run.placed(event) if isinstance(event, Event) else event
                before = run.supervisor.tally.cost
                verdict = run.record(event, place)
                spending = self._budgets.spending(event, before, run.supervisor.tally) if charges else None
            change = run.change(verdict)
        self._budgets.charge(run_id, spending, place)  # without the lock: the store may take long
        self._report(run_id, change)
        return verdict

    def before_model(self, run_id: str, *, agent: str | None = None, now: float | None = None) -> Advice:
        """What to do before the next call of a run's model.

        Args:
            run_id: The run.
            agent: Whose model is called, where several agents of the run work at the same time: each is a
                chain of its own. Agents that take turns share one chain: leave it out.
            now: Seconds on the clock of the events; None takes the clock of the registry, unless the events
                come with a time of their own.
        """
        refusal = self._budgets.before_model(run_id, agent)
        with self._at_hand(run_id) as run:
            if now is None and not run.has_own_time:
                now = run.latest
            run.supervisor.hold_budget(refusal)
            verdict = run.check(agent, now)
            change = run.change(verdict)
            self._log_check(run_id, run, agent, now)
        if refusal is None and verdict.rank > Action.FINALIZE.rank:
            self._budgets.release(run_id)
        self._report(run_id, change)
        return Advice(verdict)

    def before_tool(self, run_id: str, call: ToolCall) -> Advice:
        """What to do before a tool is called, as `Supervisor.check_before_tool`."""
        with self._at_hand(run_id) as run:
            return Advice(run.supervisor.check_before_tool(call))

    def acknowledge(self, run_id: str, *, agent: str | None = None) -> None:
        """A person has seen what holds, and lets the run go on, as `Supervisor.acknowledge`."""
        with self._at_hand(run_id) as run:
            run.supervisor.acknowledge(agent)
            run.answered()
            run.unlogged = run.revision
        self._budgets.approve(run_id)

    def extend(self, run_id: str, turns: int, *, limits: Limits | None = None) -> None:
        """Let a run go on for some more turns of the model, as `Supervisor.extend`."""
        with self._at_hand(run_id) as run:
            run.supervisor.extend(turns, limits=limits)
            run.answered()
            run.unlogged = run.revision

    def end(self, run_id: str) -> RunStanding:
        """Say that nothing more comes of a run, and write it; what it has come to.

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
        self._budgets.forget(run_id)
        return stored.standing

    def forget(self, run_id: str) -> None:
        """Delete all that is known of a run: its next event is the first."""
        with self._lock:
            self._runs.pop(run_id, None)
            self._leaving.pop(run_id, None)
            self._departures += 1
        self._store.delete(run_id)

    def standing(self) -> list[RunStanding]:
        """How every run stands, at hand or in the store: the most urgent first."""
        runs = {standing.run_id: standing for standing in self._store.standings()}
        with self._lock:
            at_hand = list(self._runs.items())
        for run_id, run in at_hand:
            with self._lock:
                runs[run_id] = run.standing(run_id)
        return sorted(runs.values(), key=lambda standing: standing.urgency, reverse=True)

    def save(self, run_id: str | None = None) -> None:
        """Write every run that has changed, or one alone; a signal handler may do so."""
        with self._lock:
            runs = {**self._leaving, **self._runs}
        self._write({name: run for name, run in runs.items() if run_id in (None, name)})

    def close(self) -> None:
        """Write every run that has changed, and write no more by itself."""
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
        """Runs at hand."""
        return len(self._runs)

    @property
    def has_budgets(self) -> bool:
        """Whether a store of budgets is asked before each call."""
        return self._budgets.exist

    def is_at_hand(self, run_id: str) -> bool:
        """Whether a run is in memory, and nothing of it is still to be read."""
        run = self._runs.get(run_id)
        return run is not None and not run.is_due()

    def is_whole(self, run_id: str) -> bool:
        """Whether a run is as the store and the log have it; one that could not be read is not."""
        run = self._runs.get(run_id)
        return run is None or run.retry_at is None

    @contextmanager
    def _at_hand(self, run_id: str) -> Iterator[WatchedRun]:
        """The run, which nobody else changes meanwhile."""
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
        """Put a run at hand, and others away."""
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
        """Make a run, or read it from the store; one that came or went since `departures` is left alone."""
        run = self._reader.read(run_id)
        with self._lock:
            # Another thread may have had it at hand, and put it away again, since it was read.
            if run_id not in self._runs and run_id not in self._leaving and self._departures == departures:
                self._runs[run_id] = run

    def _complete(self, run_id: str) -> None:
        """Read what a run at hand was before, where that could not be read when it came."""
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
        """What its thread does now and then."""
        self.save()
        self._put_away()

    def _put_away(self) -> None:
        """Move runs to the store that were silent for long, or are too many."""
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
        """The runs are in the store, unless it failed."""
        with self._lock:
            self._departures += 1
            for run_id, run in leaving.items():
                if self._leaving.get(run_id) is run:
                    del self._leaving[run_id]
                    if run.lags(has_log=self._log is not None):
                        self._runs[run_id] = run
                        self._runs.move_to_end(run_id, last=False)

    def _write(self, runs: Mapping[str, WatchedRun]) -> None:
        """Save those that have changed."""
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

    def _report(self, run_id: str, verdict: Verdict | None) -> None:
        # Without the lock: a listener may wait for another thread that needs a run.
        if verdict is not None and self._listener is not None:
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
