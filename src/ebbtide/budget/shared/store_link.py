"""The way to a store that may be away: what did not reach the store reaches it later."""

from __future__ import annotations

import atexit
import threading
import time
import warnings
import weakref
from collections import deque
from contextlib import suppress
from typing import Final

from ebbtide.budget.shared.budget_store import (
    NOTHING,
    BudgetStore,
    CallCharge,
    Lease,
    OtherPeriod,
    Refusal,
)
from ebbtide.errors import StoreError, error_text

_REST_S: Final = 1.0  # after a failure, in which it is not asked again: a time-out takes as long
_MOST_WAITING: Final = 100_000  # charges; a call in that time is some hundred bytes


class StoreLink:
    """A store, and the charges that it has not taken yet.

    Attributes:
        faults: How often it could not be asked.
        last_fault: The latest failure, in words; None where there was none.
    """

    def __init__(self, store: BudgetStore) -> None:
        self.store = store
        self.faults = 0
        self.last_fault: str | None = None
        self._waiting: deque[tuple[Lease, CallCharge, CallCharge]] = deque(maxlen=_MOST_WAITING)
        self._away_until = 0.0
        self._lock = threading.Lock()
        atexit.register(_settle_last, weakref.ref(self))

    @property
    def waiting(self) -> int:
        """Charges that the store has not taken yet."""
        return len(self._waiting)

    def reserve(
        self, lease: Lease, *, flexible: bool, refuses_unknown: bool
    ) -> Lease | Refusal | OtherPeriod:
        """As `BudgetStore.reserve`, after all charges that wait.

        Raises:
            StoreError: The store cannot be asked, or could not a moment ago.
        """
        self._require()
        try:
            self._flush()
            return self.store.reserve(lease, flexible=flexible, refuses_unknown=refuses_unknown)
        except StoreError as error:
            self._fault(error)
            raise

    def now(self) -> float:
        """As `BudgetStore.now`.

        Raises:
            StoreError: Likewise.
        """
        self._require()
        try:
            return self.store.now()
        except StoreError as error:
            self._fault(error)
            raise

    def settle_later(self, lease: Lease, charge: CallCharge, before: CallCharge = NOTHING) -> None:
        """Charge with the next call that asks the store: for where nothing may wait, such as a finalizer."""
        self._waiting.append((lease, charge, before))

    def settle(self, lease: Lease, charge: CallCharge, before: CallCharge = NOTHING) -> None:
        """Charge now; later, where the store cannot be asked."""
        self.settle_later(lease, charge, before)
        if time.monotonic() < self._away_until:
            return
        try:
            self._flush()
        except StoreError as error:
            self._fault(error)

    def close(self) -> None:
        """Charge what waits, if the store takes it, and let it go."""
        with suppress(StoreError):
            self._flush()
        self.store.close()

    def _require(self) -> None:
        if time.monotonic() < self._away_until:
            raise StoreError(self.last_fault or "the store of budgets is away")

    def _flush(self) -> None:
        while self._waiting:
            try:
                charge = self._waiting.popleft()
            except IndexError:  # another thread was faster
                return
            try:
                self.store.settle(charge[0], charge[1], before=charge[2])
            except BaseException:
                self._waiting.appendleft(charge)
                raise

    def _fault(self, error: StoreError) -> None:
        with self._lock:
            self.faults += 1
            self.last_fault = str(error)
            self._away_until = time.monotonic() + _REST_S
            is_first = self.faults == 1
        if is_first:
            warnings.warn(
                f"the store of budgets is away: {error_text(error)}; see Budgets.faults",
                RuntimeWarning,
                stacklevel=4,
            )


def _settle_last(reference: weakref.ref[StoreLink]) -> None:
    link = reference()
    if link is not None and link.waiting:
        link.close()
