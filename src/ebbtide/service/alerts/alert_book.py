"""Keeps the alerts on disk: each is sent once, whatever happens to the process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ebbtide.database.session import Session
from ebbtide.service.alerts.alert import Alert
from ebbtide.service.runs.run_database import RunDatabase

# What a person has let go on may get stuck again, which is news.
_ENTER: Final = """
INSERT INTO alerts (run_id, level, channel, at, due, body, let_go_on)
SELECT ?, ?, ?, ?, ?, ?, count(*) FROM audit WHERE run_id = ? AND act IN ('acknowledge', 'extend')
ON CONFLICT DO NOTHING RETURNING number
"""
_DUE: Final = (
    "SELECT number, body, tries FROM alerts"
    " WHERE channel = ? AND state = 'waiting' AND due <= ? ORDER BY due LIMIT 20"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingAlert:
    """An alert that is still to be sent."""

    number: int
    body: dict[str, Any]
    tries: int


class AlertBook:
    """Queues the alerts to be sent, and records the results; `StoreError` where the database does not."""

    def __init__(self, database: RunDatabase) -> None:
        self._database = database

    def enter(self, alert: Alert, bodies: Sequence[tuple[str, dict[str, Any]]]) -> bool:
        """Queues an alert, once for each channel; returns True if it is new.

        Args:
            bodies: Each channel with its JSON.
        """
        run_id, level, at = alert.run_id, alert.level.value, float(alert.at)
        rows = [(run_id, level, channel, at, at, json.dumps(body), run_id) for channel, body in bodies]

        def write(session: Session) -> bool:
            return any(session.rows_of_each([(_ENTER, row) for row in rows]))

        return self._database.write(write)

    def due(self, channel: str, now: float) -> list[WaitingAlert]:
        """Returns the next alerts that are due."""
        rows = self._database.read(_DUE, (channel, now))
        return [
            WaitingAlert(number=number, body=json.loads(body), tries=tries) for number, body, tries in rows
        ]

    def settle(self, number: int, state: str, *, due: float | None = None) -> None:
        """Records what came of a try: ``sent``, ``failed`` for good, or ``waiting`` until it is due again."""
        self._database.write(
            lambda session: session.run(
                "UPDATE alerts SET state = ?, tries = tries + 1, due = coalesce(?, due) WHERE number = ?",
                (state, due, number),
            )
        )

    def waiting(self) -> int:
        """Counts the alerts that are still to be sent."""
        return int(self._database.read("SELECT count(*) FROM alerts WHERE state = 'waiting'")[0][0])
