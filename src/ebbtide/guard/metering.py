"""Amounts that a call may take, and that it took, in dollars and tokens."""

from __future__ import annotations

import dataclasses
import socket
from collections.abc import Iterable, Mapping
from typing import Any

from ebbtide.budget.limits import LimitKind, Missing, uncounted
from ebbtide.budget.prices import Prices
from ebbtide.errors import ConfigError
from ebbtide.events.usage import Usage
from ebbtide.guard.observers import Observers, status_of
from ebbtide.guard.operation import Operation

_NOTHING = Usage(cost_usd=0.0, input_tokens=0)
_MOST_CAUSES = 8
_MAY_HAVE_RUN = frozenset({408, 499})  # time-out of the request, closed by the client
_NEVER_SENT = (ConnectionRefusedError, socket.gaierror)


class Metering:
    """Meter that asks the meters and the price table; what they throw is counted, and the amount unknown.

    Args:
        prices: Prices of tokens, after what a meter says.
        observers: Count the faults.
    """

    def __init__(self, prices: Prices, observers: Observers) -> None:
        self._prices = prices
        self._observers = observers

    @property
    def unknown_prices(self) -> Mapping[str, int]:
        """Returns the models whose cost was asked for in vain, and how often."""
        return self._prices.unknown

    def at_most(
        self, operation: Operation, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[float | None, int | None, tuple[bool, bool]]:
        """Returns the dollars and tokens that a call can take at most; None if nobody knows.

        Returns:
            Both amounts, and for each a flag: it was stated, and not learned from the calls before.
        """
        if operation.is_free:
            return 0.0, 0, (True, True)
        usage = operation.at_most
        if callable(usage):
            try:
                usage = self._valid_usage("at_most", usage(*args, **kwargs))
            except Exception as error:  # noqa: BLE001 - the run does not notice
                self._observers.fault("at_most", error)
                usage = None
        if usage is None:
            return operation.most_usd, operation.most_tokens, (False, False)
        cost_usd, tokens = self.cost(operation, usage), usage.tokens
        return (
            operation.most_usd if cost_usd is None else cost_usd,
            operation.most_tokens if tokens is None else tokens,
            (cost_usd is not None, tokens is not None),
        )

    def require(self, operation: Operation, limits: Iterable[tuple[LimitKind, float]]) -> None:
        """Checks that what a callable takes can be counted at all.

        Raises:
            ConfigError: It asks a model, and has neither a meter nor a most that its calls can take.
        """
        if operation.kind != "llm" or operation.usage is not None or callable(operation.at_most):
            return
        usage = operation.at_most or Usage()
        for kind, limit in limits:
            amount = self.cost(operation, usage) if kind is LimitKind.COST_USD else usage.tokens
            if amount is None:
                missing = Missing.PRICE if usage.has_tokens else Missing.USAGE
                raise ConfigError(uncounted(kind, limit, missing, operation.model or operation.name))

    def of_item(self, operation: Operation, before: object, item: Any) -> Any:
        """Returns the usage of a stream with what the meter says about an item of it.

        Args:
            before: What was stated until then.
        """
        usage = self._measured(operation, item)
        if usage is None:
            return before
        return before.updated(usage) if isinstance(before, Usage) else usage

    def of_result(
        self, operation: Operation, stated: object, result: Any
    ) -> tuple[Usage | None, float | None]:
        """Returns the usage of a call that returned `result`, and its cost; None if nobody knows.

        Args:
            stated: The usage that its caller stated, which comes first.
        """
        usage = self._valid_usage("usage", stated)
        if usage is None:
            usage = self._measured(operation, result)
        return self.learned(operation, usage)

    def of_failure(
        self, operation: Operation, stated: object, error: Exception
    ) -> tuple[Usage | None, float | None]:
        """Returns the usage of a call that raised: nothing, if the error says so; else it is not known."""
        usage = self._valid_usage("usage", stated)
        if usage is None and is_unbilled(error):
            usage = _NOTHING
        return self.learned(operation, usage, is_whole=False)

    def so_far(
        self, operation: Operation, stated: object, *, is_whole: bool = False
    ) -> tuple[Usage | None, float | None]:
        """Returns the usage that was stated while a call ran; `is_whole` if it came to its end."""
        return self.learned(operation, self._valid_usage("usage", stated), is_whole=is_whole)

    def learned(
        self, operation: Operation, usage: Usage | None, *, is_whole: bool = True
    ) -> tuple[Usage | None, float | None]:
        """Returns the usage of a call, and its cost; the next calls set aside no less than a whole one."""
        if usage is None:
            return None, 0.0 if operation.is_free else None
        cost_usd, tokens = self.cost(operation, usage), usage.tokens
        if is_whole:
            if cost_usd is not None and cost_usd > (operation.most_usd or 0.0):
                operation.most_usd = cost_usd
            if tokens is not None and tokens > (operation.most_tokens or 0):
                operation.most_tokens = tokens
        return usage, cost_usd

    def cost(self, operation: Operation, usage: Usage) -> float | None:
        """Returns the dollars for a usage; None if nobody knows."""
        stated = usage.stated_cost
        if stated is not None:
            return stated
        if usage.model is None:
            usage = dataclasses.replace(usage, model=operation.model)
        try:
            return Usage(cost_usd=self._prices.cost(usage)).checked().cost_usd
        except Exception as error:  # noqa: BLE001 - the run does not notice
            self._observers.fault("prices", error)
            return None

    def _measured(self, operation: Operation, result: Any) -> Usage | None:
        if operation.usage is None:
            return None
        try:
            return self._valid_usage("usage", operation.usage(result))
        except Exception as error:  # noqa: BLE001 - the run does not notice
            self._observers.fault("usage", error)
            return None

    def _valid_usage(self, where: str, usage: object) -> Usage | None:
        if usage is None:
            return None
        if isinstance(usage, Usage):
            try:
                return usage.checked()
            except ConfigError as error:
                self._observers.fault(where, error)
                return None
        self._observers.fault(where, TypeError(f"{type(usage).__name__}: expected a Usage or None"))
        return None


def is_unbilled(error: BaseException) -> bool:
    """Returns True if an error says that nothing was billed.

    It does where it carries a status 400 to 499 other than 408 and 499, or where it is, or was caused by, a
    refused connection or a host name that is not known. Anything else may have been billed: time-outs,
    statuses from 500 on, cancellations, broken connections, and errors in reading the answer. So may an error
    behind which there is a time-out, since the attempt before may have been answered.

    >>> is_unbilled(ConnectionRefusedError()), is_unbilled(TimeoutError()), is_unbilled(KeyError("choices"))
    (True, False, False)
    """
    cause: BaseException | None = error
    unbilled = False
    for _ in range(_MOST_CAUSES):
        if cause is None:
            break
        if isinstance(cause, TimeoutError) or "timeout" in type(cause).__name__.lower():
            return False
        status = status_of(cause)
        if status is not None and cause is error:
            unbilled = 400 <= status < 500 and status not in _MAY_HAVE_RUN
        elif isinstance(cause, _NEVER_SENT):
            unbilled = True
        cause = cause.__cause__ or cause.__context__
    return unbilled
