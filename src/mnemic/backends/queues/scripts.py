"""The scripts that Redis runs for the queue: each is one step that cannot be seen half done.

They use only what Redis 6.2 has, and touch keys of one shard each. `GROUP` and the like come in as arguments, in the
order that stands above each script.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Script:
    """A script and the name that the server gives it."""

    text: str
    sha: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sha", hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest())


_HEAD: Final = """
local function field(flat, name)
  for i = 1, #flat, 2 do if flat[i] == name then return flat[i + 1] end end
end
local function group(key, name)
  for _, each in ipairs(redis.call('XINFO', 'GROUPS', key)) do
    if field(each, 'name') == name then return each end
  end
end
local function over(key, name, id)
  redis.call('XACK', key, name, id)
  redis.call('XDEL', key, id)
end
local function back(key, name, id)
  local found = redis.call('XRANGE', key, id, id)[1]
  if found then redis.call('XADD', key, '*', unpack(found[2])) end
  over(key, name, id)
end
"""

ESTABLISH: Final = Script(
    """
local made = 0
for i = 2, #KEYS do
  local said = redis.pcall('XGROUP', 'CREATE', KEYS[i], ARGV[2], '0', 'MKSTREAM')
  if not said.err then
    made = made + 1
  elseif not string.find(said.err, 'BUSYGROUP', 1, true) then
    return said
  end
end
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  redis.call('SET', KEYS[1], ARGV[1])
  return 1
end
return made > 0 and 1 or 0
"""
)
"""KEYS: a shard's epoch, its streams. ARGV: the server process, the group. Makes what is missing; 1 when any was."""

_FIRST: Final = (
    _HEAD
    + """
local function behind(a, b)
  local ams, aseq = string.match(a, '(%d+)-(%d+)')
  local bms, bseq = string.match(b, '(%d+)-(%d+)')
  ams, bms = tonumber(ams), tonumber(bms)
  return ams > bms or (ams == bms and tonumber(aseq) > tonumber(bseq))
end
local function first(key)
  if redis.call('XLEN', key) == 0 then return nil end
  local of = group(key, ARGV[1])
  if not of then return nil end
  local found = redis.call('XRANGE', key, '(' .. field(of, 'last-delivered-id'), '+', 'COUNT', 1)
  return found[1] and found[1][1]
end
local function oldest(heads, from, to)
  local best = nil
  for i = from, to do
    if heads[i] and (not best or behind(heads[best], heads[i])) then best = i end
  end
  return best
end
"""
)

READ: Final = Script(
    _FIRST
    + """
local most, got, from = tonumber(ARGV[3]), {}, 1
for block = 4, #ARGV do
  local to = from + tonumber(ARGV[block]) - 1
  local heads = {}
  for i = from, to do heads[i] = first(KEYS[i]) end
  while #got < most do
    local best = oldest(heads, from, to)
    if not best then break end
    local read = redis.call('XREADGROUP', 'GROUP', ARGV[1], ARGV[2], 'COUNT', 1, 'STREAMS', KEYS[best], '>')
    if read then
      local entry = read[1][2][1]
      got[#got + 1] = {KEYS[best], entry[1], field(entry[2], 'cube') or '', field(entry[2], 'job') or ''}
    end
    heads[best] = first(KEYS[best])
  end
  if #got >= most then break end
  from = to + 1
end
return got
"""
)
"""KEYS: streams, in blocks. ARGV: the group, the consumer, how many at most, then the sizes of the blocks.

Blocks come one after the other, inside of one what arrived first. Returns stream, entry, cube and job of each.
"""

PEEK: Final = Script(
    _FIRST
    + """
local from = 1
for block = 2, #ARGV do
  local to = from + tonumber(ARGV[block]) - 1
  local heads = {}
  for i = from, to do heads[i] = first(KEYS[i]) end
  local best = oldest(heads, from, to)
  if best then
    local ms, seq = string.match(heads[best], '(%d+)-(%d+)')
    return {block, ms, seq}
  end
  from = to + 1
end
return {}
"""
)
"""KEYS: streams, in blocks. ARGV: the group, then the sizes of the blocks.

Returns the block and the id that READ would begin with, to be compared with those of other shards.
"""

OVER: Final = Script(_HEAD + "for i = 2, #ARGV do over(KEYS[1], ARGV[1], ARGV[i]) end return #ARGV - 1")
"""KEYS: a stream. ARGV: the group, entries. Acknowledges and deletes them: where XACKDEL is not there."""

