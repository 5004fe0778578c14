"""Budgets for one spender: set aside before a call, charge after it."""

from __future__ import annotations

import dataclasses
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from os import PathLike, fspath
from typing import Any, Final, Literal, Self

from ebbtide.budget.account import FIRST_CALLS
from ebbtide.budget.shared.budget import Budget, BudgetScope, Period, Spender, budget_units, span_of
from ebbtide.budget.shared.budget_refusal import BudgetRefusal, BudgetRefused, RefusalReason
from ebbtide.budget.shared.budget_reservation import BudgetReservation
from ebbtide.budget.shared.budget_standing import BudgetStanding, parts_of_key, slot_key
from ebbtide.budget.shared.budget_store import (
    RETENTION_S,
    BudgetSlot,
    BudgetStore,
    Lease,
    Refusal,
    SlotStanding,
    named_charge,
)
from ebbtide.budget.shared.sqlite_budget_store import SQLiteBudgetStore
from ebbtide.budget.shared.store_link import StoreLink
from ebbtide.budget.tally import UNITS, units
from ebbtide.checks import number
from ebbtide.clock import system_clock
from ebbtide.clock import time_zone as zone_of
from ebbtide.errors import ConfigError, EbbtideError, StoreError, error_text, expect, shown
from ebbtide.settings_file import read_settings, refuse_unknown
from ebbtide.text.name_table import NameTable

_SETTINGS: Final = ("store", "time_zone", "lease_s", "when_unknown", "when_away", "limits")
_CHOICES: Final = ("refuse", "allow")
_REDIS: Final = ("redis://", "rediss://", "unix://")
_MOST_TRIES: Final = 3  # where midnight comes in between
_Choice = Literal["refuse", "allow"]


def open_budget_store(place: object, folder: str = "") -> BudgetStore:
    """Returns the store of budgets that a setting means.

    Args:
        place: A path, ``redis://...``, or ``memory``.
        folder: Where a relative path begins.

    Raises:
        ConfigError: It is none of these, or what it needs is not installed.
        StoreError: The file cannot be opened.
    """
    if not isinstance(place, str) or not place or "\0" in place:
        raise ConfigError(
            f'store = {shown(place)}: expected a path such as "budgets.db" for the processes of this '
            'machine, "redis://host:6379/0" for many machines, or "memory" for one process'
        )
    if place == "memory":
        return SQLiteBudgetStore()
    if place.startswith(_REDIS):
        from ebbtide.budget.shared.redis_budget_store import RedisBudgetStore

        return RedisBudgetStore(place)
    if "://" in place:
        raise ConfigError(f"store = {shown(place)}: expected a path, redis://, rediss:// or unix://")
    return SQLiteBudgetStore(os.path.join(folder, os.path.expanduser(place)))  # noqa: PTH111, PTH118


