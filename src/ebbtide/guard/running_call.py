"""One call that was let through, and the attempts that failed around it."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Protocol

from ebbtide.budget.scope import Reservation
from ebbtide.budget.shared.budget_reservation import BudgetReservation
from ebbtide.events.usage import Usage
from ebbtide.guard.operation import Operation

_MOST_FAILED = 1024  # attempts of one operation that are remembered in one enclosing call
_MOST_OPERATIONS = 256


class Attempts:
    """The calls that failed, and were not tried again, inside one enclosing call or run.

    A retry is the same call again, after it failed, inside the same enclosing call. When an outer layer tries
    again, the calls that this makes are first attempts of a new enclosing call: a retry counts once, in the
    layer that decided it.
    """

    __slots__ = ("_failed",)

    def __init__(self) -> None:
        self._failed: dict[tuple[str, str], set[int]] = {}

    def failed(self, operation: Operation) -> set[int]:
        """Returns the attempts of an operation that failed; to take one out is to try it again."""
        return self._failed.get((operation.kind, operation.name)) or set()

    def add(self, operation: Operation, key: int | None) -> None:
        """Remembers an attempt that failed."""
        if key is None:
            return
        if len(self._failed) >= _MOST_OPERATIONS:
            self._failed.clear()
        failed = self._failed.setdefault((operation.kind, operation.name), set())
        if len(failed) >= _MOST_FAILED:
            failed.clear()
        failed.add(key)


class Settling(Protocol):
    """Interface to settle a call when it has ended: the `Dispatcher`."""

    def check(self) -> None:
        """Raises if a call under way has to be cut."""

    def received(self, running: RunningCall, item: Any) -> None:
        """Takes an item of a stream."""

    def finish(self, running: RunningCall, result: Any) -> Any:
        """Records that a call succeeded; returns its result."""

    def finish_stream(self, running: RunningCall) -> None:
        """Records that a stream was read to its end."""

    def fail(self, running: RunningCall, error: BaseException) -> None:
        """Records that a call raised."""

    def abandon(self, running: RunningCall) -> None:
        """Records that nobody reads the rest of a stream."""

    def settle(self, running: RunningCall, usage: Usage) -> None:
        """Records what a call took after it has ended."""


class RunningCall:
    """A call that was let through.

    Args:
        dispatcher: The gate that let it through.
        around: The attempts among which it counts.
        node_id: Its node in the graph; None where the graph failed.
        reservation: Amount set aside for it.
        lease: Amount set aside for it in budgets that others draw on too; None if nothing was.

    Attributes:
        usage: Usage that the caller reports.
        result: Value that it returned.
        ended: True if it has its outcome.
    """

    __slots__ = (
        "_attempts",
        "args",
        "around",
        "dispatcher",
        "ended",
        "kwargs",
        "lease",
        "node_id",
        "operation",
        "reservation",
        "result",
        "usage",
    )

    def __init__(
        self,
        dispatcher: Settling,
        operation: Operation,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        *,
        around: Attempts,
        node_id: str | None,
        reservation: Reservation,
        lease: tuple[BudgetReservation, ...] | None = None,
    ) -> None:
        self.dispatcher = dispatcher
        self.operation = operation
        self.args = args
        self.kwargs = kwargs
        self.around = around
        self.node_id = node_id
        self.reservation = reservation
        self.lease = lease
        self.usage: Usage | None = None
        self.result: Any = None
        self.ended = False
        self._attempts: Attempts | None = None

    def settle(self, usage: Usage) -> None:
        """Records what the call took after it has ended: a time-out that was billed, or was not.

        What was set aside for it counts until then. What is known already stays.

        Raises:
            ConfigError: A count or a cost cannot be.
        """
        self.dispatcher.settle(self, usage)

    @property
    def attempts(self) -> Attempts:
        """Attempts that were made inside it."""
        if self._attempts is None:
            self._attempts = Attempts()
        return self._attempts


#: The call inside which the code here runs.
enclosing: ContextVar[RunningCall | None] = ContextVar("ebbtide_call", default=None)


def attempt_key(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int | None:
    """Returns a hash of the arguments of an attempt in this process; None if they cannot be distinguished."""
    try:
        return hash((repr(args), repr(kwargs)))
    except Exception:  # noqa: BLE001 - the repr of a foreign object may do anything
        return None
