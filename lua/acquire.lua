-- acquire-if-free: no active record -> active. Contract "acquire". README, "starlease1_acquire".
local admission = require 'admission'
local arguments = require 'arguments'
local audit = require 'audit'
local bytes = require 'record_bytes'
local fence = require 'fence'
local gate = require 'gate'
local history = require 'history'
local idempotency = require 'idempotency'
local index = require 'index'
local keys = require 'keys'
local lifecycle = require 'lifecycle'
local prelude = require 'prelude'
local record = require 'record'
local reply = require 'reply'
local store = require 'store'

local ARGUMENTS = arguments.specification {
  'digest', 'digest', 'tenant_id', 'component', 'program_id', 'component',
  'target_namespace', 'component', 'target_id', 'component', 'actor_name', 'component',
  'workflow_name', 'component', 'operation_class', 'component',
  'owner_principal_id', 'id', 'owner_client_id', 'id', 'owner_credential_id', 'id',
  'service_instance_id', 'id', 'lease_id', 'id', 'ttl_ms', 'duration',
  'maximum_lifetime_ms', 'duration', 'execution_id', 'maybe_id', 'job_id', 'maybe_id',
  'trace_id', 'maybe_id', 'metadata', 'metadata', 'request_id', 'id', 'scope', 'scope',
  'request_digest', 'request_digest', 'retention_ms', 'duration', 'refusal_retention_ms', 'span',
  'record_retention_ms', 'duration', 'owner_hash', 'hash8', 'program_hash', 'hash8',
  'target_hash', 'hash8', 'correlation_id', 'maybe_id', 'decision_id', 'maybe_id',
  'principal_class', 'maybe_id', 'deadline_ms', 'int', 'lock_delay_ms', 'span',
}

local function ttl_exceeds_lifetime(request)
  if request.ttl_ms > request.maximum_lifetime_ms then return 'ttl_ms' end
end

-- How long a lease that its holder did not give back still keeps others out: downstreams that
-- cannot check tokens may hear of its writes so long.
local function delay_left(call, request, ended)
  local is_lost = ended.code == record.EXPIRED or ended.reason_code == record.REASON.recovered
  return is_lost and ended.at + request.lock_delay_ms - call.now_ms or 0
end

local function conflict(call, request, remaining_ms, own_lease_id)
  local told = { remaining_ms = remaining_ms, own_lease_id = own_lease_id }
  admission.keep_refusal(call, request, 'acquire', 'conflict', told)
  return reply.of(call, 'conflict', told.remaining_ms, told.own_lease_id)
end

-- Terminal evidence of a lease that nobody had ended yet.
local function bury(call, request, predecessor, ended)
  local entry = audit.about('target_lease_expire', ended.state, request, predecessor)
  entry.previous_state, entry.state, entry.reason = 'active', ended.state, ended.reason
  audit.write(call, entry)
  history.write(call, lifecycle.finish(predecessor, ended), request.digest)
  index.remove(call, predecessor, request.digest)
end

-- Makes room for a new record: what only the old one told is kept elsewhere.
local function replace(call, request, predecessor, ended)
  idempotency.outlive(call, predecessor, ended.code)
  if predecessor.state == record.ACTIVE then bury(call, request, predecessor, ended) end
end

-- The request becomes the record: it has the caller's fields already.
local function make_record(call, request, token)
  local now = call.now_ms
  request.token, request.epoch = token, call.epoch
  request.acquired_at, request.renewed_at = now, now
  request.expires_at, request.granted_ttl_ms = now + request.ttl_ms, request.ttl_ms
  request.state, request.reason, request.ended_at = record.ACTIVE, 0, 0
  request.renew_sequence, request.acquire_scope = 0, request.scope
  request.kept_until = now + request.retention_ms
  return request
end

-- The counter goes before the record: no prefix of these writes lets a token be given twice.
local function write_grant(call, lease, counters)
  local entry = audit.about('target_lease_acquire', 'lease_acquired', lease, lease)
  entry.state = 'active'
  audit.write(call, entry)
  index.add(call, lease, lease.digest)
  call.gate.largest_ttl = math.max(call.gate.largest_ttl, lease.ttl_ms)
  gate.advance(call)
  fence.write(counters, lease.digest)
  local until_ms = math.max(lease.acquired_at + lease.maximum_lifetime_ms
                              + lease.record_retention_ms, lease.kept_until)
  server.call('SET', keys.lease(call.partition, lease.digest), bytes.encode(lease),
              'PXAT', arguments.text(until_ms))
end

-- All of it or, if a shared key is damaged, nothing.
local function grant(call, request, counters, predecessor, ended)
  local damaged = store.damaged(call.partition)
  if damaged then return reply.damaged(call, damaged) end
  if predecessor then replace(call, request, predecessor, ended) end
  local lease = make_record(call, request, counters.counter)
  write_grant(call, lease, counters)
  return reply.of(call, 'acquired', lease.lease_id, lease.token, lease.acquired_at,
                  lease.renewed_at, lease.expires_at, lease.ttl_ms)
end

local function own_lease_id(request, holder)
  local is_own = holder.owner_principal_id == request.owner_principal_id
    and holder.service_instance_id == request.service_instance_id
  return is_own and holder.lease_id or ''
end

local function acquire(gate_keys, args)
  local call, request, found, refusal =
    admission.enter(gate_keys, args, ARGUMENTS, 'acquire', ttl_exceeds_lifetime)
  if not call then return refusal end
  local cold = call.gate.cold
  if call.now_ms < cold.grace_until then
    return reply.of(call, 'grace', cold.grace_until - call.now_ms)
  end
  local predecessor, counters = found.record, found.fence
  local ended = predecessor and lifecycle.ended(call, predecessor)
  if ended and ended.code == record.ACTIVE then
    return conflict(call, request, predecessor.expires_at - call.now_ms,
                    own_lease_id(request, predecessor))
  end
  local delay = ended and delay_left(call, request, ended) or 0
  if delay > 0 then return conflict(call, request, delay, '') end
  counters.counter = math.max(counters.counter, cold.token_floor) + 1
  if counters.counter > prelude.MAX_INTEGER then return reply.of(call, 'exhausted') end
  return grant(call, request, counters, predecessor, ended)
end

return acquire
