"""Scopes: limits that hold for everything that is done inside, by however many threads and tasks.

A call reserves what it may take before it is dispatched, in every scope around it or in none, and settles for
what it took when it has ended. So calls that run at the same time cannot take together what no call may take
alone.

Source: divergence spec, section 1 (clause X01).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from functools import wraps
from typing import NamedTuple, ParamSpec, Self, TypeVar

from ebbtide.budget.account import Account, LimitWarning, Request, Spent
from ebbtide.budget.limits import LimitKind, Limits
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


class Scope:
    """Limits for everything that is done inside.

    A scope counts from the moment it is made, and lies in the scope that is entered then. To enter it makes
    calls here count in it, and those of asyncio tasks that are started here; for a thread of its own, its
    function has to be `carried`.

    Args:
        limits: What may be taken.
        name: Shown in errors and warnings.
        clock: Seconds on a monotonic clock; None takes that of the scope around, or the machine's.

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
        entered = current_scope()
        around: tuple[Account, ...] = entered.accounts if entered else ()
        if clock is None:
            clock = around[0].clock if around else time.monotonic
        self.account = Account(name, limits, clock)
        self.accounts: tuple[Account, ...] = (self.account, *around)

    def __enter__(self) -> Self:
        _here.set(_Entered(self, _here.get()))
        return self

    def __exit__(self, *_: object) -> None:
        _here.set(_without(_here.get(), self))

    @property
    def name(self) -> str:
        """Its name."""
        return self.account.name

    @property
    def limits(self) -> Limits:
        """Its limits."""
        return self.account.limits

    @property
    def exceeded(self) -> LimitExceeded | None:
        """The last error of this scope's own limits, or None."""
        return self.account.exceeded

    def reserve(
        self, kind: str, *, cost_usd: float | None = None, tokens: int | None = None, retry: bool = False
    ) -> Reservation:
        """Let a call through: count it, and set aside what it may take, in every scope around it or in none.

        Args:
            kind: "llm" or "tool"; anything else counts as a step alone.
            cost_usd: The most that it can cost. None where nobody knows: it may go while anything is left.
            tokens: The most tokens of all classes that it can take; likewise.
            retry: It was tried before, and failed.

        Raises:
            LimitExceeded: A limit would be passed; nothing was counted.
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
        accounts = self._accounts_here()
        with _lock:
            for account in accounts:
                error = account.excess(request)
                if error is not None:
                    raise error
            for account in accounts:
                account.take(request)
        return Reservation(accounts, request)

    def check(self) -> None:
        """Raise where the time is up; for what goes on after it was let through.

        Raises:
            LimitExceeded: `wall_s` of this scope or of one around it has passed.
        """
        for account in self._accounts_here():
            error = account.overdue()
            if error is not None:
                raise error

    def left(self, kind: LimitKind | str) -> float | None:
        """What this scope and those around it still allow of a kind; None where nothing limits it."""
        kind = LimitKind(kind)
        with _lock:
            rests = [account.left(kind) for account in self.accounts]
        return min((rest for rest in rests if rest is not None), default=None)

    def spent(self) -> Spent:
        """What was taken so far."""
        with _lock:
            return self.account.spent()

    def _accounts_here(self) -> tuple[Account, ...]:
        here = _here.get()
        if here is None or here.scope is self:
            return self.accounts
        inner = here.scope.accounts
        if self.account in inner:
            return inner
        return (*inner, *(account for account in self.accounts if account not in inner))


class Reservation:
    """What was set aside for a call that was let through."""

    __slots__ = ("_accounts", "_request", "_settled")

    def __init__(self, accounts: tuple[Account, ...], request: Request) -> None:
        self._accounts = accounts
        self._request = request
        self._settled = False

    def settle(self, cost_usd: float | None = None, tokens: int | None = None) -> list[LimitWarning]:
        """Say what the call took, once; a second time changes nothing.

        Args:
            cost_usd: Dollars. None where nobody knows: what was set aside counts as spent.
            tokens: Tokens of all classes; likewise.

        Returns:
            The warnings that are due now.

        Raises:
            ConfigError: An amount is negative, infinite or no number; nothing was changed.
        """
        cost = None if cost_usd is None else _units(cost_usd)
        count = None if tokens is None else _whole(tokens)
        due: list[LimitWarning] = []
        with _lock:
            if not self._settled:
                self._settled = True
                for account in self._accounts:
                    due += account.settle(self._request, cost, count)
        return due


def _without(entered: _Entered | None, scope: Scope) -> _Entered | None:
    # Tasks and generators may leave in another order than they came.
    if entered is None or entered.scope is scope:
        return entered and entered.before
    return _Entered(entered.scope, _without(entered.before, scope))


def current_scope() -> Scope | None:
    """The scope that is entered here, or None."""
    here = _here.get()
    return here.scope if here else None


def carried(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """`function`, which counts in the scopes that are entered here, whatever thread calls it.

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
