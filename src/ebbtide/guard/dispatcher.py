"""The life of a call: let through or refused, under way, settled.

Source: divergence spec, sections 1 and 4 (clauses X01, X02).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

from ebbtide.budget.limits import LimitKind
from ebbtide.budget.scope import Reservation, Scope, in_event_loop
from ebbtide.budget.shared.budget_refusal import BudgetRefused
from ebbtide.budget.shared.budget_reservation import BudgetReservation
from ebbtide.errors import CallRefused, LimitExceeded, LimitUnknown, RunHalted, error_text
from ebbtide.events.event import ModelCall, ModelPart, ToolCall
from ebbtide.events.usage import Usage
from ebbtide.guard.guard_report import CallRecord, Outcome, RunReport
from ebbtide.guard.guidance import Guidance
from ebbtide.guard.metering import Metering
from ebbtide.guard.observers import WORDS, Observers, status_of
from ebbtide.guard.operation import Operation
from ebbtide.guard.shared_spending import SharedSpending

_MOST_WAITING = 64  # events of streams that were let go
MOST_WAIT_S = 60.0  #: that a call waits for one under way, where nobody knows what it takes
_POLL_S = 0.005
_MOST_UNSETTLED = 256  # calls that have ended, and did not say what they took
_MOST_REPORTED = 256  # limits whose excess was reported
_MOST_FAILED = 1024  # attempts of one operation that are remembered in one enclosing call
_MOST_OPERATIONS = 256
_SUCCESS = Outcome.SUCCESS  # reading a member off its enum takes as long as a lock


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


@dataclass(slots=True, eq=False)
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

    dispatcher: Dispatcher
    operation: Operation
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    _: KW_ONLY
    around: Attempts
    node_id: str | None
    reservation: Reservation
    lease: tuple[BudgetReservation, ...] | None = None
    usage: Usage | None = field(default=None, init=False)
    result: Any = field(default=None, init=False)
    ended: bool = field(default=False, init=False)
    _attempts: Attempts | None = field(default=None, init=False)

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


class Dispatcher:
    """Gate of calls, which lets them through and settles them.

    Adapters that cannot wrap a callable use it directly.

    Args:
        scope: The scope whose limits hold, with those of the scopes around.
        observers: Receive every event.
        guidance: Refuses the calls that the supervisor does not want.
        spending: Reserves in the budgets that others draw on too.
        keep: Calls whose results are kept.
    """

    def __init__(
        self,
        scope: Scope,
        observers: Observers,
        guidance: Guidance,
        metering: Metering,
        spending: SharedSpending,
        *,
        keep: int,
    ) -> None:
        self._scope = scope
        self._observers = observers
        self._guidance = guidance
        self._metering = metering
        self._spending = spending
        self._attempts = Attempts()
        self._latest: deque[tuple[Operation, Outcome, Any]] = deque(maxlen=keep)
        self._reported_limits: set[tuple[str, str]] = set()
        self._halted: RunHalted | None = None
        self._waiting: deque[dict[str, Any]] = deque(maxlen=_MOST_WAITING)
        self._unsettled: deque[RunningCall] = deque(maxlen=_MOST_UNSETTLED)

    def require(self, operation: Operation) -> None:
        """Checks that what a callable takes can be counted, where a limit needs it.

        Raises:
            ConfigError: It cannot.
        """
        self._metering.require(operation, [*self._scope.counted(), *self._spending.counted()])

    def begin(self, operation: Operation, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> RunningCall:
        """Lets a call through that is about to be dispatched; `finish`, `fail` or `abandon` has to follow.

        Raises:
            LimitExceeded: It would pass a limit.
            LimitUnknown: A limit cannot be counted, since a call did not say what it took.
            BudgetRefused: A budget that others draw on too does not allow it, or wants a person asked.
            CallRefused: It is a tool, and the result is due.
            RunStopped: The supervisor has ended the run.
        """
        if self._waiting:
            self.flush()
        parent = enclosing.get()
        if parent is not None and parent.dispatcher is not self:
            parent = None
        attempts = self._attempts if parent is None else parent.attempts
        # Before the limits are asked: a call that they refuse was meant all the same, and is in the pattern.
        node_id = self._observers.started(operation, None if parent is None else parent.node_id)
        failed = attempts.failed(operation)
        key = attempt_key(args, kwargs) if failed else None
        cost_usd, tokens, bound = self._metering.at_most(operation, args, kwargs)
        lease = None
        try:
            self._guidance.before(operation)
            lease = self._spending.reserve(operation, cost_usd, is_bound=bound[0])
            reservation = self._scope.reserve(
                operation.kind, cost_usd=cost_usd, tokens=tokens, retry=key in failed, bound=bound
            )
        except (RunHalted, CallRefused) as refusal:
            late_reservation = None
            if isinstance(refusal, LimitExceeded) and self.may_wait(operation) and not in_event_loop():
                late_reservation = self._reserve_late(operation, retry=key in failed)
            if late_reservation is None:
                self._spending.settle(lease, 0.0, failed=True)
                self._observers.halted(node_id, str(refusal))
                if isinstance(refusal, RunHalted):
                    self._attach(refusal)
                raise
            reservation = late_reservation
        if key is not None:
            failed.discard(key)
        return RunningCall(
            self,
            operation,
            args,
            kwargs,
            around=attempts,
            node_id=node_id,
            reservation=reservation,
            lease=lease,
        )

    def may_wait(self, operation: Operation) -> bool:
        """Returns True if a call has to wait for one under way.

        Its most is not known, and all there is is set aside.

        One inside a call that costs something does not wait: it might wait for that one.
        """
        if operation.is_free or operation.at_most is not None or operation.most_usd is not None:
            return False
        around = enclosing.get()
        return (around is None or around.operation.is_free) and self._scope.is_full()

    async def room(self, operation: Operation) -> None:
        """Waits, for `MOST_WAIT_S` at most, until a call under way has settled."""
        import asyncio

        end = time.monotonic() + MOST_WAIT_S
        # What settles may be a thread, or the garbage collector: neither can set an event of this loop.
        while self.may_wait(operation) and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_S)

    def check(self) -> None:
        """Raises if a call under way has to be cut.

        Raises:
            LimitExceeded: The time is up.
            RunStopped: The supervisor has ended the run.
        """
        try:
            self._guidance.check()
            self._scope.check()
        except RunHalted as refusal:
            self._attach(refusal)
            raise

    def received(self, running: RunningCall, item: Any) -> None:
        """Takes an item of a stream."""
        operation = running.operation
        running.usage = self._metering.of_item(operation, running.usage, item)
        if operation.kind == "llm" and self._guidance.watches:
            text = self._text(operation, item)
            if text:
                self._guidance.record(ModelCall, part=ModelPart.CHUNK, text=text)

    def finish(self, running: RunningCall, result: Any) -> Any:
        """Records that a call succeeded; returns its result."""
        if not running.ended:
            self._succeed(
                running, result, *self._metering.of_result(running.operation, running.usage, result)
            )
        return result

    def finish_stream(self, running: RunningCall) -> None:
        """Records that a stream was read to its end."""
        if not running.ended:
            self._succeed(
                running, None, *self._metering.so_far(running.operation, running.usage, is_whole=True)
            )

    def fail(self, running: RunningCall, error: BaseException) -> None:
        """Records that a call raised."""
        if running.ended:
            return
        name = type(error).__name__
        if isinstance(error, RunHalted | CallRefused) or not isinstance(error, Exception):
            # One inside it was refused, or it was cancelled: it may have taken all that was set aside.
            self._settle(running, *self._metering.so_far(running.operation, running.usage), failed=True)
            self._observers.halted(running.node_id, name)
            self._latest.append((running.operation, Outcome.HALTED, name))
            return
        usage, cost_usd = self._metering.of_failure(running.operation, running.usage, error)
        self._settle(running, usage, cost_usd, failed=True)
        self._observers.failed(running.node_id, name)
        self._latest.append((running.operation, Outcome.FAILURE, name))
        running.around.add(running.operation, attempt_key(running.args, running.kwargs))
        if self._guidance.watches:
            if running.operation.kind == "llm":
                self._record(running, usage, cost_usd, error=True)
            else:
                words, status = error_text(error, WORDS), status_of(error)
                self._record(running, usage, cost_usd, error=True, result=words, status=status)

    def abandon(self, running: RunningCall) -> None:
        """Records that a stream was let go; its events go out with the next call or the report."""
        if not running.ended:
            # This may be the garbage collector, in the middle of anything: the pipeline, for one.
            so_far = self._metering.so_far(running.operation, running.usage)
            self._waiting += self._settle_in_scope(running, *so_far, failed=True, later=True)
            self._observers.halted(running.node_id, "not read to its end")
            self._latest.append((running.operation, Outcome.HALTED, None))

    def settle(self, running: RunningCall, usage: Usage) -> None:
        """Records what a call took after it has ended.

        Raises:
            ConfigError: A count or a cost cannot be.
        """
        _, cost_usd = self._metering.learned(running.operation, usage.checked())
        running.usage = usage
        self._spending.settle(running.lease, cost_usd, failed=True)
        for warning in running.reservation.settle(cost_usd, usage.tokens, failed=True):
            self._emit(warning.to_dict())

    @property
    def unsettled(self) -> tuple[RunningCall, ...]:
        """Returns the latest calls that have ended, and did not say what they took."""
        return tuple(running for running in self._unsettled.copy() if running.usage is None)

    def flush(self) -> None:
        """Lets out the events of streams that were let go."""
        with suppress(IndexError):
            while True:
                self._emit(self._waiting.popleft())

    def report(self) -> RunReport:
        """Returns what the run has come to."""
        self.flush()
        return RunReport(
            chain_id=self._observers.chain_id,
            spent=self._scope.spent(),
            calls=tuple(
                CallRecord(kind=operation.kind, name=operation.name, outcome=outcome, result=result)
                for operation, outcome, result in self._latest.copy()
            ),
            halted=self._halted,
            unknown_prices=self._metering.unknown_prices,
            faults=dict(self._observers.faults),
            last_fault=self._observers.last_fault,
        )

    def _reserve_late(self, operation: Operation, *, retry: bool) -> Reservation | None:
        """Reserves as `begin` does, in a thread; None if there is no room."""
        end = time.monotonic() + MOST_WAIT_S
        while self.may_wait(operation) and time.monotonic() < end:
            time.sleep(_POLL_S)
        try:
            return self._scope.reserve(
                operation.kind,
                cost_usd=operation.most_usd,
                tokens=operation.most_tokens,
                retry=retry,
                bound=(False, False),
            )
        except RunHalted:
            return None

    def _succeed(
        self, running: RunningCall, result: Any, usage: Usage | None, cost_usd: float | None
    ) -> None:
        self._settle(running, usage, cost_usd)
        self._observers.succeeded(running.node_id, cost_usd, usage)
        self._latest.append((running.operation, _SUCCESS, result))
        if self._guidance.watches:
            if running.operation.kind == "llm":
                self._record(running, usage, cost_usd, text=self._text(running.operation, result))
            else:
                # A tool that returns nothing has answered; an answer that is None would be an unknown one.
                self._record(running, usage, cost_usd, result="" if result is None else result)

    def _settle(
        self, running: RunningCall, usage: Usage | None, cost_usd: float | None, *, failed: bool = False
    ) -> None:
        for event in self._settle_in_scope(running, usage, cost_usd, failed=failed):
            self._emit(event)

    def _settle_in_scope(
        self,
        running: RunningCall,
        usage: Usage | None,
        cost_usd: float | None,
        *,
        failed: bool,
        later: bool = False,
    ) -> list[dict[str, Any]]:
        running.ended = True
        self._spending.settle(running.lease, cost_usd, failed=failed, later=later)
        operation = running.operation
        if operation.is_free and usage is None:
            warnings = running.reservation.settle(0.0, 0)
        elif usage is None:
            subject = operation.model or operation.name
            warnings = running.reservation.settle(cost_usd, failed=failed, subject=subject)
            kinds = (LimitKind.COST_USD, LimitKind.TOKENS)
            if running.lease is not None or any(self._scope.left(kind) is not None for kind in kinds):
                self._unsettled.append(running)
        else:
            subject = usage.model or operation.model or operation.name
            warnings = running.reservation.settle(cost_usd, usage.tokens, failed=failed, subject=subject)
        events = [warning.to_dict() for warning in warnings]
        if cost_usd is None and not operation.unknown_reported:
            # Where no money is counted, nobody has to know.
            is_counted = running.lease is not None or self._scope.left(LimitKind.COST_USD) is not None
            operation.unknown_reported = is_counted
            if operation.unknown_reported:
                facts = {"name": operation.name, "model": operation.model}
                events.append({"event_type": "COST_UNKNOWN", "severity": "warn", **facts})
        return events

    def _attach(self, refusal: RunHalted) -> None:
        # A copy: the one that is raised holds on to every frame that it passes through.
        self._halted = type(refusal)(*refusal.args)
        refusal.report = self.report()
        if isinstance(refusal, LimitExceeded | LimitUnknown | BudgetRefused):
            limit = (
                (refusal.refusal.key, refusal.refusal.reason.value)
                if isinstance(refusal, BudgetRefused)
                else (refusal.scope, refusal.kind)
            )
            if limit not in self._reported_limits and len(self._reported_limits) < _MOST_REPORTED:
                self._reported_limits.add(limit)
                self._emit(refusal.to_dict())

    def _emit(self, event: dict[str, Any]) -> None:
        self._observers.emit({**event, "chain_id": self._observers.chain_id})

    def _text(self, operation: Operation, result: Any) -> str | None:
        if operation.text is None:
            return result if isinstance(result, str) else None
        try:
            text = operation.text(result)
            if text is not None and not isinstance(text, str):
                raise TypeError(f"{type(text).__name__}: expected a text or None")  # noqa: TRY301
        except Exception as error:  # noqa: BLE001
            self._observers.fault("text", error)
            return None
        return text

    def _record(
        self, running: RunningCall, usage: Usage | None, cost_usd: float | None, **fields: Any
    ) -> None:
        operation = running.operation
        if usage is not None and (running.usage is not None or not operation.is_free):
            fields["usage"] = replace(usage, model=usage.model or operation.model, cost_usd=cost_usd)
        if operation.kind == "llm":
            self._guidance.record(ModelCall, **fields)
        else:
            args = operation.arguments(running.args, running.kwargs)
            self._guidance.record(ToolCall, name=operation.name, args=args, **fields)
