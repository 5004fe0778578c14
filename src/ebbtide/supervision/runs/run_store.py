"""Where runs are kept that are not at hand."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from ebbtide.events.event import Event
from ebbtide.supervision.ladder import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStanding:
    """How one run stands.

    Args:
        run_id: The run.
        action: The strictest action that holds.
        kind: What was found, as in `Verdict.kind`; None where nothing was.
        reason: Why, in one sentence for a person.
        events: Events so far.
        cost_usd: What they cost, in dollars; None where that is not known.
        tokens: Tokens of all classes; None where they are not known.
        latest: When the run was last heard of, in seconds since 1970.
        ended: Whether it has ended.
    """

    run_id: str
    action: Action
    kind: str | None
    reason: str
    events: int
    cost_usd: float | None
    tokens: int | None
    latest: float
    ended: bool = False

    @property
    def urgency(self) -> tuple[bool, int, float, float]:
        """Sorts runs: those that go on first, then by the strictest action, the highest cost, the latest."""
        return (not self.ended, self.action.rank, self.cost_usd or 0.0, self.latest)

    def to_dict(self) -> dict[str, Any]:
        """The wire form."""
        return asdict(self)

    @classmethod
    def from_dict(cls, wire: Mapping[str, Any]) -> RunStanding:
        """Read the wire form back.

        Raises:
            KeyError, TypeError, ValueError: It is none.
        """
        return cls(**{**wire, "action": Action(wire["action"])})


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One run as a store keeps it.

    Args:
        standing: How it stands.
        revision: Grows with each change: what is older does not take the place of what is newer.
        state: What `Supervisor.to_bytes` gave: a few KB.
        place: Of the latest event in it, in the log that is kept beside; 0 where none is kept.
        checks: How many checks are in it, likewise.
    """

    standing: RunStanding
    revision: int
    state: bytes
    place: int = 0
    checks: int = 0


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """That somebody asked before a call of a model, which hands over what is to be said.

    Args:
        number: Of the checks of its run, from 1.
        place: Of the latest event before it; 0 where there was none.
        agent: Whose model is called; None where nobody says.
        at: Seconds on the clock of the events.
    """

    number: int
    place: int
    agent: str | None
    at: float | None


class RunLog(Protocol):
    """A log of all events and checks, kept beside a store.

    What the stored state of a run lacks is read from it, so that a state is written only now and then.
    """

    def since(self, run_id: str, place: int, /) -> Iterable[tuple[int, Event]]:
        """The events of a run after a place, each with its own.

        Raises:
            StoreError: They cannot be read.
        """

    def checks(self, run_id: str, /) -> Iterable[ModelCheck]:
        """All checks of a run, by their numbers.

        Raises:
            StoreError: They cannot be read.
        """

    def add_check(self, run_id: str, check: ModelCheck, /) -> None:
        """Keep a check, soon: it is not waited for.

        Raises:
            StoreError: It cannot be taken.
        """


class RunStore(Protocol):
    """Keeps the latest state of each run. It is called from several threads at once.

    Any object with these methods is one: `Runs(store=...)`. `SQLiteRunStore` keeps runs in a file.

    >>> store = MemoryRunStore()
    >>> standing = RunStanding(
    ...     run_id="run 1",
    ...     action=Action.ALLOW,
    ...     kind=None,
    ...     reason="No reason to stop.",
    ...     events=1,
    ...     cost_usd=None,
    ...     tokens=None,
    ...     latest=1.76e9,
    ... )
    >>> store.save([StoredRun(standing=standing, revision=1, state=b"")])
    >>> store.load("run 1").standing.events
    1
    """

    @property
    def is_durable(self) -> bool:
        """Whether what is saved is there after a crash."""

    def save(self, runs: Sequence[StoredRun], /) -> None:
        """Put runs in the place of older revisions of them; all of them or none.

        Raises:
            StoreError: They cannot be written.
        """

    def load(self, run_id: str, /) -> StoredRun | None:
        """One run; None where it is not known."""

    def delete(self, run_id: str, /) -> None:
        """Forget a run; one that is not known changes nothing."""

    def standings(self) -> Iterable[RunStanding]:
        """How every run stood when it was saved."""


class MemoryRunStore:
    """Runs in the memory of this process, a few KB each.

    Args:
        most: Runs that are kept; for one more, the one that was saved first is forgotten.

    Attributes:
        forgotten: Runs that made room for others before they had ended.
    """

    is_durable = False

    def __init__(self, most: int = 1_000_000) -> None:
        self._most = most
        self._lock = threading.RLock()
        self._runs: dict[str, StoredRun] = {}
        self.forgotten = 0

    def save(self, runs: Sequence[StoredRun], /) -> None:
        """Put runs in the place of older revisions of them."""
        with self._lock:
            for run in runs:
                run_id = run.standing.run_id
                before = self._runs.get(run_id)
                if before is not None and before.revision > run.revision:
                    continue
                self._runs.pop(run_id, None)
                if len(self._runs) >= self._most:
                    self.forgotten += not self._runs.pop(next(iter(self._runs))).standing.ended
                self._runs[run_id] = run

    def load(self, run_id: str, /) -> StoredRun | None:
        """One run; None where it is not known."""
        return self._runs.get(run_id)

    def delete(self, run_id: str, /) -> None:
        """Forget a run; one that is not known changes nothing."""
        self._runs.pop(run_id, None)

    def standings(self) -> Iterable[RunStanding]:
        """How every run stood when it was saved."""
        return [run.standing for run in list(self._runs.values())]