class Budgets:
    """Budgets, as one spender sees them. Any number of threads, processes and machines may share a store.

    A call reserves before it is made, in all budgets that apply to it or in none, and is charged what it cost
    after it. What a process that was killed had set aside comes back when its leases end; what was charged
    stays.

    Args:
        store: Where they are counted: "memory", for this process alone; a path, for the processes of this
            machine; "redis://host:6379/0", for many machines; or a `BudgetStore`.
        time_zone: By whose calendar a day and a month begin.
        lease_s: Seconds after which what was set aside for a call that nobody settled is given back. A call
            that takes longer is charged all the same, or `renew` its reservation.
        when_unknown: What follows where a call ended at a cost that nobody knows, nor the most that it can
            cost: "refuse" refuses the next one; "allow" goes on. What was set aside is charged in both.
        when_away: What follows while the store cannot be asked: "refuse" refuses calls; "allow" lets them
            through uncounted, and charges them as soon as it is back. Both count in `faults`.

    Attributes:
        spender: The names under which calls are charged.
        link: The way to the store, which the budgets of all spenders share.
        around: Spenders that calls are charged to beside it.

    Raises:
        ConfigError: A value cannot be, or two budgets are for the same.
        StoreError: The file of the store cannot be opened.

    >>> budgets = Budgets([Budget(scope="user", per="day", limit_usd=1.0)])
    >>> ann, bob = budgets.of(user="ann"), budgets.of(user="bob")
    >>> ann.reserve(0.75).settle(0.5)
    >>> bob.reserve(0.75).usd
    0.75
    >>> ann.reserve(0.75)
    Traceback (most recent call last):
    ebbtide.budget.shared.budget_refusal.BudgetRefused: The budget of user 'ann' does not ...
    """

    def __init__(
        self,
        budgets: Iterable[Budget],
        store: str | BudgetStore = "memory",
        *,
        time_zone: str = "UTC",
        lease_s: float = 600.0,
        when_unknown: _Choice = "refuse",
        when_away: _Choice = "refuse",
    ) -> None:
        self.budgets = _checked(budgets)
        for name, choice in (("when_unknown", when_unknown), ("when_away", when_away)):
            if not isinstance(choice, str) or choice not in _CHOICES:
                raise ConfigError(f'{name} = {shown(choice)}: expected "refuse" or "allow"')
        number("lease_s", lease_s, above=0, most=1e9, expected="seconds, more than 0")
        self.spender = Spender()
        self.around: tuple[Spender, ...] = ()
        self._tables = _tables(self.budgets)
        self._zone = zone_of(time_zone)
        self._lease_s = float(lease_s)
        self._refuses_unknown = when_unknown == "refuse"
        self._refuses_away = when_away == "refuse"
        self.link = StoreLink(open_budget_store(store) if isinstance(store, str) else store)

    @classmethod
    def from_dict(cls, table: Mapping[str, Any], *, folder: str = "") -> Self:
        """The budgets of a parsed TOML or JSON table, and their store.

        Args:
            table: With ``store``, ``limits``, and what `Budgets` takes by name.
            folder: Where the path of a store begins.

        Raises:
            ConfigError: An unknown key, a missing one, or a value that cannot be.
            StoreError: The file of the store cannot be opened.
        """
        refuse_unknown(table, _SETTINGS, of="budgets.")
        rows = table.get("limits")
        if not isinstance(rows, Sequence) or isinstance(rows, str) or not rows:
            raise ConfigError("budgets.limits: expected at least one [[budgets.limits]]")
        budgets = []
        for place, row in enumerate(rows, start=1):
            try:
                expect("limits", row, Mapping)
                budgets.append(Budget.from_dict(row))
            except (ConfigError, TypeError) as error:
                raise ConfigError(f"budgets.limits, number {place}: {error}") from error
        options = {key: value for key, value in table.items() if key not in ("store", "limits")}
        try:
            cls(budgets, **options)  # what is wrong is said before a file is made
            store = open_budget_store(table.get("store"), folder)
        except ConfigError as error:
            raise ConfigError(f"budgets.{error}") from error
        return cls(budgets, store, **options)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """The budgets in the table ``[budgets]`` of a file of settings.

        Raises:
            ConfigError: As for `from_dict`, with the name of the file.
            StoreError: Likewise.
        """
        folder = os.path.dirname(fspath(path))  # noqa: PTH120 - pathlib takes long to load
        return read_settings(path, lambda table: cls.from_dict(table, folder=folder), section="budgets")

    def of(
        self,
        *,
        run: str | None = None,
        agent: str | None = None,
        project: str | None = None,
        user: str | None = None,
    ) -> Self:
        """The same budgets for another spender; what is None stays as it is."""
        names = {"run": run, "agent": agent, "project": project, "user": user}
        twin = copy(self)
        twin.spender = dataclasses.replace(
            self.spender, **{key: name for key, name in names.items() if name is not None}
        )
        return twin

    @classmethod
    def together(cls, several: Iterable[Budgets]) -> list[Budgets]:
        """Returns budgets, the innermost first, as one for each store: what several name counts once."""
        by_store: dict[StoreLink, list[Budgets]] = {}
        for budgets in several:
            by_store.setdefault(budgets.link, []).append(budgets)
        joined = []
        for innermost, *around in by_store.values():
            spenders = [budgets.spender for budgets in around if budgets.spender != innermost.spender]
            joined.append(innermost.inside(spenders) if spenders else innermost)
        return joined

    def inside(self, spenders: Iterable[Spender]) -> Self:
        """Returns the same budgets, where a call is charged to the spenders around it, too."""
        twin = copy(self)
        twin.around = tuple(spenders)
        return twin

    def strict_limits(self) -> list[float]:
        """The limits in dollars of the spender's budgets, where a call must not leave them uncounted."""
        if not self._refuses_unknown:
            return []
        budgets = [budget for _, budget in self._slots(system_clock())]
        return [limit for each in budgets if (limit := each.limit_usd or each.soft_usd) is not None]

    @property
    def faults(self) -> int:
        """The number of times that the store could not be asked."""
        return self.link.faults

    @property
    def last_fault(self) -> str | None:
        """The latest failure of the store, in words."""
        return self.link.last_fault

    @property
    def waiting(self) -> int:
        """Calls whose charge the store has not taken yet."""
        return self.link.waiting

    def reserve(self, cost_usd: float | None = None, *, bound: bool | None = None) -> BudgetReservation:
        """Set money aside for a call, in every budget that applies or in none.

        Args:
            cost_usd: Dollars that it can cost at most. None where nobody knows: it sets aside the
                `reserve_usd` of the budgets, the least of them, or whatever is left.
            bound: Whether `cost_usd` is the most that it can cost, and no guess; None takes it for that.

        Raises:
            BudgetRefused: A budget does not allow the call; nothing was set aside.
            ConfigError: The amount is negative or no number.
        """
        amount = None if cost_usd is None else budget_units("cost_usd", cost_usd)
        is_bound = cost_usd is not None if bound is None else bound
        lease_id = uuid.uuid4().hex
        try:
            lease = self._reserved(lease_id, amount)
        except StoreError as error:
            if self._refuses_away:
                raise BudgetRefused(BudgetRefusal(reason=RefusalReason.AWAY, why=str(error))) from error
            lease = self._lease(lease_id, amount, self._slots(system_clock()))
        return BudgetReservation(self.link, lease, is_bound=is_bound)

    def _reserved(self, lease_id: str, amount: int | None) -> Lease | None:
        """Asks the store to set an amount aside; None if no budget applies."""
        now = self.link.now()
        for _ in range(_MOST_TRIES):
            rows = self._slots(now)
            lease = self._lease(lease_id, amount, rows)
            if lease is None:
                return None
            answer = self.link.reserve(lease, flexible=amount is None, refuses_unknown=self._refuses_unknown)
            if isinstance(answer, Refusal):
                raise BudgetRefused(_refusal(answer, lease))
            if isinstance(answer, Lease):
                return answer
            now = answer.now
        raise StoreError(f"the clock of the store of budgets does not stand still at {now:.0f}")

    def charge(self, cost_usd: float | None, *, charge_id: str | None = None) -> BudgetReservation:
        """Charge what was spent without a reservation; a store that is away hears of it later.

        Args:
            cost_usd: Dollars. None where nobody knows: as much is charged as a call of unknown cost sets
                aside, and it counts as unpriced until the reservation that this gives is settled.
            charge_id: Names it, so that it counts once within an hour, whichever process charges it.
        """
        try:
            now = self.link.now()
        except StoreError:
            now = system_clock()
        lease = self._lease(uuid.uuid4().hex, None, self._slots(now))
        if lease is not None and charge_id is not None:
            lease = named_charge(lease, charge_id)
        charge = BudgetReservation(self.link, lease, is_bound=False)
        charge.settle(cost_usd)
        return charge

    def approve(self, key: str) -> None:
        """Let a budget go on beyond its soft limit, in its period.

        Raises:
            StoreError: The store cannot be asked.
        """
        self.link.store.change(key, approve=True)

    def extend(self, key: str, usd: float) -> None:
        """Raise the limits of a budget in its period; a negative amount lowers them.

        Raises:
            StoreError: The store cannot be asked.
            ConfigError: The amount is no number, or too large.
        """
        amount = budget_units("usd", abs(usd) if isinstance(usd, int | float) else usd)
        self.link.store.change(key, extra=amount if usd > 0 else -amount)

    def reset(self, key: str) -> None:
        """Forget what was spent of a budget, and what a person has decided; leases under way stay.

        Raises:
            StoreError: The store cannot be asked.
        """
        self.link.store.change(key, reset=True)

    def close(self) -> None:
        """Charge what waits, and let the store go."""
        self.link.close()

    def standings(self) -> list[BudgetStanding]:
        """Lists the state of every budget in its present period that the store knows or that has a name.

        By scope, and in a scope the one of which most was spent first.

        Raises:
            StoreError: The store cannot be asked.
        """
        store = self.link.store
        now = store.now()
        by_key = {standing.key: standing for standing in store.spent()}
        spans = {period: span_of(period, now, self._zone) for period in Period}
        for (scope, per), table in self._tables.items():
            for name in [""] if scope is BudgetScope.ALL else table.names:
                key = slot_key(scope, name, per, spans[per].name)
                by_key.setdefault(key, SlotStanding(key=key))
        rows = []
        for key, standing in by_key.items():
            scope, name, per, span = parts_of_key(key)
            if span == spans[per].name:
                known_table = self._tables.get((scope, per))
                budget = None if known_table is None else known_table.get(name)
                rows.append(BudgetStanding.of(standing, budget, spans[per], now))
        scopes = list(BudgetScope)
        return sorted(rows, key=lambda row: (scopes.index(row.scope), -row.spent_usd, row.key))

    def _slots(self, now: float) -> list[tuple[BudgetSlot, Budget]]:
        """Returns the budgets that apply to the spender at a time, or to those around it."""
        rows: dict[str, tuple[BudgetSlot, Budget]] = {}
        for spender in (self.spender, *self.around):
            for slot, budget in self._slots_of(spender, now):
                rows.setdefault(slot.key, (slot, budget))
        return list(rows.values())

    def _slots_of(self, spender: Spender, now: float) -> Iterator[tuple[BudgetSlot, Budget]]:
        for (scope, per), table in self._tables.items():
            name = "".join(sign if sign.isprintable() else "?" for sign in spender.name_in(scope))
            budget = table.get(name)
            if budget is None:
                continue
            span = span_of(per, now, self._zone)
            ends_by_itself = per is Period.TOTAL and scope is BudgetScope.RUN
            slot = BudgetSlot(
                key=slot_key(scope, name, per, span.name),
                limit=None if budget.limit_usd is None else units(budget.limit_usd),
                soft=None if budget.soft_usd is None else units(budget.soft_usd),
                start=span.start,
                end=span.end,
                forget_at=(now if ends_by_itself else span.end) + RETENTION_S,
            )
            yield slot, budget

    def _lease(
        self, lease_id: str, amount: int | None, rows: Sequence[tuple[BudgetSlot, Budget]]
    ) -> Lease | None:
        """The lease to ask for; None where no budget applies."""
        if not rows:
            return None
        if amount is None:
            amount = min(_share(budget) for _, budget in rows)
        slots = tuple(slot for slot, _ in rows)
        return Lease(lease_id=lease_id, slots=slots, amount=amount, seconds=self._lease_s)


