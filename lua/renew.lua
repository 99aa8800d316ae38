-- The daemon's timed renewals: many leases of one partition in one call. A sequence number in the
-- record makes a repeated one a replay, so that no idempotency record is needed. README,
-- "starlease1_renew".
local admission = require 'admission'
local arguments = require 'arguments'
local audit = require 'audit'
local gate = require 'gate'
local index = require 'index'
local opening = require 'opening'
local prelude = require 'prelude'
local quarantine = require 'quarantine'
local record = require 'record'
local renewal = require 'renewal'
local reply = require 'reply'
local store = require 'store'

local HEAD = arguments.specification { 'deadline_ms', 'int', 'correlation_id', 'maybe_id' }
local EACH = arguments.specification {
  'digest', 'digest', 'lease_id', 'id', 'token', 'positive', 'owner_principal_id', 'id',
  'service_instance_id', 'id', 'ttl_ms', 'duration', 'sequence', 'positive',
}

-- The request with its `claims`; nil and what is malformed.
local function read_arguments(args)
  local count = (#args - #HEAD) / #EACH
  if count < 1 or count > prelude.RENEWALS_PER_CALL or count % 1 ~= 0 then
    return nil, 'arguments'
  end
  local request, culprit = arguments.read_from(HEAD, args, 1)
  if not request then return nil, culprit end
  local claims, seen = {}, {}
  for i = 1, count do
    local claim, what = arguments.read_from(EACH, args, #HEAD + 1 + (i - 1) * #EACH)
    if not claim then return nil, what end
    if seen[claim.digest] then return nil, 'digest' end
    seen[claim.digest] = true
    claims[i] = claim
  end
  request.claims = claims
  return request
end

-- Gives the claims whose identity is marked their code; the refusal if the marks cannot be read.
local function set_quarantined(call, claims)
  if call.gate.quarantined == 0 then return nil end
  for i = 1, #claims do
    local refusal = quarantine.refusal(call, claims[i].digest)
    if refusal and refusal[1] ~= 'quarantined' then return refusal end
    if refusal then claims[i].code = renewal.CODE.quarantined end
  end
  return nil
end

-- The claims to be written, and those whose identity is to be marked.
local function sort_out(claims)
  local renewed, corrupt = {}, {}
  for i = 1, #claims do
    local claim = claims[i]
    if claim.lease then renewed[#renewed + 1] = claim end
    if claim.corrupt then corrupt[#corrupt + 1] = claim end
  end
  return renewed, corrupt
end

local function write_renewals(call, request, renewed)
  audit.write(call, {
    event = 'target_lease_renew', code = 'lease_renewed', correlation_id = request.correlation_id,
    previous_state = 'active', state = 'active',
    reason = 'timed, ' .. #renewed .. ' of ' .. #request.claims })
  local expiries, largest = {}, call.gate.largest_ttl
  for i = 1, #renewed do
    local lease = renewed[i].lease
    expiries[2 * i - 1], expiries[2 * i] = arguments.text(lease.expires_at), renewed[i].digest
    largest = math.max(largest, lease.ttl_ms)
  end
  index.reschedule(call, expiries)
  call.gate.largest_ttl = largest
  gate.advance(call)
  for i = 1, #renewed do record.write_renewal(renewed[i].lease, renewed[i].key) end
end

local function write(call, request)
  local renewed, corrupt = sort_out(request.claims)
  if #renewed + #corrupt == 0 then return nil end
  local shared = { 'audit', 'expiry', #corrupt > 0 and 'quarantine' or nil }
  local damaged = store.damaged(call.partition, shared)
  if damaged then return reply.damaged(call, damaged) end
  if #renewed > 0 then write_renewals(call, request, renewed) end
  for i = 1, #corrupt do
    quarantine.shut(call, corrupt[i].digest, corrupt[i].corrupt, corrupt[i])
  end
  return nil
end

local function renew(gate_keys, args)
  local request, culprit = read_arguments(args)
  if not request then return reply.invalid(culprit) end
  local call, refusal = opening.for_writing(gate_keys[1])
  if not call then return refusal end
  if admission.is_late(call, request.deadline_ms) then return reply.of(call, 'deadline') end
  local claims = request.claims
  refusal = set_quarantined(call, claims)
  if refusal then return refusal end
  renewal.judge(call, claims)
  refusal = write(call, request)
  if refusal then return refusal end
  local told = reply.head(call, 'renewed')
  for i = 1, #claims do
    told[3 + 2 * i], told[4 + 2 * i] = claims[i].code, claims[i].expires_at or 0
  end
  return told
end

return renew
