"""Scopes: limits that hold for everything that is done inside, by however many threads and tasks.

A call reserves what it may take before it is dispatched, in every scope around it or in none, and settles for
what it took when it has ended. So calls that run at the same time cannot take together what no call may take
alone.

Source: divergence spec, section 1 (clause X01).
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, Self, TypeVar

from ebbtide.budget.account import COST_KNOWN, TOKENS_KNOWN, Account, Hold, LimitWarning, Spent
from ebbtide.budget.limits import LimitKind, Limits, Missing
from ebbtide.budget.tally import units
from ebbtide.errors import ConfigError, LimitExceeded
from ebbtide.events.usage import MOST_USD

_P = ParamSpec("_P")
_R = TypeVar("_R")
_NUMBERS = (float, int)

# One for all scopes, since a call reserves in several at once. Re-entrant, since a stream that was let go is
# settled whenever the garbage collector comes by.
_lock = threading.RLock()


class _Entered(NamedTuple):
    scope: Scope
    before: _Entered | None


_here: ContextVar[_Entered | None] = ContextVar("ebbtide_scope", default=None)
# The scopes that the main thread has entered outside of any event loop, the innermost last: those around what
# is done in a thread to which nothing was carried.
_main: list[Scope] = []


class Scope:
    """Limits for everything that is done inside.

    A scope counts from the moment it is made, and lies in the scope that is entered then. To enter it makes
    calls here count in it, and those of asyncio tasks that are started here. A thread of its own counts in
    the scope that the main thread has entered, outside of any event loop; in other cases, such as a server
    whose threads each enter a scope, its function has to be `carried`.

    Args:
        limits: The most that may be taken.
        name: Shown in errors and warnings.
        clock: Seconds on a monotonic clock; None takes that of the scope around, or the machine's.

    Raises:
        LimitExceeded: A scope around it may have no more inside (`max_agents`), or not as deep (`max_depth`).

    >>> with Scope(Limits(tool_calls=1)) as scope:
    ...     call = scope.reserve("tool")
    ...     _ = call.settle(cost_usd=0.02)
    >>> scope.reserve("tool")
    Traceback (most recent call last):
    ebbtide.errors.LimitExceeded: scope 'run' would be at 2 tool_calls, and its limit is 1. ...
    """

    def __init__(
        self, limits: Limits, *, name: str = "run", clock: Callable[[], float] | None = None
    ) -> None:
        entered = _around()
        around: tuple[Account, ...] = entered.accounts if entered else ()
        if clock is None:
            clock = around[0].clock if around else time.monotonic
        with _lock:
            for depth, account in enumerate(around, 1):
                error = account.excess_agent(depth)
                if error is not None:
                    raise error
            for depth, account in enumerate(around, 1):
                account.tally.add_agent(depth)
        self.account = Account(name, limits, clock)
        self.accounts: tuple[Account, ...] = (self.account, *around)

    def __enter__(self) -> Self:
        _here.set(_Entered(self, _here.get()))
        if threading.current_thread() is threading.main_thread() and not in_event_loop():
            _main.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _here.set(_without(_here.get(), self))
        with suppress(ValueError):
            _main.remove(self)

    @property
    def name(self) -> str:
        """Name in errors and warnings."""
        return self.account.name

    @property
    def limits(self) -> Limits:
        """Limits of this scope alone."""
        return self.account.limits

    @property
    def exceeded(self) -> LimitExceeded | None:
        """The last error of this scope's own limits, or None."""
        return self.account.exceeded

    def reserve(
        self,
        kind: str,
        *,
        cost_usd: float | None = None,
        tokens: int | None = None,
        retry: bool = False,
        bound: tuple[bool, bool] | None = None,
    ) -> Reservation:
        """Counts a call and sets aside what it may take, in every scope around it or in none.

        Args:
            kind: "llm" or "tool"; anything else counts as a step alone.
            cost_usd: The most that it can cost. None where nobody knows: it may go while anything is left,
                and sets aside a sixteenth of the limit, or what is left of it.
            tokens: The most tokens of all classes that it can take; None as for `cost_usd`.
            retry: It was tried before, and failed.
            bound: True if `cost_usd` and `tokens` are the most that it can take; else they are guesses, and a
                call that succeeds has to say what it took. None takes what is not None for the most.

        Raises:
            LimitExceeded: A limit would be passed; nothing was counted.
            LimitUnknown: A limit cannot be counted, since a call did not say what it took; nothing was
                counted.
            ConfigError: An amount is negative, infinite or no number.
        """
        request = (
            None if cost_usd is None else _units(cost_usd),
            None if tokens is None else _whole(tokens),
            1,
            kind == "llm",
            kind == "tool",
            retry,
        )
        accounts = self.accounts_here()
        with _lock:
            for account in accounts:
                error = account.excess(request)
                if error is not None:
                    raise error
            holds = [account.take(request) for account in accounts]
        return Reservation(holds, bound or (cost_usd is not None, tokens is not None))

    def is_full(self) -> bool:
        """Returns True if a call of an unknown amount has to wait until one under way has settled."""
        with _lock:
            return any(account.is_full() for account in self.accounts_here())

    def check(self) -> None:
        """Raises if the time is up; for what goes on after it was let through.

        Raises:
            LimitExceeded: `wall_s` of this scope or of one around it has passed.
        """
        for account in self.accounts_here():
            error = account.overdue()
            if error is not None:
                raise error

    def left(self, kind: LimitKind | str) -> float | None:
        """Returns what this scope and those around it still allow of a kind; None if nothing limits it."""
        kind = LimitKind(kind)
        with _lock:
            rests = [account.left(kind) for account in self.accounts]
        return min((rest for rest in rests if rest is not None), default=None)

    def spent(self) -> Spent:
        """Returns what was taken so far."""
        with _lock:
            return self.account.spent()

    def counted(self) -> list[tuple[LimitKind, float]]:
        """Returns the limits of cost and of tokens, here and around, that a call must not leave uncounted."""
        return [
            (kind, limit)
            for account in self.accounts
            if account.limits.refuses_unknown
            for kind in (LimitKind.COST_USD, LimitKind.TOKENS)
            if (limit := getattr(account.limits, kind)) is not None
        ]

    def to_state(self) -> dict[str, Any]:
        """Returns what was taken here, as plain data for JSON; what is set aside counts as spent."""
        with _lock:
            return self.account.to_state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Takes up what `to_state` gave, before anything is taken here.

        Raises:
            ConfigError: It is no such state, or had a limit of a kind that has none here.
        """
        try:
            with _lock:
                self.account.restore(state)
        except ConfigError:
            raise
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ConfigError(f"not the state of a scope: {error!r:.200}") from error

    def accounts_here(self) -> tuple[Account, ...]:
        """Returns the accounts that a call here counts in: this scope's, and those around the call."""
        here = _here.get()
        if here is None and not _main:
            return self.accounts
        scope = _around() if here is None else here.scope
        if scope is None or scope is self:
            return self.accounts
        inner = scope.accounts
        if self.account in inner:
            return inner
        return (*inner, *(account for account in self.accounts if account not in inner))


