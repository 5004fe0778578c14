"""Budgets in Redis, for many machines: one script, and so one round trip, a call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ebbtide.budget.shared import redis_scripts
from ebbtide.budget.shared.budget_refusal import RefusalReason
from ebbtide.budget.shared.budget_store import (
    NOTHING,
    RETENTION_S,
    CallCharge,
    Lease,
    OtherPeriod,
    Refusal,
    SlotStanding,
)
from ebbtide.errors import ConfigError, StoreError, shown

_HIDDEN: Final = "***"
_EVER: Final = 1e18  # seconds: Redis takes no infinite ones everywhere


class RedisBudgetStore:
    """Budgets in Redis 5 or later, or what speaks like it. Its clock is that of the server.

    What the server loses is lost: with ``appendonly yes`` and ``appendfsync always`` nothing, with
    ``everysec`` the last seconds, without a file all of it.
    All keys begin with ``{prefix}:``, in braces, so that they lie on one node of a cluster.

    Args:
        url: Such as ``redis://localhost:6379/0``, ``rediss://`` or ``unix://``.
        prefix: Of its keys.
        timeout_s: Seconds that a call waits for the server.

    Raises:
        ConfigError: The URL cannot be, or the package ``redis`` is missing.
    """

    def __init__(self, url: str, *, prefix: str = "ebbtide", timeout_s: float = 1.0) -> None:
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError as error:
            raise ConfigError("budgets in Redis need `pip install 'ebbtide[redis]'`") from error
        self._error: type[Exception] = redis.RedisError
        try:
            # Once more, for a connection of before a restart: every script gives the same answer twice.
            self._client = redis.Redis.from_url(
                url,
                decode_responses=True,
                socket_timeout=timeout_s,
                socket_connect_timeout=timeout_s,
                retry=Retry(NoBackoff(), 1),
            )
        except (ValueError, TypeError) as error:
            raise ConfigError(f"url = {shown(_public(url))}: expected redis://host:port/number") from error
        self._place = _public(url)
        self._prefix = f"{{{prefix}}}:"
        self._reserve = self._script(redis_scripts.RESERVE)
        self._settle = self._script(redis_scripts.SETTLE)
        self._renew = self._script(redis_scripts.RENEW)
        self._standings = self._script(redis_scripts.STANDINGS)
        self._change = self._script(redis_scripts.CHANGE)
        self._ahead: float | None = None  # seconds by which the server's clock is ahead of `monotonic`

    def now(self) -> float:
        """As in `BudgetStore`; asks the server once."""
        if self._ahead is None:
            with self._asking():
                seconds, millionths = self._client.time()
                self._ahead = seconds + millionths / 1e6 - time.monotonic()
        return time.monotonic() + (self._ahead or 0.0)

    def reserve(
        self, lease: Lease, /, *, flexible: bool, refuses_unknown: bool
    ) -> Lease | Refusal | OtherPeriod:
        """As in `BudgetStore`, in one round trip, leases that have ended included."""
        arguments: list[Any] = [
            lease.lease_id,
            lease.amount,
            lease.seconds,
            int(flexible),
            int(refuses_unknown),
        ]
        for slot in lease.slots:
            arguments += [
                slot.key,
                "" if slot.limit is None else slot.limit,
                "" if slot.soft is None else slot.soft,
                _number(slot.start),
                _number(slot.end),
                _number(slot.forget_at),
            ]
        now, word, *values = self._ask(self._reserve, arguments)
        if word == "lease":
            return Lease(
                lease_id=lease.lease_id, slots=lease.slots, amount=int(values[0]), seconds=lease.seconds
            )
        if word == "period":
            return OtherPeriod(now)
        slot = lease.slots[int(values[0]) - 1]
        return Refusal(reason=RefusalReason(word), slot=slot, standing=_standing(slot.key, values[1:]))

    def settle(self, lease: Lease, charge: CallCharge, /, *, before: CallCharge = NOTHING) -> None:
        """As in `BudgetStore`, in one round trip."""
        arguments: list[Any] = [lease.lease_id, lease.amount, lease.seconds]
        for item in (charge, before):
            arguments += [item.cost, int(item.is_unpriced)]
        for slot in lease.slots:
            arguments += [slot.key, _number(slot.forget_at)]
        self._ask(self._settle, arguments)

    def renew(self, lease: Lease, /) -> bool:
        """As in `BudgetStore`."""
        return bool(self._ask(self._renew, [lease.lease_id, lease.seconds])[1])

    def release(self, lease: Lease, /) -> None:
        """As in `BudgetStore`."""
        self.settle(lease, NOTHING)

    def spent(self, keys: Sequence[str] | None = None, /) -> list[SlotStanding]:
        """As in `BudgetStore`."""
        _, *rows = self._ask(self._standings, [int(keys is None), *(keys or ())])
        return [_standing(key, values) for key, *values in rows]

    def change(self, key: str, /, *, extra: int = 0, approve: bool = False, reset: bool = False) -> None:
        """As in `BudgetStore`."""
        self._ask(self._change, [key, extra, int(approve), int(reset), _number(self.now() + RETENTION_S)])

    def close(self) -> None:
        """As in `BudgetStore`; the next call connects again."""
        self._client.close()

    def _script(self, text: str) -> Callable[..., Any]:
        script: Callable[..., Any] = self._client.register_script(text)
        return script

    def _ask(self, script: Callable[..., Any], arguments: Sequence[Any]) -> list[Any]:
        with self._asking():
            now, *values = script(keys=[self._prefix], args=arguments)
        self._ahead = float(now) - time.monotonic()
        return [float(now), *values]

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            raise StoreError(f"{self._place}: {error}") from error


def _public(url: str) -> str:
    """A URL without its password."""
    start, sign, rest = url.rpartition("@")
    scheme, slashes, _ = start.partition("://")
    return f"{scheme}{slashes}{_HIDDEN}@{rest}" if sign else url


def _number(value: float) -> str:
    return f"{max(-_EVER, min(value, _EVER)):.6f}"


def _standing(key: str, values: Sequence[str]) -> SlotStanding:
    spent, reserved, extra, unpriced, approved = map(int, values)
    return SlotStanding(
        key=key,
        spent=spent,
        reserved=reserved,
        extra=extra,
        unpriced=unpriced,
        is_approved=bool(approved),
    )
