"""Budgets in Redis, for many machines: one script, and so one round trip, a call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

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
        self._reserve = self._script(RESERVE)
        self._settle = self._script(SETTLE)
        self._renew = self._script(RENEW)
        self._standings = self._script(STANDINGS)
        self._change = self._script(CHANGE)
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
            return replace(lease, amount=int(values[0]))
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


_COMMON: Final = """
local prefix = KEYS[1]
local leases, rows, index = prefix .. 'leases', prefix .. 'rows', prefix .. 'keys'
local time = redis.call('TIME')
local now_text = time[1] .. '.' .. string.format('%06d', time[2])
local now = tonumber(now_text)

local function add(key, field, amount)
    if amount ~= '0' and amount ~= '-0' then
        redis.call('HINCRBY', prefix .. 'slot:' .. key, field, amount)
    end
end

local function minus(amount)
    if string.sub(amount, 1, 1) == '-' then return string.sub(amount, 2) end
    return '-' .. amount
end

local function row_of(id)
    local text = redis.call('HGET', rows, id)
    if not text then return nil end
    local amount, charged, unpriced, keys = string.match(text, '^(%S+) (%S+) (%S+) (.*)$')
    return {amount = amount, charged = charged, unpriced = unpriced, keys = keys}
end

local function each(keys, visit)
    for key in string.gmatch(keys, '[^\\n]+') do visit(key) end
end

local function put(id, amount, charged, unpriced, keys, seconds)
    redis.call('HSET', rows, id, table.concat({amount, charged, unpriced, keys}, ' '))
    redis.call('ZADD', leases, string.format('%.6f', now + seconds), id)
end

local function touch(key, forget_at)
    redis.call('ZADD', index, forget_at, key)
    if tonumber(forget_at) < 1e18 then
        redis.call('EXPIREAT', prefix .. 'slot:' .. key, string.format('%.0f', tonumber(forget_at)))
    end
end

local function standing(key)
    local values = redis.call(
        'HMGET', prefix .. 'slot:' .. key, 'spent', 'reserved', 'extra', 'unpriced', 'approved')
    for place = 1, 5 do values[place] = values[place] or '0' end
    return values
end

for _, id in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now_text)) do
    local row = row_of(id)
    if row and row.charged == '-' then
        each(row.keys, function(key) add(key, 'reserved', minus(row.amount)) end)
    end
    redis.call('HDEL', rows, id)
    redis.call('ZREM', leases, id)
end
"""

#: ARGV: id, amount, seconds, flexible, refuses_unknown; then for each slot: key, limit, soft, start, end,
#: forget_at. Gives the time, and: ``lease`` and the amount; ``period``; or a reason, the number of the slot
#: and its standing.
RESERVE: Final = f"""{_COMMON}
local id, amount, seconds, flexible, refuses = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local lease = row_of(id)
if lease then return {{now_text, 'lease', lease.amount}} end
local wanted = tonumber(amount)
local most = wanted
local reasons = {{}}
local keys = {{}}
for place = 1, (#ARGV - 5) / 6 do
    local key, limit, soft, start, finish = unpack(ARGV, place * 6, place * 6 + 4)
    keys[place] = key
    if now < tonumber(start) or now >= tonumber(finish) then return {{now_text, 'period'}} end
    local values = standing(key)
    local used = values[1] + values[2]
    local reason = nil
    if limit ~= '' then
        local rest = tonumber(limit) + values[3] - used
        if (flexible == '1' and rest <= 0) or (flexible ~= '1' and wanted > rest) then reason = 'limit' end
        most = math.min(most, rest)
    end
    if not reason and refuses == '1' and tonumber(values[4]) > 0 then reason = 'unknown' end
    if not reason and soft ~= '' and values[5] == '0' and used >= tonumber(soft) + values[3] then
        reason = 'ask'
    end
    if reason and not reasons[reason] then reasons[reason] = {{place, values}} end
end
for _, reason in ipairs({{'limit', 'unknown', 'ask'}}) do
    if reasons[reason] then
        return {{now_text, reason, reasons[reason][1], unpack(reasons[reason][2])}}
    end
end
if most < wanted then amount = string.format('%.0f', most) end
put(id, amount, '-', '0', table.concat(keys, '\\n'), seconds)
for place, key in ipairs(keys) do
    add(key, 'reserved', amount)
    touch(key, ARGV[place * 6 + 5])
end
return {{now_text, 'lease', amount}}
"""

#: ARGV: id, amount, seconds, cost, unpriced, cost and unpriced before; then key and forget_at of each slot.
SETTLE: Final = f"""{_COMMON}
local id, amount, seconds, cost, unpriced = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local before, unpriced_before = ARGV[6], ARGV[7]
local row = row_of(id)
local reserved = '0'
if row then
    if row.charged == '-' then
        reserved, before = row.amount, '0'
    else
        before = row.charged
    end
    unpriced_before = row.unpriced
end
local keys = {{}}
for place = 1, (#ARGV - 7) / 2 do
    local key = ARGV[place * 2 + 6]
    keys[place] = key
    add(key, 'spent', cost)
    add(key, 'spent', minus(before))
    add(key, 'reserved', minus(reserved))
    add(key, 'unpriced', unpriced)
    add(key, 'unpriced', minus(unpriced_before))
    touch(key, ARGV[place * 2 + 7])
end
put(id, amount, cost, unpriced, table.concat(keys, '\\n'), seconds)
return {{now_text}}
"""

#: ARGV: id, seconds. Gives 1 where the lease runs.
RENEW: Final = f"""{_COMMON}
local row = row_of(ARGV[1])
if not row or row.charged ~= '-' then return {{now_text, 0}} end
redis.call('ZADD', leases, string.format('%.6f', now + tonumber(ARGV[2])), ARGV[1])
return {{now_text, 1}}
"""

#: ARGV: ``1`` for all keys, then keys. Gives the time, and for each slot its key and its standing.
STANDINGS: Final = f"""{_COMMON}
redis.call('ZREMRANGEBYSCORE', index, '-inf', now_text)
local keys = {{unpack(ARGV, 2)}}
if ARGV[1] == '1' then
    keys = redis.call('ZRANGE', index, 0, -1)
    table.sort(keys)
end
local answer = {{now_text}}
for _, key in ipairs(keys) do answer[#answer + 1] = {{key, unpack(standing(key))}} end
return answer
"""

#: ARGV: key, extra, approve, reset, forget_at.
CHANGE: Final = f"""{_COMMON}
local key, hash = ARGV[1], prefix .. 'slot:' .. ARGV[1]
if ARGV[4] == '1' then redis.call('HDEL', hash, 'spent', 'extra', 'unpriced', 'approved') end
add(key, 'extra', ARGV[2])
if ARGV[3] == '1' then redis.call('HSET', hash, 'approved', '1') end
if not redis.call('ZSCORE', index, key) then touch(key, ARGV[5]) end
return {{now_text}}
"""
