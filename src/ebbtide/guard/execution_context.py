"""The execution context: wraps the calls of a run, so that limits hold and observers see each call.

Source: divergence spec, sections 1, 2.5, 4 and 8 (clauses X01, X02).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, overload

from ebbtide.budget.limits import Limits
from ebbtide.budget.prices import Prices
from ebbtide.budget.scope import Scope
from ebbtide.budget.shared.budgets import Budgets
from ebbtide.checks import whole
from ebbtide.divergence.graph.execution_graph import ExecutionGraph
from ebbtide.engine_state import pack_state, unpack_state
from ebbtide.errors import ConfigError, RunHalted, expect, shown
from ebbtide.guard.dispatcher import Dispatcher, RunningCall, enclosing
from ebbtide.guard.guard_report import RunReport
from ebbtide.guard.guidance import Guidance
from ebbtide.guard.metering import Metering
from ebbtide.guard.observers import Observers, Pipeline
from ebbtide.guard.operation import CallOptions, Operation, name_of, parameters_of
from ebbtide.guard.shared_spending import SharedSpending
from ebbtide.guard.wrapping import wrapped

# For types alone: a context without a supervisor does not wait for one.
if TYPE_CHECKING:
    from ebbtide.supervision.runs.runs import RunSupervisor
    from ebbtide.supervision.supervisor import Supervisor

_F = TypeVar("_F", bound=Callable[..., Any])
_MAGIC = b"EBXC\x01"  # what the bytes are, and the version of their form
_MOST_NAMES = 256  # of calls in `with` blocks
_MOST_RESULTS = 1_000_000  # of calls, in a report


class ExecutionContext:
    """Guard of one run, which lets calls through as far as the limits allow, and informs its observers.

    What a call may take is reserved, in every `Scope` around it, before it is dispatched, and settled when
    it has ended. A call that would pass a limit is not made: it raises `LimitExceeded`, with the report of
    what was done so far. The supervisor is asked before each call and informed after it; where it
    stops the run, or wants a person asked, the next call raises `RunStopped`. Warnings, verdicts and refusals
    go to the pipeline. What fails in the graph, the supervisor, the pipeline or a meter is counted in the
    report, and the run does not notice.

    It serves any number of threads and tasks at once, inside its ``with`` block or without one.

    Args:
        limits: Limits of the run; None sets no limit.
        name: Name of the run, and of its scope.
        graph: Gets a node for each call; None draws no graph.
        supervisor: Watches the run; one that only observes (`shadow`) refuses nothing. None watches nothing.
        chain_id: The chain of its events; None takes that of the graph, or a new one.
        pipeline: Gets every event; None forwards none.
        prices: Prices of tokens, after what a meter says; None takes public ones where the extra ``prices``
            is installed.
        keep: Latest calls whose results the report holds.
        budgets: Budgets that others draw on too, as `Budgets.of` gives them for an agent, a project or a
            user; a call that they do not allow raises `BudgetRefused`. Their run is the chain of the events,
            where they name none. A call waits for their store in its thread, or in the event loop.
        clock: Seconds on a monotonic clock.

    >>> from ebbtide.errors import LimitExceeded
    >>> with ExecutionContext(Limits(tool_calls=2)) as run:
    ...     look = run.wrap_tool_call(lambda place: f"nothing in the {place}")
    ...     try:
    ...         for place in ("attic", "cellar", "garden"):
    ...             _ = look(place)
    ...     except LimitExceeded as halt:
    ...         print(halt.kind, halt.limit, halt.report.results)
    tool_calls 2 ('nothing in the attic', 'nothing in the cellar')
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        name: str = "run",
        graph: ExecutionGraph | None = None,
        supervisor: Supervisor | RunSupervisor | None = None,
        chain_id: str | None = None,
        pipeline: Pipeline | None = None,
        prices: Prices | None = None,
        keep: int = 16,
        budgets: Budgets | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        expect("limits", limits, Limits, optional=True)
        expect("graph", graph, ExecutionGraph, optional=True)
        expect("prices", prices, Prices, optional=True)
        expect("budgets", budgets, Budgets, optional=True)
        whole("keep", keep, 0, _MOST_RESULTS)
        if pipeline is not None and not callable(getattr(pipeline, "emit_safety_event", None)):
            raise TypeError(f"pipeline: expected a Pipeline or None, not {shown(pipeline)}")
        self.scope = Scope(limits or Limits(), name=name, clock=clock)
        self.graph = graph
        if chain_id is None:
            chain_id = uuid.uuid4().hex if graph is None else graph.chain_id
        self._observers = Observers(graph, pipeline, name=name, chain_id=chain_id)
        self._operations: dict[tuple[str, str], Operation] = {}
        self._guidance = Guidance(supervisor, self._observers, chain_id=chain_id, clock=clock)
        #: For adapters of frameworks whose callables cannot be wrapped.
        self.dispatcher = Dispatcher(
            self.scope,
            self._observers,
            self._guidance,
            Metering(Prices() if prices is None else prices, self._observers),
            SharedSpending(
                budgets if budgets is None or budgets.spender.run else budgets.of(run=chain_id),
                self.scope,
                self._observers,
            ),
            keep=keep,
        )

    def __enter__(self) -> Self:
        self.scope.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        self.scope.__exit__()
        self.dispatcher.flush()
        root = self._observers.root_id
        if error is None:
            self._observers.succeeded(root)
        elif isinstance(error, Exception) and not isinstance(error, RunHalted):
            self._observers.failed(root, type(error).__name__)
        else:
            self._observers.halted(root, type(error).__name__)

    @overload
    def wrap_llm_call(self, function: _F, /, **options: Unpack[CallOptions]) -> _F: ...
    @overload
    def wrap_llm_call(self, /, **options: Unpack[CallOptions]) -> Callable[[_F], _F]: ...
    def wrap_llm_call(
        self, function: Callable[..., Any] | None = None, /, **options: Unpack[CallOptions]
    ) -> Any:
        """Returns a callable that asks a model, and now goes through this context. Also a decorator.

        Args:
            function: Plain, asynchronous, or a generator of either kind. What it gives and raises comes
                through untouched.
            options: Fields of `Operation`. A limit of cost or tokens needs `usage` or `at_most`.

        Raises:
            ConfigError: A limit could not be counted.
        """
        return self._wrap("llm", function, options)

    @overload
    def wrap_tool_call(self, function: _F, /, **options: Unpack[CallOptions]) -> _F: ...
    @overload
    def wrap_tool_call(self, /, **options: Unpack[CallOptions]) -> Callable[[_F], _F]: ...
    def wrap_tool_call(
        self, function: Callable[..., Any] | None = None, /, **options: Unpack[CallOptions]
    ) -> Any:
        """Returns a callable that is a tool, and now goes through this context. Also a decorator."""
        return self._wrap("tool", function, options)

    @contextmanager
    def call(
        self, kind: str, name: str, /, args: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]
    ) -> Iterator[RunningCall]:
        """Makes one call in the ``with`` block, which may say its ``result`` and its ``usage``.

        Args:
            kind: "llm", "tool", or a kind of your own.
            name: The model or tool that is called.
            args: Its arguments, for the monitor.

        Raises:
            LimitExceeded: It would pass a limit.
            LimitUnknown: A limit cannot be counted, since a call did not say what it took.
            BudgetRefused: A budget that others draw on too does not allow it, or wants a person asked.
            CallRefused: It is a tool, and the result is due.
            RunStopped: The supervisor has ended the run.
        """
        options["name"] = name
        operation = self._operation(Operation(kind=kind, **options))
        running = self.dispatcher.begin(operation, (), args or {})
        token = enclosing.set(running)
        try:
            yield running
        except BaseException as error:
            self.dispatcher.fail(running, error)
            raise
        else:
            self.dispatcher.finish(running, running.result)
        finally:
            enclosing.reset(token)

    def take_nudges(self) -> list[str]:
        """Returns the supervisor's nudges for the model, each once: put them into the next message."""
        return self._guidance.nudges()

    @property
    def unsettled(self) -> tuple[RunningCall, ...]:
        """Returns the latest calls that ended without a known usage: `settle` each once it is known."""
        return self.dispatcher.unsettled

    def report(self) -> RunReport:
        """Returns what the run has come to."""
        return self.dispatcher.report()

    def to_bytes(self) -> bytes:
        """Returns what was taken so far and what is set aside for calls under way, in some hundred bytes."""
        return pack_state({"chain_id": self._observers.chain_id, "scope": self.scope.to_state()}, _MAGIC)

    @classmethod
    def from_bytes(cls, data: bytes, limits: Limits | None = None, **how: Any) -> Self:
        """Returns the context that `to_bytes` described; what was taken before counts against the limits.

        Time counts as long as a process had the context, and not between them. A supervisor and a graph have
        states of their own.

        Args:
            limits: Limits of the same kinds as before; they may allow more or less.
            how: The other arguments that the context was made with.

        Raises:
            ConfigError: The bytes are of another version or damaged, or a kind that was limited is not.
        """
        state = unpack_state(data, _MAGIC, "an execution context")
        chain_id = state.get("chain_id")
        if not isinstance(chain_id, str):
            raise ConfigError(f"not the state of an execution context: chain_id = {chain_id!r:.60}")
        if how.get("graph") is None:
            how.setdefault("chain_id", chain_id)
        context = cls(limits, **how)
        context.scope.restore(state.get("scope", {}))
        return context

    def _wrap(self, kind: str, function: Callable[..., Any] | None, options: CallOptions) -> Any:
        if function is None:
            return lambda decorated: self._wrap(kind, decorated, options)
        settings: CallOptions = {"name": name_of(function), **options}
        operation = Operation(kind=kind, parameters=parameters_of(function), **settings)
        self.dispatcher.require(operation)
        return wrapped(self.dispatcher, function, operation)

    def _operation(self, operation: Operation) -> Operation:
        """Returns the operation of earlier calls of this name and options, with what was learned of them."""
        key = (operation.kind, operation.name)
        before = self._operations.get(key)
        if before is not None and before.options == operation.options:
            return before
        if len(self._operations) >= _MOST_NAMES:
            self._operations.clear()
        if before is not None:
            operation.most_usd, operation.most_tokens = before.most_usd, before.most_tokens
        self._operations[key] = operation
        return operation
