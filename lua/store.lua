-- Reading keys that may hold anything: a foreign type is an answer here, not an error.
local store = {}

-- Errors other than a foreign type come before any write, so they may end the function.
local function read(...)
  local reply = server.pcall(...)
  if type(reply) ~= 'table' or not reply.err then return reply, false end
  if string.find(reply.err, 'WRONGTYPE', 1, true) then return nil, true end
  error(reply.err, 0)
end
store.read = read

-- Value and whether the type is foreign; nil and false if there is nothing.
function store.get(key)
  local value, foreign = read('GET', key)
  return value or nil, foreign
end

function store.hash_field(key, field)
  local value, foreign = read('HGET', key, field)
  return value or nil, foreign
end

local SHARED = { 'expiry', 'index', 'history', 'audit', 'quarantine' }
local SHARED_TYPES = { 'zset', 'zset', 'stream', 'stream', 'hash' }

-- The first key shared by the partition that has a foreign type; nil if all can be written.
-- Valkey does not roll back: what could fail is looked at before the first write.
function store.damaged(partition)
  for i = 1, #SHARED do
    local found = server.call('TYPE', partition[SHARED[i]]).ok
    if found ~= SHARED_TYPES[i] and found ~= 'none' then return SHARED[i] end
  end
  return nil
end

return store
