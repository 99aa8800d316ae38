-- Corrupt is closed: an identity with a key that is not as it must be is marked, and nothing is
-- done with it until an administrator clears the mark, also when the bad value has gone.
local audit = require 'audit'
local fence = require 'fence'
local gate = require 'gate'
local reply = require 'reply'
local store = require 'store'

local quarantine = {}

-- The refusal for an identity that is marked already; nil if it is not. The gate counts the marks,
-- so this costs nothing while there are none.
function quarantine.refusal(call, digest)
  if call.gate.quarantined == 0 then return nil end
  local entry, foreign = store.hash_field(call.partition.quarantine, digest)
  if foreign then return reply.damaged(call, 'quarantine') end
  if entry then return reply.of(call, 'quarantined', string.match(entry, '^(%S*)')) end
  return nil
end

local function write(call, digest, reason, request, counters)
  local entry = audit.about('target_lease_quarantine', 'quarantined', request, request)
  entry.reason = reason
  audit.write(call, entry)
  if counters then fence.mark_quarantined(counters, digest) end
  local is_new = server.call('HSETNX', call.partition.quarantine, digest,
                             reason .. ' ' .. string.format('%.0f', call.now_ms))
  if is_new == 1 then call.gate.quarantined = call.gate.quarantined + 1 end
  gate.advance(call)
end

-- Marks an identity and answers so. `request` says who met it; fields that it lacks stay empty.
function quarantine.shut(call, digest, reason, request)
  local damaged = store.damaged(call.partition)
  if damaged then return reply.damaged(call, damaged) end
  local counters = fence.read(call, digest)
  local is_flagged = not counters or fence.is_quarantined(counters)
  if not (is_flagged and store.hash_field(call.partition.quarantine, digest)) then
    write(call, digest, reason, request, counters)
  end
  return reply.of(call, 'quarantined', reason)
end

return quarantine