BACK: Final = Script(_HEAD + "for i = 2, #ARGV do back(KEYS[1], ARGV[1], ARGV[i]) end return #ARGV - 1")
"""KEYS: a stream. ARGV: the group, entries. Puts them at the end of the stream for others to read."""

TOUCH: Final = Script(
    """
for i = 3, #ARGV do redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, ARGV[i], 'JUSTID') end
return #ARGV - 2
"""
)
"""KEYS: a stream. ARGV: the group, the consumer, entries. Says that they are being worked on."""

STALLED: Final = Script(
    _HEAD
    + """
local count = 0
for _, key in ipairs(KEYS) do
  local claimed = redis.call('XAUTOCLAIM', key, ARGV[1], ARGV[2], ARGV[3], '0', 'COUNT', ARGV[4], 'JUSTID')
  for _, id in ipairs(claimed[2]) do
    back(key, ARGV[1], id)
    count = count + 1
  end
end
return count
"""
)
"""KEYS: streams. ARGV: the group, the consumer, milliseconds, entries of each at most.

Puts what nobody has touched for so long at the end of its stream. Returns how many.
"""

DEPTH: Final = Script(
    _HEAD
    + """
local depths = {}
for i, key in ipairs(KEYS) do
  local length, of = redis.call('XLEN', key), nil
  if length > 0 then of = group(key, ARGV[1]) end
  depths[i] = of and math.max(0, length - field(of, 'pending')) or length
end
return depths
"""
)
"""KEYS: streams. ARGV: the group. Returns how many entries of each nobody has read."""

DOERS: Final = Script(
    """
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. now)
local counts, names = {}, {}
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  local kinds = string.match(member, '|(.*)$')
  if not counts[kinds] then names[#names + 1] = kinds end
  counts[kinds] = (counts[kinds] or 0) + 1
end
local found = {}
for i, kinds in ipairs(names) do found[i] = {kinds, counts[kinds]} end
return found
"""
)
"""KEYS: who works in a lane. Returns the kinds that they do, with how many do so; without those who fell silent."""

DO: Final = Script(
    """
local time = redis.call('TIME')
local till = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[1]))
local here = tonumber(ARGV[2])
for i = 3, #ARGV do
  if i <= here + 2 then
    redis.call('ZADD', KEYS[1], till, ARGV[i])
  else
    redis.call('ZREM', KEYS[1], ARGV[i])
  end
end
return here
"""
)
"""KEYS: who works in a lane. ARGV: milliseconds for which it holds, how many are there, these, then those who left."""

UPKEEP: Final = Script(
    _HEAD
    + """
local gone = 0
for _, key in ipairs(KEYS) do
  local lowest = nil
  for _, each in ipairs(redis.call('XINFO', 'GROUPS', key)) do
    local pending = redis.call('XPENDING', key, field(each, 'name'))
    local ms, seq = string.match(field(each, 'last-delivered-id'), '(%d+)-(%d+)')
    local kept = pending[1] > 0 and pending[2] or (ms .. '-' .. string.format('%.0f', seq + 1))
    if lowest == nil then lowest = kept end
    if lowest ~= kept then
      local lms, lseq = string.match(lowest, '(%d+)-(%d+)')
      local kms, kseq = string.match(kept, '(%d+)-(%d+)')
      if tonumber(kms) < tonumber(lms) or (kms == lms and tonumber(kseq) < tonumber(lseq)) then lowest = kept end
    end
  end
  if lowest and redis.call('XLEN', key) > 0 then gone = gone + redis.call('XTRIM', key, 'MINID', lowest) end
  for _, each in ipairs(redis.call('XINFO', 'CONSUMERS', key, ARGV[1])) do
    if field(each, 'pending') == 0 and field(each, 'idle') > tonumber(ARGV[2]) then
      redis.call('XGROUP', 'DELCONSUMER', key, ARGV[1], field(each, 'name'))
    end
  end
end
return gone
"""
)
"""KEYS: streams. ARGV: the group, milliseconds.

Removes entries below the lowest that any group has not read or not acknowledged, and consumers that hold nothing and
have been silent for so long. Returns how many entries went.
"""

SCRIPTS: Final = (ESTABLISH, READ, PEEK, OVER, BACK, TOUCH, STALLED, DEPTH, DOERS, DO, UPKEEP)
