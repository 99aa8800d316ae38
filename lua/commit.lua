-- The fenced write: valid lease, high-water mark, the write's own guard and the write itself at one
-- linearization point. Contract "fencing". README, "starlease1_commit".
local admission = require 'admission'
local arguments = require 'arguments'
local audit = require 'audit'
local document = require 'document'
local fence = require 'fence'
local gate = require 'gate'
local idempotency = require 'idempotency'
local lifecycle = require 'lifecycle'
local prelude = require 'prelude'
local quarantine = require 'quarantine'
local record = require 'record'
local reply = require 'reply'
local store = require 'store'

local ARGUMENTS = arguments.specification {
  'digest', 'digest', 'lease_id', 'id', 'token', 'positive', 'owner_principal_id', 'id',
  'owner_client_id', 'id', 'owner_credential_id', 'id', 'service_instance_id', 'id',
  'envelope_expires_at', 'int', 'execution_id', 'maybe_id', 'trace_id', 'maybe_id',
  'kind', 'commit_kind', 'name', 'maybe_id', 'type', 'document_type', 'body', 'body',
  'expect_revision', 'int', 'sequence', 'int', 'completed_execution_id', 'maybe_id',
  'next_due_at', 'int', 'request_id', 'id', 'scope', 'scope', 'request_digest', 'request_digest',
  'retention_ms', 'duration', 'refusal_retention_ms', 'span', 'correlation_id', 'maybe_id',
  'decision_id', 'maybe_id', 'principal_class', 'maybe_id', 'deadline_ms', 'int',
}

local function misfit(request)
  if request.kind == 'authorize' then return nil end
  if request.name == '' then return 'name' end
  if request.type == 0 then return 'type' end
  if #request.body < 2 then return 'body' end
end

-- True if the envelope is one that this lease's holder was given. Renewals move the end, so an
-- envelope's need not be the present one, but it lies within the lease's life.
local function is_of(lease, request)
  return lease.lease_id == request.lease_id and lease.token == request.token
    and lease.owner_principal_id == request.owner_principal_id
    and lease.execution_id == request.execution_id and lease.trace_id == request.trace_id
    and request.envelope_expires_at > lease.acquired_at
    and request.envelope_expires_at <= lease.acquired_at + lease.maximum_lifetime_ms
end

local function write_audit(call, request, event, code)
  local entry = audit.about(event, code, request, request)
  if request.kind == 'document' then entry.reason = 'document ' .. request.name end
  audit.write(call, entry)
end

-- Refused, with evidence of it; the answer is kept like one that was done.
local function reject(call, request, outcome, code, fields)
  write_audit(call, request, 'target_lease_commit_rejected', code)
  gate.advance(call)
  if request.refusal_retention_ms > 0 then
    idempotency.keep(call, request, 'commit', outcome, fields, request.refusal_retention_ms)
  end
end

local function lost(call, request, state)
  reject(call, request, 'lost', 'lease_lost', { state = state })
  return reply.of(call, 'lost', record.STATE_NAMES[state] or '')
end

local function conflict(call, request, revision)
  reject(call, request, 'commit_conflict', 'commit_conflict', { revision = revision })
  return reply.of(call, 'commit_conflict', revision)
end

-- The lease that the envelope names, active, with no higher token committed; or nil and why not.
local function fenced_lease(call, request, found)
  local lease = found.record
  if not lease or not is_of(lease, request) then return nil, lost(call, request, 0) end
  local ended = lifecycle.ended(call, lease)
  if ended.code ~= record.ACTIVE then return nil, lost(call, request, ended.code) end
  if request.token < found.fence.committed then return nil, lost(call, request, 0) end
  return lease
end

local function accept(call, request, found, revision)
  local components = prelude.COMPONENTS
  for i = 1, #components do request[components[i]] = found.record[components[i]] end
  request.job_id = found.record.job_id
  if revision > 0 then
    write_audit(call, request, 'target_lease_commit', 'lease_committed')
  else
    write_audit(call, request, 'target_lease_commit', 'lease_commit_authorized')
  end
  gate.advance(call)
  if found.fence.committed < request.token then
    found.fence.committed = request.token
    fence.write(found.fence, request.digest)
  end
  if revision > 0 then document.write(call, request.digest, request, revision) end
  idempotency.keep(call, request, 'commit', 'committed', {
    accepted_at = call.now_ms, revision = revision, token = request.token,
    lease_id = request.lease_id, acquire_scope = found.record.acquire_scope },
    request.retention_ms)
  return reply.of(call, 'committed', call.now_ms, revision, request.token)
end

local function write_document(call, request, found)
  local current, corrupt = document.read(call, request.digest, request.name)
  if corrupt then return quarantine.shut(call, request.digest, corrupt, request) end
  if not document.admits(current, request) then
    return conflict(call, request, current and current.revision or 0)
  end
  if not current and document.is_full(call, request.digest) then return reply.of(call, 'full') end
  return accept(call, request, found, request.expect_revision + 1)
end

local function commit(gate_keys, args)
  local call, request, found, refusal =
    admission.enter(gate_keys, args, ARGUMENTS, 'commit', misfit)
  if not call then return refusal end
  local damaged = store.damaged(call.partition)
  if damaged then return reply.damaged(call, damaged) end
  local lease, refused = fenced_lease(call, request, found)
  if not lease then return refused end
  if request.kind == 'document' then return write_document(call, request, found) end
  return accept(call, request, found, 0)
end

return commit
