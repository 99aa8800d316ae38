-- The active leases of an owner, a target or a program, a page at a time in the order of their
-- positions. Writes nothing. README, "starlease1_list".
local arguments = require 'arguments'
local bytes = require 'record_bytes'
local index = require 'index'
local keys = require 'keys'
local lifecycle = require 'lifecycle'
local opening = require 'opening'
local prelude = require 'prelude'
local quarantine = require 'quarantine'
local record = require 'record'
local reply = require 'reply'

local ARGUMENTS = arguments.specification {
  'by', 'list_by', 'owner_principal_id', 'maybe_id', 'tenant_id', 'maybe_component',
  'program_id', 'maybe_component', 'target_namespace', 'maybe_component',
  'target_id', 'maybe_component', 'owner_hash', 'hash8', 'program_hash', 'hash8',
  'target_hash', 'hash8', 'after', 'position', 'limit', 'positive',
}

-- What a record must say, since the index has only the beginnings of hashes.
local COMPARED = {
  owner = { 'owner_principal_id' },
  target = { 'tenant_id', 'program_id', 'target_namespace', 'target_id' },
  program = { 'tenant_id', 'program_id' },
}

local function is_meant(request, lease)
  local names = COMPARED[request.by]
  for i = 1, #names do
    if lease[names[i]] ~= request[names[i]] then return false end
  end
  return true
end

-- The lease in a record; nil if it has ended, or is another's, or (true) if it cannot be told
-- because something of it is corrupt. Its counter is not looked at, nor its time to live: both
-- would cost a command a lease, and who acquires or inspects it looks at them.
local function active_lease(call, request, digest, packed)
  if quarantine.refusal(call, digest) then return nil, true end
  if not packed then return nil, false end
  local lease = bytes.decode(packed)
  if not lease then return nil, true end
  if not is_meant(request, lease) then return nil, false end
  local state = lifecycle.state(call, lease.state, lease.epoch, lease.expires_at)
  return state == record.ACTIVE and lease or nil, false
end

-- The packed records of the members from `first` to `last`, in their order; nothing for a foreign
-- type.
local function read_records(call, members, first, last)
  local names = {}
  for i = first, last do
    names[i - first + 1] =
      keys.lease(call.partition, string.sub(members[i], -prelude.DIGEST_BYTES))
  end
  return server.call('MGET', unpack(names))
end

local function tell(told, lease, position)
  local n = #told
  told[n + 1], told[n + 2], told[n + 3] = position, lease.lease_id, lease.token
  told[n + 4], told[n + 5], told[n + 6] = lease.acquired_at, lease.renewed_at, lease.expires_at
  told[n + 7] = record.ttl_ms(lease)
  local components = prelude.COMPONENTS
  for i = 1, #components do told[n + 7 + i] = lease[components[i]] end
end

-- Appends what one member stands for to the reply: the lease, or that it was skipped.
local function look_at(call, request, told, position, packed)
  local digest = string.sub(position, -prelude.DIGEST_BYTES)
  local lease, corrupt = active_lease(call, request, digest, packed)
  if lease then tell(told, lease, position) end
  if corrupt then told[7] = told[7] + 1 end
  told[6] = position
end

-- Looks at members until `limit` or what may be read is reached; how many it were.
local function look_at_all(call, request, told, members, prefix)
  local most, looked, read_bytes = math.min(#members, request.limit), 0, 0
  while looked < most and read_bytes < prelude.READ_BYTES do
    local last = math.min(looked + prelude.READ_AT_ONCE, most)
    local records = read_records(call, members, looked + 1, last)
    for i = 1, #records do
      local packed = records[i]
      look_at(call, request, told, string.sub(members[looked + i], #prefix + 1), packed)
      if packed then read_bytes = read_bytes + #packed end
    end
    looked = last
  end
  return looked
end

local function list(gate_keys, args)
  local request, culprit = arguments.read(ARGUMENTS, args)
  if request and request.limit > prelude.LIST_LIMIT then culprit = 'limit' end
  if culprit then return reply.invalid(culprit) end
  local call, refusal = opening.for_reading(gate_keys[1])
  if not call then return refusal end
  local prefix = index.prefix(request)
  -- One more than is looked at tells whether there are more.
  local members, foreign = index.page(call, prefix, request.after, request.limit + 1)
  if foreign then return reply.damaged(call, 'index') end
  local told = reply.of(call, 'listed', 0, '', 0)
  if look_at_all(call, request, told, members, prefix) < #members then told[5] = 1 end
  return told
end

return list