class Reservation:
    """Amount that was set aside for a call that was let through; it counts until the call has settled."""

    __slots__ = ("_bound", "_holds")

    def __init__(self, holds: Sequence[Hold], bound: tuple[bool, bool]) -> None:
        self._holds = holds
        self._bound = bound

    def settle(
        self,
        cost_usd: float | None = None,
        tokens: int | None = None,
        *,
        failed: bool = False,
        subject: str = "",
    ) -> list[LimitWarning]:
        """Records what the call took. What was said once stays; what was not known may be said later.

        Args:
            cost_usd: Dollars. None where nobody knows: what was set aside counts as spent. Where nobody knew
                the most that it can cost either, a limit of cost cannot be counted any more.
            tokens: Tokens of all classes; None as for `cost_usd`.
            failed: The call failed or was broken off: then what was set aside is enough.
            subject: Model or name of the call, for the sentence about a limit that cannot be counted.

        Returns:
            The warnings that are due now.

        Raises:
            ConfigError: An amount is negative, infinite or no number; nothing was changed.
        """
        cost = None if cost_usd is None else _units(cost_usd)
        count = None if tokens is None else _whole(tokens)
        due: list[LimitWarning] = []
        unknown = None
        with _lock:
            state = self._holds[0].state
            if state:
                cost = None if state & COST_KNOWN else cost
                count = None if state & TOKENS_KNOWN else count
            if (cost is None or count is None) and not failed:
                unknown = self._unknown(state, cost, count)
            for hold in self._holds:
                due += hold.account.settle(hold, cost, count, unknown, subject)
        return due

    def _unknown(self, state: int, cost: int | None, tokens: int | None) -> dict[LimitKind, Missing]:
        is_cost_bound, is_tokens_bound = self._bound
        unknown = {}
        if cost is None and not (is_cost_bound or state & COST_KNOWN):
            unknown[LimitKind.COST_USD] = Missing.USAGE if tokens is None else Missing.PRICE
        if tokens is None and not (is_tokens_bound or state & TOKENS_KNOWN):
            unknown[LimitKind.TOKENS] = Missing.USAGE
        return unknown


def _without(entered: _Entered | None, scope: Scope) -> _Entered | None:
    # Tasks and generators may leave in another order than they came.
    if entered is None or entered.scope is scope:
        return entered and entered.before
    return _Entered(entered.scope, _without(entered.before, scope))


def in_event_loop() -> bool:
    """Returns True if an event loop runs in this thread."""
    asyncio = sys.modules.get("asyncio")  # to import it takes longer than all the rest
    try:
        return asyncio is not None and asyncio.get_running_loop() is not None
    except RuntimeError:
        return False


def _around() -> Scope | None:
    here = _here.get()
    if here is not None:
        return here.scope
    try:
        return _main[-1] if _main else None
    except IndexError:  # left just now
        return None


def current_scope() -> Scope | None:
    """Returns the scope that is entered here, or None."""
    here = _here.get()
    return here.scope if here else None


def carried(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Returns `function`, which counts in the scopes that are entered here, whatever thread calls it.

    >>> with Scope(Limits(steps=3)) as scope:
    ...     work = carried(lambda: current_scope() is scope)
    >>> thread = threading.Thread(target=lambda: print(current_scope(), work()))
    >>> thread.start(); thread.join()
    None True
    """
    context = copy_context()

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        # A context runs one thing at a time.
        return context.copy().run(function, *args, **kwargs)

    return call


def _units(cost_usd: float) -> int:
    if not (type(cost_usd) in _NUMBERS and 0 <= cost_usd <= MOST_USD):
        raise ConfigError(f"cost_usd = {cost_usd!r:.60}: expected dollars, 0 or more, or None if not known")
    return units(cost_usd) if cost_usd else 0


def _whole(tokens: int) -> int:
    if not (type(tokens) is int and 0 <= tokens <= MOST_USD):
        raise ConfigError(
            f"tokens = {tokens!r:.60}: expected a whole number, 0 or more, or None if not known"
        )
    return tokens
