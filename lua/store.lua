-- Reading keys that may hold anything: a foreign type is an answer here, not an error.
local store = {}

-- Errors other than a foreign type come before any write, so they may end the function.
local function read(...)
  local reply = server.pcall(...)
  if type(reply) ~= 'table' or not reply.err then return reply, false end
  if string.find(reply.err, 'WRONGTYPE', 1, true) then return nil, true end
  error(reply.err, 0)
end

-- Value and whether the type is foreign; nil and false if there is nothing.
function store.get(key)
  local value, foreign = read('GET', key)
  return value or nil, foreign
end

function store.hash_field(key, field)
  local value, foreign = read('HGET', key, field)
  return value or nil, foreign
end

local shared_types = {
  expiry = 'zset', index = 'zset', history = 'stream', audit = 'stream', quarantine = 'hash',
}

-- The first of the named shared keys that has a foreign type; nil if all can be written.
-- Valkey does not roll back: what could fail is looked at before the first write.
function store.damaged(partition, names)
  for i = 1, #names do
    local name = names[i]
    local found = server.call('TYPE', partition[name]).ok
    if found ~= shared_types[name] and found ~= 'none' then return name end
  end
  return nil
end

return store
