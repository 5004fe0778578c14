"""The five verbs of a registry of runs, wherever it keeps them: here, in a file, or in a service."""

from __future__ import annotations

from typing import Protocol

from ebbtide.events.event import Event
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.verdict import Verdict


class RunRegistry(Protocol):
    """Takes what happens in runs, and says what to do before their next call.

    `Runs` is the registry, whose store keeps the runs in memory, in a file, or in the database of a service.
    `ServiceClient` asks the registry of a service. Adapters know these verbs alone, and take either.
    """

    def record(self, run_id: str, event: Event) -> Verdict:
        """Takes one more event of a run; returns what came at it, or holds."""

    def before_model(self, run_id: str, *, agent: str | None = None) -> Advice:
        """Returns what to do before the next call of a run's model, or of the model of one of its agents."""

    def acknowledge(self, run_id: str, *, agent: str | None = None) -> object:
        """Records that a person has seen what holds, and lets the run go on."""

    def end(self, run_id: str) -> RunStanding:
        """Ends a run; returns what it has come to."""

    def standing(self) -> list[RunStanding]:
        """Returns how every run stands, the most urgent first."""
