"""Who pays for the runs of a service: what their events and checks have said."""

from __future__ import annotations

import dataclasses
import threading
from typing import Final

from ebbtide.bounded import Bounded
from ebbtide.budget.shared.budget import Spender
from ebbtide.service.runs.run_database import RunDatabase
from ebbtide.service.runs.run_origin import RunOrigin

_MOST: Final = 10_000  # runs at hand; of the others the database knows it


class RunSpenders:
    """Knows the project, the agent and the user of each run. It may be used from several threads.

    Args:
        database: Knows those that are not at hand.
    """

    def __init__(self, database: RunDatabase) -> None:
        self._database = database
        self._spenders: Bounded[str, Spender] = Bounded(_MOST)
        self._lock = threading.Lock()

    def of(self, run_id: str) -> Spender:
        """Who pays for a run.

        Raises:
            StoreError: The database cannot be read.
        """
        with self._lock:
            spender = self._spenders.get(run_id)
            if spender is None:
                spender = _named(Spender(run=run_id), self._database.origin(run_id) or RunOrigin())
            self._spenders.renew(run_id, spender)
            return spender

    def name(self, run_id: str, origin: RunOrigin) -> bool:
        """Take what somebody says of a run, where they name anything; whether it is new.

        Raises:
            StoreError: The database cannot be read.
        """
        before = self.of(run_id)
        spender = _named(before, origin)
        if spender == before:
            return False
        with self._lock:
            self._spenders.renew(run_id, spender)
        return True

    def forget(self, run_id: str) -> None:
        """A run is deleted."""
        with self._lock:
            self._spenders.pop(run_id, None)


def _named(spender: Spender, origin: RunOrigin) -> Spender:
    names = {"project": origin.project, "agent": origin.agent, "user": origin.user}
    return dataclasses.replace(spender, **{key: name for key, name in names.items() if name is not None})
