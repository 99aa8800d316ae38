-- Reads everything that an identity has and says whether it is sound. Writes nothing; what to do
-- with a corrupt one is the caller's affair (quarantine.shut, or just telling it).
local fence = require 'fence'
local keys = require 'keys'
local record = require 'record'
local bytes = require 'record_bytes'
local store = require 'store'

-- An active record that Valkey would keep for ever was not written by us.
local function lacks_expiry(call, lease, digest)
  return lease.state == record.ACTIVE
    and server.call('PTTL', keys.lease(call.partition, digest)) == -1
end

-- The record, and what is wrong with it.
local function read_record(call, digest, identity)
  local packed, foreign = store.get(keys.lease(call.partition, digest))
  if foreign then return nil, 'record_type' end
  if not packed then return nil end
  local lease = bytes.decode(packed)
  if not lease then return nil, 'record_malformed' end
  if identity and not record.same_identity(lease, identity) then return nil, 'record_identity' end
  if lacks_expiry(call, lease, digest) then return nil, 'record_no_expiry' end
  return lease
end

-- { fence, record (nil if there is none) }; nil and a reason if anything is corrupt. `identity`
-- holds the components that the record must have, where the caller knows them.
local function examine(call, digest, identity)
  local counters, fence_reason = fence.read(call, digest)
  if not counters then return nil, fence_reason end
  if fence.is_quarantined(counters) then return nil, 'flagged' end
  local lease, reason = read_record(call, digest, identity)
  if reason then return nil, reason end
  if lease and lease.token > counters.counter then return nil, 'counter_behind' end
  return { fence = counters, record = lease }
end

return examine
