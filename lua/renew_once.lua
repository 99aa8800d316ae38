-- renew-if-owner as a worker's own request. Contract "renew". README, "starlease1_renew_once".
local admission = require 'admission'
local arguments = require 'arguments'
local audit = require 'audit'
local bytes = require 'record_bytes'
local gate = require 'gate'
local idempotency = require 'idempotency'
local index = require 'index'
local keys = require 'keys'
local lifecycle = require 'lifecycle'
local record = require 'record'
local reply = require 'reply'
local store = require 'store'

local ARGUMENTS = arguments.specification {
  'digest', 'digest', 'lease_id', 'id', 'token', 'positive', 'owner_principal_id', 'id',
  'service_instance_id', 'id', 'ttl_ms', 'duration', 'request_id', 'id', 'scope', 'scope',
  'request_digest', 'request_digest', 'retention_ms', 'duration', 'refusal_retention_ms', 'span',
  'correlation_id', 'maybe_id', 'decision_id', 'maybe_id', 'principal_class', 'maybe_id',
  'deadline_ms', 'int',
}

local function write(call, request, lease)
  local entry = audit.about('target_lease_renew', 'lease_renewed', request, lease)
  entry.previous_state, entry.state = 'active', 'active'
  audit.write(call, entry)
  index.reschedule(call, { arguments.text(lease.expires_at), request.digest })
  call.gate.largest_ttl = math.max(call.gate.largest_ttl, record.ttl_ms(lease))
  gate.advance(call)
  bytes.write_renewal(keys.lease(call.partition, request.digest),
                      bytes.renewal(lease.renewed_at, lease.expires_at, lease.renew_sequence))
  idempotency.keep(call, request, 'renew', 'renewed', {
    token = lease.token, acquired_at = lease.acquired_at, renewed_at = lease.renewed_at,
    expires_at = lease.expires_at, lease_id = lease.lease_id,
    acquire_scope = lease.acquire_scope }, request.retention_ms)
end

local function renew_once(gate_keys, args)
  local call, request, found, refusal =
    admission.enter(gate_keys, args, ARGUMENTS, 'renew')
  if not call then return refusal end
  local lease, refused = admission.held_lease(call, request, 'renew', found)
  if not lease then return refused end
  local damaged = store.damaged(call.partition)
  if damaged then return reply.damaged(call, damaged) end
  lease.renewed_at = call.now_ms
  lease.expires_at = record.renewed_end(call.now_ms, request.ttl_ms, lease.acquired_at,
                                        lease.maximum_lifetime_ms, lease.expires_at)
  write(call, request, lease)
  return reply.record_block(reply.head(call, 'renewed'), lease, lifecycle.ended(call, lease))
end

return renew_once
