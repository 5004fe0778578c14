"""Reservations and charges of watched runs in budgets that others draw on too."""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ebbtide.budget.shared.budget import Spender
from ebbtide.budget.shared.budget_refusal import BudgetRefusal, BudgetRefused, RefusalReason
from ebbtide.budget.shared.budget_reservation import BudgetReservation
from ebbtide.budget.tally import UNITS, Tally, is_model_call
from ebbtide.errors import StoreError, expect
from ebbtide.events.event import Event, ModelCall, is_spending
from ebbtide.events.transcript import Round

# For types alone: who has no budgets does not wait for their stores.
if TYPE_CHECKING:
    from ebbtide.budget.shared.budgets import Budgets

_MOST_CALLS = 64  # of one run, under way at the same time
_MOST_ENTRIES = 4096  # agents, and calls without a price
_K = TypeVar("_K")
_V = TypeVar("_V")


class EventCost(NamedTuple):
    """Cost of an event: its chain and agent, True for a call of a model, and dollars, where known."""

    chain_id: str
    agent: str | None
    is_call: bool
    cost_usd: float | None


class RunBudgets:
    """Reserves before each call of a run's model, and charges what its events took.

    A call sets aside what the most expensive call of its agent took so far in this process; before any has
    ended, what `Budgets.reserve` takes for a call of unknown cost. A call that nobody records is given back
    when its lease ends.

    Args:
        spender: Who pays for a run, given its id; None names the run and the agent that is asked for alone.
        on_fault: A method, called with ``budgets`` and an error when their store was away.
    """

    def __init__(
        self,
        budgets: Budgets,
        spender: Callable[[str], Spender] | None,
        on_fault: Callable[[str, Exception], object],
    ) -> None:
        from ebbtide.budget.shared.budgets import Budgets

        expect("budgets", budgets, Budgets)
        self._budgets = budgets
        self._spender = spender
        self._on_fault = weakref.WeakMethod(on_fault)  # a registry that nobody needs goes at once
        self._faults = budgets.faults
        self._calls: dict[str, deque[tuple[str, BudgetReservation]]] = {}  # by run, the oldest first
        self._unpriced: dict[tuple[str, str], BudgetReservation] = {}  # the usage may come later
        self._refusals: dict[str, BudgetRefusal] = {}
        self._most: dict[str, float] = {}
        self._lock = threading.Lock()

    def before_model(self, run_id: str, agent: str | None) -> BudgetRefusal | None:
        """Reserves for a call; returns why that cannot be, or None."""
        budgets = self._of(self._budgets, run_id, agent)
        most = self._most.get(budgets.spender.agent)
        try:
            call = budgets.reserve(most, bound=False)
        except BudgetRefused as refused:
            with self._lock:
                self._refusals[run_id] = refused.refusal
            return refused.refusal
        finally:
            self._count_faults()
        with self._lock:
            self._refusals.pop(run_id, None)
            self._calls.setdefault(run_id, deque(maxlen=_MOST_CALLS)).append((agent or "", call))
        return None

    def release(self, run_id: str) -> None:
        """Gives back what the latest reservation set aside: its call is not made."""
        with self._lock:
            calls = self._calls.get(run_id)
            call = calls.pop()[1] if calls else None
        if call is not None:
            call.release()

    def spending(self, event: Event | Round, before: int | None, tally: Tally) -> EventCost | None:
        """Returns what an event took; None where there is nothing to charge, and none comes.

        Args:
            event: With its chain.
            before: What the run had cost before it.
            tally: Of the run, with it.
        """
        if not isinstance(event, Event):
            return None
        cost = (tally.cost or 0) - (before or 0)
        is_call = is_model_call(event)
        has_failed = isinstance(event, ModelCall) and event.error
        is_priced = is_spending(event) and tally.last_cost is not None
        if not (cost or is_call):
            return None
        is_known = cost or is_priced or has_failed
        return EventCost(event.chain_id, event.agent, is_call, cost / UNITS if is_known else None)

    def charge(self, run_id: str, spending: EventCost | None, place: int = 0) -> None:
        """Charges what an event took.

        Args:
            spending: What it took; None where there is nothing to charge.
            place: Its place in a log, from which it may be charged again; 0 where it is in none.
        """
        if spending is None:
            return
        chain_id, agent, is_call, cost_usd = spending
        budgets = self._of(self._budgets, run_id, agent)
        charge_id = f"{run_id} {place}" if place else None
        asker = None
        if is_call:
            asker, call = self._ended_call(run_id, chain_id)
        else:
            call = self._unpriced.pop((run_id, chain_id), None)
        if call is not None and is_call and charge_id is not None:
            call = call.settle_as(charge_id, cost_usd)
        elif call is not None:
            call.settle(cost_usd)
        elif cost_usd != 0.0:
            call = budgets.charge(cost_usd, charge_id=charge_id)
        with self._lock:
            if cost_usd is None and call is not None:
                _limit(self._unpriced)[run_id, chain_id] = call
            elif cost_usd is not None and asker is not None:
                name = self._of(budgets, run_id, asker).spender.agent
                _limit(self._most)[name] = max(cost_usd, self._most.get(name, 0.0))
        self._count_faults()

    def approve(self, run_id: str) -> None:
        """Lets a run go on beyond the soft limit that a person was asked about.

        Raises:
            StoreError: The store cannot be asked.
        """
        refusal = self._refusals.get(run_id)
        if refusal is not None and refusal.reason is RefusalReason.ASK:
            self._budgets.approve(refusal.key)

    def forget(self, run_id: str) -> None:
        """Drops what is known of a run that is over: what is set aside for it comes back with its leases."""
        with self._lock:
            self._calls.pop(run_id, None)
            self._refusals.pop(run_id, None)
            for key in [key for key in self._unpriced if key[0] == run_id]:
                del self._unpriced[key]

    def _of(self, budgets: Budgets, run_id: str, agent: str | None) -> Budgets:
        """Returns the budgets of the spender of a run; `agent` counts where it names none."""
        spender = Spender() if self._spender is None else self._spender(run_id)
        return budgets.of(
            run=run_id,
            agent=spender.agent or agent or None,
            project=spender.project or None,
            user=spender.user or None,
        )

    def _count_faults(self) -> None:
        if self._budgets.faults > self._faults:
            self._faults = self._budgets.faults
            on_fault = self._on_fault()
            if on_fault is not None:
                on_fault("budgets", StoreError(self._budgets.last_fault or ""))

    def _ended_call(self, run_id: str, chain_id: str) -> tuple[str | None, BudgetReservation | None]:
        """Returns agent and reservation of a call that has ended: the oldest of its chain, or of the run."""
        with self._lock:
            calls = self._calls.get(run_id)
            if not calls:
                return None, None
            item = next((item for item in calls if item[0] == chain_id), calls[0])
            calls.remove(item)
            return item


def _limit(table: dict[_K, _V]) -> dict[_K, _V]:
    if len(table) >= _MOST_ENTRIES:
        table.clear()
    return table
