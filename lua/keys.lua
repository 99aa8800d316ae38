-- Names of a partition's keys, all derived from its gate key so that they share its hash tag.
local prelude = require 'prelude'

local keys = {}

-- Derived names are kept: building them costs more than half of the commands that use them.
local partitions = {}
local partition_count = 0

local function derive(gate_key)
  local tag, namespace, number =
    string.match(gate_key, '^({starlease:([a-z0-9._-]+):(%d+)})gate$')
  if not tag or #namespace > prelude.MAX_NAMESPACE_BYTES or string.find(number, '^0%d') then
    return nil
  end
  return {
    tag = tag,
    gate = gate_key,
    expiry = tag .. 'expiry',
    index = tag .. 'index',
    history = tag .. 'history',
    audit = tag .. 'audit',
    quarantine = tag .. 'quarantine',
    notices = tag .. 'notice',
    -- The highest time that any call of this process told about this partition, reads included.
    seen_us = 0,
  }
end

-- The partition of a gate key; nil if it is not one.
function keys.partition(gate_key)
  local known = partitions[gate_key]
  if known then return known end
  local partition = derive(gate_key)
  if not partition then return nil end
  if partition_count >= prelude.MAX_PARTITIONS then
    partitions, partition_count = {}, 0
  end
  partitions[gate_key] = partition
  partition_count = partition_count + 1
  return partition
end

function keys.lease(partition, digest)
  return partition.tag .. 'lease:' .. digest
end

-- The documents of an identity, by name.
function keys.documents(partition, digest)
  return partition.tag .. 'doc:' .. digest
end

-- Identities share a hash by their first two bytes, so that each costs a listpack entry, not a key.
function keys.fence(partition, digest)
  return partition.tag .. string.format('fence:%02x%02x', string.byte(digest, 1, 2))
end

function keys.idempotency(partition, scope)
  return partition.tag .. 'idem:' .. scope
end

return keys
