-- Says that a namespace is new: makes its gate, with no wait and no grace. Only where there is
-- neither a gate nor anything that a lost gate would have left. README, "starlease1_gate_init".
local arguments = require 'arguments'
local audit = require 'audit'
local gate = require 'gate'
local opening = require 'opening'
local prelude = require 'prelude'
local reply = require 'reply'
local server_id = require 'server_id'

local ARGUMENTS = arguments.specification {
  'namespace_id', 'id', 'partition_count', 'partitions', 'request_id', 'id',
  'correlation_id', 'maybe_id', 'decision_id', 'maybe_id', 'principal_class', 'maybe_id',
  'principal_id', 'maybe_id',
}

local function holds_data(partition)
  return server.call('EXISTS', partition.expiry, partition.index, partition.history,
                     partition.audit, partition.quarantine) > 0
end

local function gate_init(gate_keys, args)
  local request, culprit = arguments.read(ARGUMENTS, args)
  if not request then return reply.invalid(culprit) end
  local call, malformed = opening.look(gate_keys[1])
  if not call then return malformed end
  local refusal = call.condition ~= 'absent' and 'exists'
    or holds_data(call.partition) and 'not_new'
  if refusal then return reply.gate_block(reply.head(call, refusal), call, call.condition) end

  audit.write(call, audit.of_gate('initialized', request, call.time_us))
  opening.install(call, {
    highest_us = call.time_us, sequence = 1, largest_ttl = 0, quarantined = 0,
    cold = { schema_version = prelude.SCHEMA_VERSION, state = gate.SERVING,
             partition_count = request.partition_count, epoch = call.time_us,
             token_floor = call.time_us, recovered_at = call.now_ms, grace_until = call.now_ms,
             namespace_id = request.namespace_id, server_id = server_id.read(),
             tag = call.partition.tag } })
  return reply.gate_block(reply.head(call, 'initialized'), call, '')
end

return gate_init
