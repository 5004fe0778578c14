"""Budgets in a file of SQLite, for all processes of one machine; or in memory, for one process."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Final

from ebbtide.budget.shared.budget_store import (
    NOTHING,
    RETENTION_S,
    BudgetSlot,
    CallCharge,
    Lease,
    OtherPeriod,
    Refusal,
    SlotStanding,
    judged,
)
from ebbtide.clock import Clock, system_clock
from ebbtide.database.kept_file import KeptFile
from ebbtide.database.migrating import Schema

_SCHEMA: Final = Schema(
    what="file of budgets",
    folder=Path(__file__).parent / "schema",
    tables=("slots", "leases", "clock"),
    version_table="budgets_version",
    lock=0x45424247,
)
_ADD: Final = """
INSERT INTO slots (key, spent, reserved, unpriced, forget_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET spent = spent + excluded.spent, reserved = reserved + excluded.reserved,
    unpriced = unpriced + excluded.unpriced, forget_at = max(forget_at, excluded.forget_at)
"""
_STANDINGS: Final = "SELECT key, spent, reserved, extra, unpriced, approved FROM slots"
_SWEEP_S: Final = 3600.0  # between two deletions of slots whose time is over
_BACK_S: Final = 1.0  # by which a clock that went back is behind


class SQLiteBudgetStore:
    """Budgets in a file of SQLite, one short transaction a call.

    Its clock is that of the machine, which may be set: a lease then ends earlier, or once more after its
    seconds; what was spent stays. A process that was forked goes on with a connection of its own.

    Args:
        path: The file, made where there is none; None keeps all in the memory of this process.
        wait_s: Seconds that a call waits for other processes that write.
        clock: Seconds since 1970.

    Raises:
        StoreError: The file cannot be opened, or is something else.
    """

    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        wait_s: float = 5.0,
        clock: Clock = system_clock,
    ) -> None:
        self._file = KeptFile(path, _SCHEMA, wait_s=wait_s, stays_open=True)
        self._clock = clock
        self._swept_at = 0.0

    def now(self) -> float:
        """As in `BudgetStore`."""
        return self._clock()

    def reserve(
        self, lease: Lease, /, *, flexible: bool, refuses_unknown: bool
    ) -> Lease | Refusal | OtherPeriod:
        """As in `BudgetStore`.

        Raises:
            StoreError: The file cannot be written, or others write all the time.
        """
        with self._file.transaction() as database:
            now = self._swept(database)
            if any(not slot.start <= now < slot.end for slot in lease.slots):
                return OtherPeriod(now)
            row = database.execute(
                "SELECT amount FROM leases WHERE lease_id = ?", (lease.lease_id,)
            ).fetchone()
            if row is not None:
                return replace(lease, amount=row[0])
            standings = _standings(database, [slot.key for slot in lease.slots])
            amount = judged(lease, standings, flexible=flexible, refuses_unknown=refuses_unknown)
            if isinstance(amount, Refusal):
                return amount
            self._put(database, lease, amount=amount, charge=None, now=now)
            _add(database, lease.slots, reserved=amount)
            return replace(lease, amount=amount)

    def settle(self, lease: Lease, charge: CallCharge, /, *, before: CallCharge = NOTHING) -> None:
        """As in `BudgetStore`.

        Raises:
            StoreError: The file cannot be written.
        """
        with self._file.transaction() as database:
            now = self._swept(database)
            row = database.execute(
                "SELECT amount, charged, unpriced FROM leases WHERE lease_id = ?", (lease.lease_id,)
            ).fetchone()
            reserved = 0
            if row is not None:
                reserved = row[0] if row[1] is None else 0
                before = CallCharge(row[1] or 0, bool(row[2]))
            self._put(database, lease, amount=lease.amount, charge=charge, now=now)
            _add(
                database,
                lease.slots,
                spent=charge.cost - before.cost,
                reserved=-reserved,
                unpriced=charge.is_unpriced - before.is_unpriced,
            )

    def renew(self, lease: Lease, /) -> bool:
        """As in `BudgetStore`."""
        with self._file.transaction() as database:
            end = self._swept(database) + lease.seconds
            changes = database.execute(
                "UPDATE leases SET ends = ? WHERE lease_id = ? AND charged IS NULL", (end, lease.lease_id)
            )
            return changes.rowcount == 1

    def spent(self, keys: Sequence[str] | None = None, /) -> list[SlotStanding]:
        """As in `BudgetStore`."""
        with self._file.transaction() as database:
            self._swept(database)
            return _standings(database, keys)

    def change(self, key: str, /, *, extra: int = 0, approve: bool = False, reset: bool = False) -> None:
        """As in `BudgetStore`."""
        with self._file.transaction() as database:
            _add(database, [BudgetSlot(key=key, forget_at=self._clock() + RETENTION_S)])
            if reset:
                database.execute(
                    "UPDATE slots SET spent = 0, extra = 0, unpriced = 0, approved = 0 WHERE key = ?", (key,)
                )
            database.execute(
                "UPDATE slots SET extra = extra + ?, approved = max(approved, ?) WHERE key = ?",
                (extra, approve, key),
            )

    def close(self) -> None:
        """As in `BudgetStore`; the next call opens the file again. What is only in memory is gone."""
        self._file.close()

    def _put(
        self,
        database: sqlite3.Connection,
        lease: Lease,
        *,
        amount: int,
        charge: CallCharge | None,
        now: float,
    ) -> None:
        """Write the row of a lease. One that was settled stays as long, so that nothing is charged twice."""
        database.execute(
            "INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                lease.lease_id,
                json.dumps([[slot.key, slot.forget_at] for slot in lease.slots]),
                amount,
                None if charge is None else charge.cost,
                charge is not None and charge.is_unpriced,
                lease.seconds,
                now + lease.seconds,
            ),
        )

    def _swept(self, database: sqlite3.Connection) -> float:
        """Give back what the leases that have ended had set aside; the time."""
        now = self._clock()
        latest = database.execute("SELECT latest FROM clock").fetchone()[0]
        if abs(now - latest) > _BACK_S:
            database.execute("UPDATE clock SET latest = ?", (now,))
            if now < latest:
                # Else a lease from before the clock was set back would last as much longer.
                database.execute("UPDATE leases SET ends = min(ends, ? + seconds)", (now,))
        rows = database.execute(
            "SELECT slots, amount, charged FROM leases WHERE ends <= ?", (now,)
        ).fetchall()
        for slots, amount, charged in rows:
            if charged is None and amount:
                pairs = [BudgetSlot(key=key, forget_at=forget_at) for key, forget_at in json.loads(slots)]
                _add(database, pairs, reserved=-amount)
        if rows:
            database.execute("DELETE FROM leases WHERE ends <= ?", (now,))
        if abs(now - self._swept_at) > _SWEEP_S:
            self._swept_at = now
            database.execute("DELETE FROM slots WHERE forget_at <= ? AND reserved = 0", (now,))
        return now


def _add(
    database: sqlite3.Connection,
    slots: Sequence[BudgetSlot],
    *,
    spent: int = 0,
    reserved: int = 0,
    unpriced: int = 0,
) -> None:
    database.executemany(_ADD, [(slot.key, spent, reserved, unpriced, slot.forget_at) for slot in slots])


def _standings(database: sqlite3.Connection, keys: Sequence[str] | None) -> list[SlotStanding]:
    where = "" if keys is None else f" WHERE key IN ({','.join('?' * len(keys))})"
    rows = database.execute(f"{_STANDINGS}{where} ORDER BY key", keys or ()).fetchall()
    standings = {
        row[0]: SlotStanding(
            key=row[0],
            spent=row[1],
            reserved=row[2],
            extra=row[3],
            unpriced=row[4],
            is_approved=bool(row[5]),
        )
        for row in rows
    }
    if keys is None:
        return list(standings.values())
    return [standings.get(key) or SlotStanding(key=key) for key in keys]
