-- release-if-owner: active -> released, with its evidence. Contract "release". README,
-- "starlease1_release".
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

local ARGUMENTS = arguments.specification {
  'digest', 'digest', 'lease_id', 'id', 'token', 'positive', 'owner_principal_id', 'id',
  'service_instance_id', 'id', 'request_id', 'id', 'scope', 'scope',
  'request_digest', 'request_digest', 'retention_ms', 'duration', 'refusal_retention_ms', 'span',
  'terminal_retention_ms', 'duration', 'correlation_id', 'maybe_id', 'decision_id', 'maybe_id',
  'principal_class', 'maybe_id', 'deadline_ms', 'int',
}

-- The terminal record takes the active one's place, and all that made it active goes. It stays at
-- least as long as it has to answer for its acquisition.
local function write_end(call, request, lease)
  local entry = audit.about('target_lease_release', 'lease_released', request, lease)
  entry.previous_state, entry.state, entry.reason = 'active', 'released', 'released'
  audit.write(call, entry)
  lifecycle.finish(lease, { code = record.RELEASED, at = call.now_ms,
                            reason_code = record.REASON.released })
  history.write(call, lease, request.digest)
  gate.advance(call)
  local until_ms = math.max(call.now_ms + request.terminal_retention_ms, lease.kept_until)
  server.call('SET', keys.lease(call.partition, request.digest), bytes.encode(lease),
              'PXAT', arguments.text(until_ms))
  index.remove(call, lease, request.digest)
  idempotency.keep(call, request, 'release', 'released', {
    ended_at = call.now_ms, lease_id = lease.lease_id, token = lease.token },
    request.retention_ms)
end

local function release(gate_keys, args)
  local call, request, found, refusal =
    admission.enter(gate_keys, args, ARGUMENTS, 'release')
  if not call then return refusal end
  local lease, refused = admission.held_lease(call, request, 'release', found)
  if not lease then return refused end
  local damaged = store.damaged(call.partition)
  if damaged then return reply.damaged(call, damaged) end
  write_end(call, request, lease)
  history.notify(call, 'released', lease.lease_id, request.digest)
  return reply.of(call, 'released', call.now_ms, lease.lease_id, lease.token)
end

return release
