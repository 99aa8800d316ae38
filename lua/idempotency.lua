-- Idempotency: the answer of an attempt, kept beside a digest of what it asked, so that a retry is
-- answered and not done again. docs/data-model.md, "Idempotency".
--
-- The answer of an acquisition is kept in the lease record itself, and gets a key of its own only
-- when a successor takes the record's place. All others are keys from the start.
local arguments = require 'arguments'
local keys = require 'keys'
local lifecycle = require 'lifecycle'
local record = require 'record'
local reply = require 'reply'
local store = require 'store'

local idempotency = {}

local VERSION = 1
local OPERATIONS = { acquire = 1, renew = 2, release = 3, commit = 4, force_release = 5,
                     revoke = 6 }
local OUTCOMES = { 'acquired', 'renewed', 'released', 'conflict', 'lost', 'committed',
                   'commit_conflict', 'invalidated' }
local OUTCOME_CODES = { acquired = 1, renewed = 2, released = 3, conflict = 4, lost = 5,
                        committed = 6, commit_conflict = 7, invalidated = 8 }

-- version, operation, outcome, state, request digest, epoch; then by outcome.
local HEAD = '>I1I1I1I1c16I7'
local HEAD_BYTES = 27

-- How the fields behind the head are packed and unpacked; `told` is what a replay tells of them.
local GRANT_TOLD = { 'lease_id', 'token', 'acquired_at', 'renewed_at', 'expires_at', 'ttl_ms' }
local GRANT = {
  told = GRANT_TOLD,
  pack = function(entry)
    return struct.pack('>I7I6I6I6I1c0I1c0', entry.token, entry.acquired_at, entry.renewed_at,
                       entry.expires_at, #entry.lease_id, entry.lease_id,
                       #entry.acquire_scope, entry.acquire_scope)
  end,
  unpack = function(entry, packed, from)
    local next_byte
    entry.token, entry.acquired_at, entry.renewed_at, entry.expires_at, entry.lease_id,
      entry.acquire_scope, next_byte = struct.unpack('>I7I6I6I6I1c0I1c0', packed, from)
    entry.ttl_ms = entry.expires_at - entry.renewed_at
    return next_byte
  end,
}
local THE_END = {
  told = { 'ended_at', 'lease_id', 'token' },
  pack = function(entry)
    return struct.pack('>I6I7I1c0', entry.ended_at, entry.token, #entry.lease_id, entry.lease_id)
  end,
  unpack = function(entry, packed, from)
    local next_byte
    entry.ended_at, entry.token, entry.lease_id, next_byte =
      struct.unpack('>I6I7I1c0', packed, from)
    return next_byte
  end,
}
local BODIES = {
  acquired = GRANT,
  renewed = GRANT,
  released = THE_END,
  invalidated = THE_END,
  conflict = {
    told = { 'remaining_ms', 'own_lease_id' },
    pack = function(entry)
      return struct.pack('>I6I1c0', entry.remaining_ms, #entry.own_lease_id, entry.own_lease_id)
    end,
    unpack = function(entry, packed, from)
      local next_byte
      entry.remaining_ms, entry.own_lease_id, next_byte = struct.unpack('>I6I1c0', packed, from)
      return next_byte
    end,
  },
  committed = {
    told = { 'accepted_at', 'revision', 'token' },
    pack = function(entry)
      return struct.pack('>I6I7I7I1c0I1c0', entry.accepted_at, entry.revision, entry.token,
                         #entry.lease_id, entry.lease_id, #entry.acquire_scope,
                         entry.acquire_scope)
    end,
    unpack = function(entry, packed, from)
      local next_byte
      entry.accepted_at, entry.revision, entry.token, entry.lease_id, entry.acquire_scope,
        next_byte = struct.unpack('>I6I7I7I1c0I1c0', packed, from)
      return next_byte
    end,
  },
  commit_conflict = {
    told = { 'revision' },
    pack = function(entry) return struct.pack('>I7', entry.revision) end,
    unpack = function(entry, packed, from)
      local next_byte
      entry.revision, next_byte = struct.unpack('>I7', packed, from)
      return next_byte
    end,
  },
  lost = {
    told = { 'state_name' },
    pack = function() return '' end,
    unpack = function(_, _, from) return from end,
  },
}

local function state_name(code)
  return record.STATE_NAMES[code] or ''
end

-- Raises an error if the bytes are too few; false if they are not an entry.
local function unpack_entry(packed)
  local version, operation, outcome, state, request_digest, epoch = struct.unpack(HEAD, packed)
  local name = OUTCOMES[outcome]
  if version ~= VERSION or not name or state > record.REVOKED then return false end
  local entry = { operation = operation, outcome = name, state = state, epoch = epoch,
                  state_name = state_name(state), request_digest = request_digest }
  return BODIES[name].unpack(entry, packed, HEAD_BYTES + 1) == #packed + 1 and entry
end

-- The entry under a scope's key; nil if there is none; nil and a reason if it is corrupt.
function idempotency.find(call, scope, operation)
  local packed, foreign = store.get(keys.idempotency(call.partition, scope))
  if foreign then return nil, 'idempotency_type' end
  if not packed then return nil end
  local sound, entry = pcall(unpack_entry, packed)
  if not sound or not entry or entry.operation ~= OPERATIONS[operation] then
    return nil, 'idempotency_malformed'
  end
  return entry
end

-- The entry of the acquisition that a record comes from.
local function of_record(lease, state)
  return { operation = OPERATIONS.acquire, outcome = 'acquired', state = state,
           request_digest = lease.request_digest, epoch = lease.epoch, token = lease.token,
           acquired_at = lease.acquired_at, renewed_at = lease.acquired_at,
           expires_at = lease.acquired_at + lease.granted_ttl_ms, ttl_ms = lease.granted_ttl_ms,
           lease_id = lease.lease_id, acquire_scope = '' }
end

-- As find; `lease` is the identity's record, if it has one, which answers for its acquisition.
function idempotency.recall(call, scope, operation, lease)
  if operation == 'acquire' and lease and lease.acquire_scope == scope then
    return of_record(lease, 0)
  end
  return idempotency.find(call, scope, operation)
end

-- How a lease that has no record any more has ended, as far as evidence goes.
local function ended_state(call, entry)
  if entry.state > 0 then return entry.state_name end
  local acquire = entry.acquire_scope ~= ''
    and idempotency.find(call, entry.acquire_scope, 'acquire')
  if acquire and acquire.lease_id == entry.lease_id and acquire.state > 0 then
    return acquire.state_name
  end
  return state_name(entry.epoch ~= call.epoch and record.REVOKED or record.EXPIRED)
end

-- State now, and end if it is active, of the lease that an entry is about.
local function current(call, entry, lease)
  if BODIES[entry.outcome] == THE_END then
    return entry.operation == OPERATIONS.revoke and 'revoked' or 'released', 0
  end
  if not entry.lease_id then return entry.state_name, 0 end  -- a refusal
  if lease and lease.lease_id == entry.lease_id then
    local ended = lifecycle.ended(call, lease)
    return ended.state, ended.code == record.ACTIVE and lease.expires_at or 0
  end
  return ended_state(call, entry), 0
end

-- The reply that tells an entry under `status`; `lease` as in recall.
function idempotency.tell(call, status, entry, lease)
  local state, expires_at = current(call, entry, lease)
  local told = reply.of(call, status, state, expires_at, entry.outcome)
  local names = BODIES[entry.outcome].told
  for i = 1, #names do told[#told + 1] = entry[names[i]] end
  return told
end

local function write(call, scope, entry, until_ms)
  server.call('SET', keys.idempotency(call.partition, scope),
              struct.pack(HEAD, VERSION, entry.operation, OUTCOME_CODES[entry.outcome],
                          entry.state, entry.request_digest, entry.epoch)
                .. BODIES[entry.outcome].pack(entry),
              'PXAT', arguments.text(until_ms))
end

-- Keeps the answer to `request` for `retention` ms. `entry` has the fields of its outcome.
function idempotency.keep(call, request, operation, outcome, entry, retention)
  entry.operation, entry.outcome, entry.state = OPERATIONS[operation], outcome, entry.state or 0
  entry.request_digest, entry.epoch = request.request_digest, call.epoch
  write(call, request.scope, entry, call.now_ms + retention)
end

-- Lets the answer of an acquisition outlive its record, which ended as `state` and is about to be
-- replaced.
function idempotency.outlive(call, lease, state)
  if lease.kept_until <= call.now_ms then return end
  write(call, lease.acquire_scope, of_record(lease, state), lease.kept_until)
end

return idempotency
