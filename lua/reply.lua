-- Replies: flat arrays that begin with status, time, epoch and sequence. README, "Calling
-- convention".
local prelude = require 'prelude'
local server_id = require 'server_id'

local reply = {}

-- Begins a reply; the caller appends the fields of the status.
function reply.head(call, status)
  return { status, call.now_ms, call.epoch, call.sequence }
end

function reply.of(call, status, ...)
  return { status, call.now_ms, call.epoch, call.sequence, ... }
end

function reply.append(self, fields)
  local n = #self
  for i = 1, #fields do self[n + i] = fields[i] end
  return self
end

function reply.invalid(what)
  return { 'invalid', 0, 0, 0, what }
end

-- Names a gate, the damage in it and the server that shows it: what recover is conditional on.
function reply.observed(call)
  local server_now = server_id.read()
  return call.condition .. ':'
    .. server.sha1hex((call.raw_gate or '') .. '|' .. call.condition .. '|' .. server_now)
end

-- A key shared by the partition cannot be written: README, "Statuses that any function".
function reply.damaged(call, name)
  return reply.of(call, 'damaged', name)
end

local no_gate = { highest_us = 0, sequence = 0, largest_ttl = 0, quarantined = 0, cold = {
  server_id = '', epoch = 0, token_floor = 0, recovered_at = 0, grace_until = 0,
  namespace_id = '', partition_count = 0, schema_version = 0 } }

-- Appends the gate block.
function reply.gate_block(self, call, reason)
  local gate = call.gate or no_gate
  local cold = gate.cold
  return reply.append(self, {
    reason, reply.observed(call), server_id.read(), cold.server_id, call.condition,
    cold.epoch, cold.token_floor, gate.highest_us, gate.sequence, gate.largest_ttl,
    cold.recovered_at, cold.grace_until, cold.namespace_id, cold.partition_count,
    cold.schema_version, gate.quarantined, call.time_us })
end

function reply.recovering(call, reason)
  return reply.gate_block(reply.head(call, 'recovering'), call, reason)
end

-- The record block; `ended` is what lifecycle tells of the record.
function reply.record_block(self, record, ended)
  reply.append(self, {
    ended.state, record.token, record.epoch, record.acquired_at, record.renewed_at,
    record.expires_at, record.expires_at - record.renewed_at, record.maximum_lifetime_ms,
    record.renew_sequence, ended.at, ended.reason, record.lease_id, record.owner_principal_id,
    record.owner_client_id, record.owner_credential_id, record.service_instance_id })
  local components = prelude.COMPONENTS
  for i = 1, #components do self[#self + 1] = record[components[i]] end
  return reply.append(self, { record.execution_id, record.job_id, record.trace_id,
                              record.request_id, record.metadata })
end

return reply
