-- The durable part of an identity: its fencing counter, the highest committed token, and whether it
-- is quarantined. Never deleted; a listpack entry of about 50 bytes for ever.
local keys = require 'keys'
local layout = require 'layout'
local store = require 'store'

local fence = {}

local LAYOUT = layout.new { 'counter', 'u7', 'committed', 'u7', 'flags', 'u1' }
local QUARANTINED = 1

-- The entry (a new one if there is none); nil and a reason if what is there is corrupt.
function fence.read(call, digest)
  local key = keys.fence(call.partition, digest)
  local packed, foreign = store.hash_field(key, digest)
  if foreign then return nil, 'fence_type' end
  if not packed then return { key = key, counter = 0, committed = 0, flags = 0 } end
  local self = layout.unpack(LAYOUT, packed)
  if not self or self.committed > self.counter or self.flags > QUARANTINED then
    return nil, 'fence_malformed'
  end
  self.key = key
  return self
end

function fence.is_quarantined(self)
  return self.flags == QUARANTINED
end

function fence.write(self, digest)
  server.call('HSET', self.key, digest, layout.pack(LAYOUT, self))
end

function fence.mark_quarantined(self, digest)
  self.flags = QUARANTINED
  fence.write(self, digest)
end

return fence
