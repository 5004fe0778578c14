"""What the store in Redis has the server do, in Lua: each script is one round trip, and runs alone.

Amounts are whole numbers of up to 64 bits. Lua counts in doubles, which are exact up to 9,007 dollars and
right to a millionth of a cent beyond; what is added is handed over as text, so sums stay exact.

``leases`` is a sorted set of lease ids by their end; ``rows`` has for each ``amount charged unpriced keys``,
where charged is ``-`` while the lease runs, and keys are divided by line feeds; ``keys`` is a sorted set of
slots by when they may be forgotten. Each slot is a hash under ``slot:`` and its key.
"""

from __future__ import annotations

from typing import Final

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
