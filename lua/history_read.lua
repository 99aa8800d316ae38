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

local function history_read(gate_keys, args)
  local request, culprit = arguments.read(ARGUMENTS, args)
  if request and request.limit > prelude.HISTORY_LIMIT then culprit = 'limit' end
  if culprit then return reply.invalid(culprit) end
  local call, refusal = opening.for_reading(gate_keys[1])
  if not call then return refusal end
  local entries, foreign = history.before(call, request.before, prelude.HISTORY_SCAN)
  if foreign then return reply.damaged(call, 'history') end
  local told, found, scanned = reply.of(call, 'history', '', 0), 0, 0
  while scanned < #entries and found < request.limit do
    scanned = scanned + 1
    local lease, corrupt = evidence(entries[scanned], request.digest)
    if lease then
      reply.record_block(told, lease, lifecycle.ended(call, lease))
      found = found + 1
    end
    if corrupt then told[6] = told[6] + 1 end
  end
  local is_end = scanned == #entries and #entries < prelude.HISTORY_SCAN
  if not is_end then told[5] = entries[scanned][1] end
  return told
end

return history_read
