-- force-release and revoke: an administrator ends the lease that he has seen. Contract
-- "force-release" and "revoke". README, "starlease1_invalidate".
local admission = require 'admission'
local arguments = require 'arguments'
local audit = require 'audit'
local bytes = require 'record_bytes'
local gate = require 'gate'
local history = require 'history'
local idempotency = require 'idempotency'
local index = require 'index'
local keys = require 'keys'
local lifecycle = require 'lifecycle'
local record = require 'record'
local reply = require 'reply'
local store = require 'store'

-- `principal_id` and the three below it are the administrator's; the owner is in the record.
local ARGUMENTS = arguments.specification {
  'operation', 'invalidation', 'digest', 'digest', 'lease_id', 'id', 'token', 'positive',
  'why', 'why', 'statement', 'statement', 'signature', 'id', 'key_id', 'id',
  'principal_id', 'id', 'client_id', 'id', 'credential_id', 'id', 'instance_id', 'id',
  'request_id', 'id', 'scope', 'scope', 'request_digest', 'request_digest',
  'retention_ms', 'duration', 'refusal_retention_ms', 'span', 'correlation_id', 'maybe_id',
  'decision_id', 'maybe_id', 'principal_class', 'maybe_id', 'deadline_ms', 'int',
}

local ENDS = {
  force_release = { code = record.RELEASED, reason_code = record.REASON.force_released,
                    event = 'target_lease_force_release', told = 'lease_force_released',
                    notice = 'force_released' },
  revoke = { code = record.REVOKED, reason_code = record.REASON.revoked,
             event = 'target_lease_revoke', told = 'lease_revoked', notice = 'revoked' },
}

-- The administrator's act and what it was about; who held the lease is named by the scope alone.
local function entry_of(request, code, lease)
  local entry = audit.about(ENDS[request.operation].event, code, request, lease)
  entry.principal_id, entry.client_id = request.principal_id, request.client_id
  entry.credential_id, entry.instance_id = request.key_id, request.instance_id
  entry.lease_id, entry.token, entry.reason = request.lease_id, request.token, request.why
  return entry
end

local function lost(call, request, found, state)
  local damaged = store.damaged(call.partition)
  if damaged then return reply.damaged(call, damaged) end
  audit.write_signed(call, entry_of(request, 'lease_lost', found.record or {}), request)
  gate.advance(call)
  if request.refusal_retention_ms > 0 then
    idempotency.keep(call, request, request.operation, 'lost', { state = state },
                     request.refusal_retention_ms)
  end
  return reply.of(call, 'lost', record.STATE_NAMES[state] or '')
end

local function write_end(call, request, lease)
  local the_end = ENDS[request.operation]
  local entry = entry_of(request, the_end.told, lease)
  entry.previous_state, entry.state = 'active', record.STATE_NAMES[the_end.code]
  audit.write_signed(call, entry, request)
  lifecycle.finish(lease, { code = the_end.code, at = call.now_ms,
                            reason_code = the_end.reason_code })
  history.write(call, lease, request.digest)
  gate.advance(call)
  bytes.write_end(lease, keys.lease(call.partition, request.digest))
  index.remove(call, lease, request.digest)
  idempotency.keep(call, request, request.operation, 'invalidated', {
    ended_at = call.now_ms, token = lease.token, lease_id = lease.lease_id },
    request.retention_ms)
  history.notify(call, the_end.notice, lease.lease_id, request.digest)
end

local function invalidate(gate_keys, args)
  local operation = args[1]
  local call, request, found, refusal =
    admission.enter(gate_keys, args, ARGUMENTS, operation)
  if not call then return refusal end
  local lease = found.record
  if not lease or lease.lease_id ~= request.lease_id or lease.token ~= request.token then
    return lost(call, request, found, 0)
  end
  local ended = lifecycle.ended(call, lease)
  if ended.code ~= record.ACTIVE then return lost(call, request, found, ended.code) end
  local damaged = store.damaged(call.partition)
  if damaged then return reply.damaged(call, damaged) end
  write_end(call, request, lease)
  return reply.of(call, 'invalidated', call.now_ms, lease.lease_id, lease.token)
end

return invalidate
