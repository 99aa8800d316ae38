-- Tells the gate and the server that shows it, and what the caller's user may not do. Writes
-- nothing. README, "starlease1_gate_read".
local opening = require 'opening'
local reply = require 'reply'

-- The commands that the functions use beside those of this call, on keys or (PUBLISH) a channel.
local COMMANDS = { 'SET', 'SETRANGE', 'MGET', 'EXISTS', 'PTTL', 'TYPE', 'HGET', 'HSET', 'HSETNX',
                   'HLEN', 'ZADD', 'ZREM', 'ZRANGEBYSCORE', 'XADD', 'ZRANGE', 'XREVRANGE' }

local function missing_permissions(partition)
  local missing = {}
  local key = partition.gate
  for i = 1, #COMMANDS do
    -- Some take many keys: whatever may be one is one of ours.
    if not server.acl_check_cmd(COMMANDS[i], key, key, key, key) then
      missing[#missing + 1] = string.lower(COMMANDS[i])
    end
  end
  if not server.acl_check_cmd('PUBLISH', partition.notices, '') then
    missing[#missing + 1] = 'publish'
  end
  return table.concat(missing, ' ')
end

local function gate_read(gate_keys, args)
  if #args ~= 0 then return reply.invalid('arguments') end
  local seen, malformed = opening.look(gate_keys[1])
  if malformed then return malformed end
  local call, told = opening.for_reading(gate_keys[1])
  if call then told = reply.gate_block(reply.head(call, 'serving'), call, '') end
  told[#told + 1] = missing_permissions(seen.partition)
  return told
end

return gate_read
