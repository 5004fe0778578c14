"""The runs of a service, where an adapter takes a registry: they show on its page, and its Stop ends them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ebbtide.events.event import Event
from ebbtide.service.client import ServiceClient
from ebbtide.supervision.ladder import Action, Cause
from ebbtide.supervision.runs.advice import Advice
from ebbtide.supervision.runs.run_store import RunStanding
from ebbtide.supervision.verdict import Verdict


class ServiceRuns:
    """Hands everything on to a service: ``watch(client, runs=ServiceRuns())``, and so for every adapter.

    Where the service does not answer, the methods raise; an adapter counts that, and its run goes on.

    Args:
        client: Asks the service; None asks the one of this machine.
        project: Of which project the runs are; None where nobody says.
        agent: Which agent works, likewise.
        user: For whom, likewise.
        shadow: Whether nothing is said to the model, and only a person ends a run.

    Example:
        runs = ServiceRuns(project="billing", agent="invoice-agent")
        client = watch(OpenAI(), runs=runs)
    """

    def __init__(
        self,
        client: ServiceClient | None = None,
        *,
        project: str | None = None,
        agent: str | None = None,
        user: str | None = None,
        shadow: bool = False,
    ) -> None:
        self._client = ServiceClient() if client is None else client
        self._project = project
        self._agent = agent
        self._user = user
        self._shadow = shadow

    def record(self, run_id: str, event: Event) -> Verdict:
        """As `Runs.record`.

        Raises:
            ServiceError: The service did not take it.
        """
        return self._client.add(run_id, [event], project=self._project, agent=self._agent, user=self._user)

    def before_model(self, run_id: str, *, agent: str | None = None) -> Advice:
        """As `Runs.before_model`; where a person has ended the run, that.

        Raises:
            ServiceError: The service does not answer.
        """
        advice = self._client.check(run_id, agent=agent, project=self._project, user=self._user)
        is_heeded = not self._shadow or advice.verdict.cause is Cause.PERSON
        return advice if is_heeded else Advice(Verdict())

    def acknowledge(self, run_id: str, *, agent: str | None = None) -> None:
        """As `Runs.acknowledge`.

        Raises:
            ServiceError: The service does not answer, or there is no such run.
        """
        self._client.acknowledge(run_id, agent=agent)

    def end(self, run_id: str) -> RunStanding:
        """As `Runs.end`.

        Raises:
            ServiceError: The service does not answer, or there is no such run.
        """
        return _standing(self._client.end(run_id))

    def standing(self) -> list[RunStanding]:
        """As `Runs.standing`, of all runs of the service.

        Raises:
            ServiceError: The service does not answer.
        """
        standings = [_standing(row) for row in self._client.runs()]
        return sorted(standings, key=lambda standing: standing.urgency, reverse=True)


def _standing(row: dict[str, Any]) -> RunStanding:
    """What a row of the list says."""
    names = {field.name for field in fields(RunStanding)}
    values = {name: value for name, value in row.items() if name in names}
    return RunStanding(**{**values, "action": Action(row["action"])})
