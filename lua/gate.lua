-- The gate record of a partition: its bytes, strictly checked, and the updates of them. Who may
-- pass is decided in opening.lua.
local layout = require 'layout'
local prelude = require 'prelude'
local server_id = require 'server_id'

local gate = {}

gate.SERVING, gate.CLOSED = 1, 2

-- The hot part comes first, so that a call's update is one SETRANGE of 24 bytes.
local HOT_FORMAT, HOT_BYTES = '>I8I8I4I4', 24
local COLD = layout.new {
  'schema_version', 'u1', 'state', 'u1', 'partition_count', 'u4', 'epoch', 'u8',
  'token_floor', 'u8', 'recovered_at', 'u8', 'grace_until', 'u8', 'namespace_id', 'text1',
  'server_id', 'text1', 'tag', 'text1',
}

local function cold_holds(cold)
  return cold.schema_version == prelude.SCHEMA_VERSION
    and (cold.state == gate.SERVING or cold.state == gate.CLOSED)
    and cold.partition_count >= 1 and cold.partition_count <= prelude.MAX_PARTITIONS
    and cold.epoch >= 1 and cold.epoch == cold.token_floor
    and cold.recovered_at >= 1 and cold.grace_until >= cold.recovered_at
    and #cold.namespace_id >= 1 and #cold.namespace_id <= prelude.MAX_ID_BYTES
    and server_id.is_well_formed(cold.server_id)
end

-- Cold parts that were checked byte for byte; the same bytes need no second look.
local checked, checked_count = {}, 0

local function decode_cold(bytes)
  local known = checked[bytes]
  if known then return known end
  local cold = layout.unpack(COLD, bytes)
  if not cold or not cold_holds(cold) then return nil end
  if checked_count >= prelude.MAX_PARTITIONS then checked, checked_count = {}, 0 end
  checked[bytes] = cold
  checked_count = checked_count + 1
  return cold
end

-- The gate in `raw` (hot fields, and `cold`); nil if it is not a sound gate of this partition.
function gate.decode(partition, raw)
  if #raw <= HOT_BYTES then return nil end
  local highest_us, sequence, largest_ttl, quarantined = struct.unpack(HOT_FORMAT, raw)
  local cold = decode_cold(string.sub(raw, HOT_BYTES + 1))
  if not cold or cold.tag ~= partition.tag then return nil end
  if highest_us > prelude.MAX_INTEGER or sequence < 1 or sequence > prelude.MAX_INTEGER
    or highest_us < cold.recovered_at * 1000 then
    return nil
  end
  return { highest_us = highest_us, sequence = sequence, largest_ttl = largest_ttl,
           quarantined = quarantined, cold = cold }
end

function gate.encode(self)
  return struct.pack(HOT_FORMAT, self.highest_us, self.sequence, self.largest_ttl,
                     self.quarantined) .. layout.pack(COLD, self.cold)
end

-- Writes the hot part after a mutation: time, the next sequence, and what the call has changed in
-- `self`. Once a mutating call, and once more for
-- each identity that it has put into quarantine.
function gate.advance(call)
  local self = call.gate
  self.highest_us = call.now_us
  self.sequence = self.sequence + 1
  call.sequence = self.sequence
  server.call('SETRANGE', call.partition.gate, '0',
              struct.pack(HOT_FORMAT, self.highest_us, self.sequence, self.largest_ttl,
                          self.quarantined))
end

-- Ends service until a recovery. `highest_us` keeps the time from which the clock stepped back.
function gate.close(call, highest_us)
  local self = call.gate
  local cold = {}
  for name, value in pairs(self.cold) do cold[name] = value end
  cold.state = gate.CLOSED
  self.cold = cold
  self.highest_us = highest_us
  self.sequence = self.sequence + 1
  call.sequence = self.sequence
  call.raw_gate = gate.encode(self)
  server.call('SET', call.partition.gate, call.raw_gate)
end

return gate
