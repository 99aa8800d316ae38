-- How the leases of an identity ended, newest first, a stretch of the partition's stream at a
-- time. Writes nothing, and asks nothing of the identity: evidence outlives it. README,
-- "starlease1_history".
local arguments = require 'arguments'
local bytes = require 'record_bytes'
local history = require 'history'
local lifecycle = require 'lifecycle'
local opening = require 'opening'
local prelude = require 'prelude'
local record = require 'record'
local reply = require 'reply'

local ARGUMENTS = arguments.specification {
  'digest', 'digest', 'before', 'stream_id', 'limit', 'positive' }

-- The record in an entry of the stream, if it is evidence of this digest; nil, and whether it is
-- but cannot be read, if not.
local function evidence(entry, digest)
  local fields = entry[2]
  if fields[2] ~= digest then return nil, false end
  local lease = fields[4] and bytes.decode(fields[4])
  if not lease or lease.state == record.ACTIVE then return nil, true end
  return lease
end

-- Appends what one entry tells to the reply; how many records that were.
local function look_at(call, request, told, entry)
  local lease, corrupt = evidence(entry, request.digest)
  if corrupt then told[6] = told[6] + 1 end
  if not lease then return 0 end
  reply.record_block(told, lease, lifecycle.ended(call, lease))
  return 1
end

-- Goes back from `before` to the end of the stream, or as far as one call may.
local function search(call, request)
  local told, before = reply.of(call, 'history', '', 0), request.before
  local found, scanned, read_bytes = 0, 0, 0
  repeat
    local entries, foreign = history.before(call, before, prelude.READ_AT_ONCE)
    if foreign then return reply.damaged(call, 'history') end
    for i = 1, #entries do
      if found == request.limit then
        told[5] = before
        return told
      end
      found = found + look_at(call, request, told, entries[i])
      before, scanned = entries[i][1], scanned + 1
      read_bytes = read_bytes + #(entries[i][2][4] or '')
    end
    if #entries < prelude.READ_AT_ONCE then return told end
  until scanned >= prelude.HISTORY_SCAN or read_bytes >= prelude.READ_BYTES
  told[5] = before
  return told
end

local function history_read(gate_keys, args)
  local request, culprit = arguments.read(ARGUMENTS, args)
  if request and request.limit > prelude.HISTORY_LIMIT then culprit = 'limit' end
  if culprit then return reply.invalid(culprit) end
  local call, refusal = opening.for_reading(gate_keys[1])
  if not call then return refusal end
  return search(call, request)
end

return history_read