def _refusal(refusal: Refusal, lease: Lease) -> BudgetRefusal:
    standing, slot = refusal.standing, refusal.slot
    scope, name, per, _ = parts_of_key(slot.key)
    return BudgetRefusal(
        reason=refusal.reason,
        key=slot.key,
        scope=scope,
        name=name,
        per=per,
        spent_usd=standing.spent / UNITS,
        reserved_usd=standing.reserved / UNITS,
        call_usd=lease.amount / UNITS,
        limit_usd=None if slot.limit is None else (slot.limit + standing.extra) / UNITS,
        soft_usd=None if slot.soft is None else (slot.soft + standing.extra) / UNITS,
    )


def _checked(budgets: Iterable[Budget]) -> tuple[Budget, ...]:
    checked = []
    try:
        for budget in budgets:
            expect("budgets", budget, Budget)
            checked.append(budget)
    except (EbbtideError, TypeError):
        raise
    except Exception as error:
        raise ConfigError(f"budgets: {error_text(error)}") from error
    return tuple(checked)


def _tables(budgets: Sequence[Budget]) -> dict[tuple[BudgetScope, Period], NameTable[Budget]]:
    groups: dict[tuple[BudgetScope, Period], dict[str, Budget]] = {}
    for budget in budgets:
        group = groups.setdefault((budget.scope, budget.per), {})
        if budget.name in group:
            raise ConfigError(
                f"two budgets of {budget.scope} {budget.name!r:.60} per {budget.per}: leave one out"
            )
        group[budget.name] = budget
    return {key: NameTable(group) for key, group in groups.items()}


def _share(budget: Budget) -> int:
    if budget.reserve_usd is not None:
        return units(budget.reserve_usd)
    limit = budget.soft_usd if budget.limit_usd is None else budget.limit_usd
    return -(-units(limit or 0.0) // FIRST_CALLS)
