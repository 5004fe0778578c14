"""A registry of runs, wherever it keeps them: here, in a file, or in a service."""

from __future__ import annotations

from typing import Protocol

from ebbtide.events.event import Event
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.verdict import Verdict


class RunRegistry(Protocol):
    """Takes what happens in runs, and says what to do before their next call.

    `Runs` is one, in memory or in the file of its store; `LiveRuns` is that of a service, which `ServiceRuns`
    asks from elsewhere.
    """

    def record(self, run_id: str, event: Event) -> Verdict:
        """As `Runs.record`."""

    def before_model(self, run_id: str, *, agent: str | None = None) -> Advice:
        """As `Runs.before_model`."""

    def acknowledge(self, run_id: str, *, agent: str | None = None) -> None:
        """As `Runs.acknowledge`."""

    def end(self, run_id: str) -> RunStanding:
        """As `Runs.end`."""

    def standing(self) -> list[RunStanding]:
        """As `Runs.standing`."""
