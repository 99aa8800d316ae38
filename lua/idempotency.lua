-- Idempotency records: the answer of an attempt, kept beside a digest of what it asked, so that a
-- retry is answered and not done again. docs/data-model.md, "Idempotency record".
local arguments = require 'arguments'
local keys = require 'keys'
local layout = require 'layout'
local lifecycle = require 'lifecycle'
local record = require 'record'
local reply = require 'reply'
local store = require 'store'

local idempotency = {}

local VERSION = 1
local OPERATIONS = { acquire = 1, renew = 2, release = 3 }
-- `state` is at a fixed place: the end of a lease is written into its acquire's record there.
local STATE_OFFSET = '1'

local function layout_of(fields)
  local list = { 'version', 'u1', 'state', 'u1', 'operation', 'u1', 'outcome', 'u1',
                 'request_digest', 'bytes32', 'epoch', 'u8' }
  for i = 1, #fields do list[#list + 1] = fields[i] end
  return layout.new(list)
end

-- By outcome: its name, its bytes, and the fields that a replay tells. A grant's `acquire_scope`
-- leads a stored renewal to the record that knows how the lease ended.
local grant_layout = layout_of {
  'token', 'u8', 'acquired_at', 'u8', 'renewed_at', 'u8', 'expires_at', 'u8', 'ttl_ms', 'u4',
  'lease_id', 'text1', 'acquire_scope', 'text1' }
local grant_fields = { 'lease_id', 'token', 'acquired_at', 'renewed_at', 'expires_at', 'ttl_ms' }
local outcomes = {
  { name = 'acquired', layout = grant_layout, told = grant_fields },
  { name = 'renewed', layout = grant_layout, told = grant_fields },
  { name = 'released', layout = layout_of { 'released_at', 'u8' }, told = { 'released_at' } },
  { name = 'conflict', layout = layout_of { 'remaining_ms', 'u8', 'own_lease_id', 'text1' },
    told = { 'remaining_ms', 'own_lease_id' } },
  { name = 'lost', layout = layout_of {}, told = { 'state_name' } },
}
local OUTCOME = { acquired = 1, renewed = 2, released = 3, conflict = 4, lost = 5 }

local function state_name(code)
  return record.STATE_NAMES[code] or ''
end

local function decode(packed)
  local outcome = outcomes[string.byte(packed, 4) or 0]
  local entry = outcome and layout.unpack(outcome.layout, packed)
  if not entry or entry.version ~= VERSION or entry.state > record.REVOKED
    or entry.operation < 1 or entry.operation > OPERATIONS.release then
    return nil
  end
  entry.state_name = state_name(entry.state)
  return entry
end

-- The entry under a scope; nil if there is none; nil and a reason if it is corrupt.
function idempotency.find(call, scope, operation)
  local packed, foreign = store.get(keys.idempotency(call.partition, scope))
  if foreign then return nil, 'idempotency_type' end
  if not packed then return nil end
  local entry = decode(packed)
  if not entry or entry.operation ~= OPERATIONS[operation] then
    return nil, 'idempotency_malformed'
  end
  return entry
end

-- How a lease that has no record of its own any more has ended, as far as evidence goes.
local function ended_state(call, entry)
  local acquire = entry
  if entry.operation ~= OPERATIONS.acquire then
    acquire = idempotency.find(call, entry.acquire_scope, 'acquire')
  end
  if acquire and acquire.lease_id == entry.lease_id and acquire.state > 0 then
    return acquire.state_name
  end
  return state_name(entry.epoch ~= call.epoch and record.REVOKED or record.EXPIRED)
end

-- State now, and end if it is active, of the lease that a stored answer is about; nil and a reason
-- if its record is corrupt.
local function current(call, entry, digest)
  local name = outcomes[entry.outcome].name
  if name == 'released' then return 'released', 0 end
  if name == 'conflict' or name == 'lost' then return entry.state_name, 0 end
  local packed, foreign = store.get(keys.lease(call.partition, digest))
  if foreign then return nil, 'record_type' end
  if packed then
    local lease = record.decode(packed)
    if not lease then return nil, 'record_malformed' end
    if lease.lease_id == entry.lease_id then
      local ended = lifecycle.ended(call, lease)
      return ended.state, ended.code == record.ACTIVE and lease.expires_at or 0
    end
  end
  return ended_state(call, entry), 0
end

-- The reply that tells a stored answer under `status`; nil and a reason if its lease is corrupt.
function idempotency.tell(call, status, entry, digest)
  local state, more = current(call, entry, digest)
  if not state then return nil, more end
  local outcome = outcomes[entry.outcome]
  local told = reply.of(call, status, state, more, outcome.name)
  for i = 1, #outcome.told do told[#told + 1] = entry[outcome.told[i]] end
  return told
end

-- Keeps an answer for `retention` ms. `fields` are those of the outcome's layout.
function idempotency.store(call, request, operation, outcome, fields, retention)
  fields.version, fields.state = VERSION, fields.state or 0
  fields.operation, fields.outcome = OPERATIONS[operation], OUTCOME[outcome]
  fields.request_digest, fields.epoch = request.request_digest, call.epoch
  server.call('SET', keys.idempotency(call.partition, request.scope),
              layout.pack(outcomes[fields.outcome].layout, fields),
              'PXAT', arguments.text(call.now_ms + retention))
end

-- True if the acquisition of this lease still has its record. Look before the first write.
function idempotency.has_acquire(call, lease)
  local entry = idempotency.find(call, lease.acquire_scope, 'acquire')
  return entry ~= nil and entry.lease_id == lease.lease_id
end

-- Writes the end of a lease into its acquisition's record, which must be there.
function idempotency.mark_ended(call, lease, state)
  server.call('SETRANGE', keys.idempotency(call.partition, lease.acquire_scope), STATE_OFFSET,
              string.char(state))
end

return idempotency
