"""One run of a registry, as an `ExecutionContext` asks for it: both watch the same run."""

from __future__ import annotations

from ebbtide.events.event import Event
from ebbtide.supervision.runs.runs import Runs
from ebbtide.supervision.verdict import Verdict


class RunSupervisor:
    """Answers for one run of a registry what a `Supervisor` would.

    Give it as the `supervisor` of an `ExecutionContext`, whose limits hold before a call is made. The
    registry watches the loops of the run, and takes them over a restart.

    Args:
        runs: The registry.
        run_id: The run.

    >>> from ebbtide import ExecutionContext, Limits
    >>> runs = Runs()
    >>> with ExecutionContext(Limits(tool_calls=9), supervisor=RunSupervisor(runs, "run 1")) as context:
    ...     look = context.wrap_tool_call(lambda place: "nothing", name="look")
    ...     _ = look("attic")
    >>> runs.get("run 1").events
    1
    """

    def __init__(self, runs: Runs, run_id: str) -> None:
        self._runs = runs
        self._run_id = run_id

    def record(self, event: Event) -> Verdict:
        """Take an event that has happened."""
        return self._runs.record(self._run_id, event)

    def check_before_model(self, chain_id: str | None = None, *, now: float | None = None) -> Verdict:
        """What to do before a call of the model."""
        return self._runs.before_model(self._run_id, agent=chain_id, now=now).verdict

    def ending(self, chain_id: str) -> Verdict | None:
        """The verdict that ends the chain, if there is one."""
        return self._runs.get(self._run_id).ending(chain_id)
