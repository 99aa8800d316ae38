-- The durable part of an identity: its fencing counter, the highest committed token, and whether it
-- is quarantined. Never deleted; a listpack entry of about 50 bytes for ever.
local keys = require 'keys'
local prelude = require 'prelude'
local store = require 'store'

local fence = {}

local FORMAT, BYTES = '>I7I7I1', 15
local QUARANTINED = 1

-- The bucket's key has the first two bytes.
local function field_of(digest)
  return string.sub(digest, 3)
end

-- The entry (a new one if there is none); nil and a reason if what is there is corrupt.
function fence.read(call, digest)
  local key = keys.fence(call.partition, digest)
  local packed, foreign = store.hash_field(key, field_of(digest))
  if foreign then return nil, 'fence_type' end
  if not packed then return { key = key, counter = 0, committed = 0, flags = 0 } end
  if #packed ~= BYTES then return nil, 'fence_malformed' end
  local counter, committed, flags = struct.unpack(FORMAT, packed)
  if counter > prelude.MAX_INTEGER or committed > counter or flags > QUARANTINED then
    return nil, 'fence_malformed'
  end
  return { key = key, counter = counter, committed = committed, flags = flags }
end

function fence.is_quarantined(self)
  return self.flags == QUARANTINED
end

function fence.write(self, digest)
  server.call('HSET', self.key, field_of(digest),
              struct.pack(FORMAT, self.counter, self.committed, self.flags))
end

function fence.mark_quarantined(self, digest)
  self.flags = QUARANTINED
  fence.write(self, digest)
end

return fence
