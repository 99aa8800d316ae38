-- The audit stream of a partition: one entry for each mutation, in the call that makes it. No
-- metadata, no lock key, no credential material has a field here.
local arguments = require 'arguments'
local prelude = require 'prelude'

local audit = {}

local function number(value)
  return value and arguments.text(value) or ''
end

-- Always all fields in this order: entries of one shape share their names in the stream. More may
-- follow.
local function add(call, entry, ...)
  server.call('XADD', call.partition.audit, 'MAXLEN', '~', prelude.AUDIT_LENGTH, '*',
    'event', entry.event, 'code', entry.code, 'at', number(call.now_ms),
    'request_id', entry.request_id or '', 'correlation_id', entry.correlation_id or '',
    'decision_id', entry.decision_id or '', 'execution_id', entry.execution_id or '',
    'job_id', entry.job_id or '', 'trace_id', entry.trace_id or '',
    'principal_class', entry.principal_class or '', 'principal_id', entry.principal_id or '',
    'client_id', entry.client_id or '', 'credential_id', entry.credential_id or '',
    'instance_id', entry.instance_id or '', 'scope', entry.scope or '',
    'lease_id', entry.lease_id or '', 'token', number(entry.token),
    'ttl_ms', number(entry.ttl_ms), 'deadline', entry.deadline or '',
    'previous_state', entry.previous_state or '', 'state', entry.state or '',
    'reason', entry.reason or '', ...)
end

function audit.write(call, entry)
  add(call, entry)
end

-- With what an administrator has signed, and how.
function audit.write_signed(call, entry, signed)
  add(call, entry, 'statement', signed.statement, 'key_id', signed.key_id,
      'signature', signed.signature)
end

-- The seven components of an identity as one text; none of them can hold a slash. Empty where the
-- caller does not know them.
local function scope_of(record)
  if not record.tenant_id then return '' end
  return table.concat({ record.tenant_id, record.program_id, record.target_namespace,
                        record.target_id, record.actor_name, record.workflow_name,
                        record.operation_class }, '/')
end

-- Starts an entry about one lease: who asked (`request`), and which lease (`record`).
function audit.about(event, code, request, record)
  return {
    event = event, code = code, request_id = request.request_id,
    correlation_id = request.correlation_id, decision_id = request.decision_id,
    execution_id = record.execution_id, job_id = record.job_id, trace_id = record.trace_id,
    principal_class = request.principal_class, principal_id = record.owner_principal_id,
    client_id = record.owner_client_id, credential_id = record.owner_credential_id,
    instance_id = record.service_instance_id, scope = scope_of(record),
    lease_id = record.lease_id, token = record.token,
    ttl_ms = record.expires_at and record.expires_at - record.renewed_at,
    deadline = request.deadline_ms and (request.deadline_ms > 0 and 'bounded' or 'none') or '',
    previous_state = '', state = '', reason = '',
  }
end

-- An entry about the whole partition; `token` is the floor.
function audit.of_gate(code, request, token)
  return {
    event = 'target_lease_recover', code = code, request_id = request.request_id,
    correlation_id = request.correlation_id, decision_id = request.decision_id,
    principal_class = request.principal_class, principal_id = request.principal_id,
    token = token }
end

return audit
