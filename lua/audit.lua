-- The audit stream of a partition: one entry for each mutation, in the call that makes it. No
-- metadata, no lock key, no credential material has a field here.
local arguments = require 'arguments'
local prelude = require 'prelude'

local audit = {}

-- Always all fields in this order: entries of one shape share their names in the stream.
local FIELDS = {
  'event', 'code', 'at', 'request_id', 'correlation_id', 'decision_id', 'execution_id', 'job_id',
  'trace_id', 'principal_class', 'principal_id', 'client_id', 'credential_id', 'instance_id',
  'scope', 'lease_id', 'token', 'ttl_ms', 'deadline', 'previous_state', 'state', 'reason',
}

-- `entry` holds what is known, by the names of FIELDS.
function audit.write(call, entry)
  entry.at = call.now_ms
  local flat = { 'XADD', call.partition.audit, 'MAXLEN', '~', prelude.AUDIT_LENGTH, '*' }
  local n = #flat
  for i = 1, #FIELDS do
    local name = FIELDS[i]
    local value = entry[name] or ''
    if type(value) == 'number' then value = arguments.text(value) end
    flat[n + 1], flat[n + 2] = name, value
    n = n + 2
  end
  server.call(unpack(flat, 1, n))
end

-- The seven components of an identity as one text; none of them can hold a slash.
local function scope_of(record)
  local parts, components = {}, prelude.COMPONENTS
  for i = 1, #components do parts[i] = record[components[i]] end
  return table.concat(parts, '/')
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
    lease_id = record.lease_id, token = record.token, ttl_ms = record.ttl_ms,
    deadline = request.deadline_ms and (request.deadline_ms > 0 and 'bounded' or 'none') or '',
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
