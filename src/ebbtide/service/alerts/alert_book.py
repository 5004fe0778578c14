"""The alerts on disk: each is told once, whatever happens to the process."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ebbtide.service.alerts.alert import Alert
from ebbtide.service.runs.run_database import RunDatabase

# What a person has let go on may get stuck again, which is news.
_ENTER: Final = """
INSERT OR IGNORE INTO alerts (run_id, level, let_go_on, channel, at, due, body)
SELECT ?1, ?2, (SELECT count(*) FROM audit WHERE run_id = ?1 AND act IN ('acknowledge', 'extend')),
    ?3, ?4, ?4, ?5
"""
_DUE: Final = (
    "SELECT number, body, tries FROM alerts"
    " WHERE channel = ? AND state = 'waiting' AND due <= ? ORDER BY due LIMIT 20"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingAlert:
    """An alert that is still to be told.

    Args:
        number: Which one.
        body: Its JSON.
        tries: How often it was tried.
    """

    number: int
    body: dict[str, Any]
    tries: int


class AlertBook:
    """What was told, and what is still to be.

    Args:
        database: Where it stands.
    """

    def __init__(self, database: RunDatabase) -> None:
        self._database = database

    def enter(self, alert: Alert, bodies: Sequence[tuple[str, dict[str, Any]]]) -> bool:
        """Have an alert told, once for each channel; whether it is new.

        Args:
            alert: It.
            bodies: Each channel with its JSON.

        Raises:
            StoreError: It cannot be written.
        """
        rows = [
            (alert.run_id, alert.level.value, channel, alert.at, json.dumps(body)) for channel, body in bodies
        ]

        def write(database: sqlite3.Connection) -> bool:
            return any(database.execute(_ENTER, row).rowcount == 1 for row in rows)

        return self._database.write(write)

    def due(self, channel: str, now: float) -> list[WaitingAlert]:
        """The next alerts that are to be told now.

        Raises:
            StoreError: The file cannot be read.
        """
        rows = self._database.read(_DUE, (channel, now))
        return [
            WaitingAlert(number=number, body=json.loads(body), tries=tries) for number, body, tries in rows
        ]

    def settle(self, number: int, state: str, *, due: float | None = None) -> None:
        """Note what came of a try: ``sent``, ``failed`` for good, or ``waiting`` until it is due again.

        Raises:
            StoreError: It cannot be written.
        """
        self._database.write(
            lambda database: database.execute(
                "UPDATE alerts SET state = ?, tries = tries + 1, due = coalesce(?, due) WHERE number = ?",
                (state, due, number),
            )
        )

    def waiting(self) -> int:
        """How many are still to be told."""
        return int(self._database.read("SELECT count(*) FROM alerts WHERE state = 'waiting'")[0][0])
