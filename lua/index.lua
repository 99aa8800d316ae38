-- The two sorted sets of a partition: when leases end, and which leases an owner, a target or a
-- program has. An active lease is in the first once and in the second twice.
local arguments = require 'arguments'
local prelude = require 'prelude'
local store = require 'store'

local index = {}

-- Members of one set with equal scores lie in the order of their bytes: a program's leases are a
-- range of 't' + program_hash, a target's a range within it.
local function owner_member(record, digest)
  return 'o' .. record.owner_hash .. digest
end

local function target_member(record, digest)
  return 't' .. record.program_hash .. record.target_hash .. digest
end

function index.add(call, record, digest)
  local partition = call.partition
  server.call('ZADD', partition.expiry, arguments.text(record.expires_at), digest)
  server.call('ZADD', partition.index, '0', owner_member(record, digest),
              '0', target_member(record, digest))
end

-- `expiries` is a flat list: score, digest, score, digest ...
function index.reschedule(call, expiries)
  server.call('ZADD', call.partition.expiry, unpack(expiries))
end

function index.remove(call, record, digest)
  index.remove_expiry(call, digest)
  server.call('ZREM', call.partition.index, owner_member(record, digest),
              target_member(record, digest))
end

function index.remove_expiry(call, digest)
  server.call('ZREM', call.partition.expiry, digest)
end

-- Up to `limit` digests whose time has come.
function index.overdue(call, limit)
  return server.call('ZRANGEBYSCORE', call.partition.expiry, '-inf',
                     arguments.text(call.now_ms), 'LIMIT', '0', arguments.text(limit))
end

-- What all members of a list begin with; what is behind it is a member's position in the list.
function index.prefix(request)
  if request.by == 'owner' then return 'o' .. request.owner_hash end
  if request.by == 'program' then return 't' .. request.program_hash end
  return 't' .. request.program_hash .. request.target_hash
end

-- Up to `limit` members of a list behind the position `after` (empty: from its beginning); nil and
-- true if the index is of a foreign type.
function index.page(call, prefix, after, limit)
  -- No member lies behind this, whatever it ends with.
  local last = prefix .. string.rep('\255', prelude.HASH_KEPT + prelude.DIGEST_BYTES)
  return store.read('ZRANGE', call.partition.index, '(' .. prefix .. after,
                    '[' .. last, 'BYLEX', 'LIMIT', '0', arguments.text(limit))
end

return index
