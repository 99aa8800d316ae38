-- Opens a partition after a restart, a restore, a failover, a loss or a clock that stepped back: a
-- new epoch above every token ever given, or (keep) the same one bound to this server. Conditional
-- on the gate as observed, so that two daemons recover once. README, "starlease1_recover";
-- docs/data-model.md, "Gate".
local arguments = require 'arguments'
local audit = require 'audit'
local gate = require 'gate'
local opening = require 'opening'
local prelude = require 'prelude'
local reply = require 'reply'
local server_id = require 'server_id'
local store = require 'store'

local ARGUMENTS = arguments.specification {
  'observed', 'maybe_id', 'wall_ms', 'int', 'tolerance_ms', 'int', 'seen_token', 'int',
  'grace_mode', 'grace_mode', 'least_grace_ms', 'span', 'keep', 'flag', 'seen_sequence', 'int',
  'namespace_id', 'id', 'partition_count', 'partitions', 'request_id', 'id',
  'correlation_id', 'maybe_id', 'decision_id', 'maybe_id', 'principal_class', 'maybe_id',
  'principal_id', 'maybe_id',
}

local function refuse(call, status, ...)
  local told = reply.gate_block(reply.head(call, status), call, call.condition)
  return reply.append(told, { ... })
end

-- A floor taken from a clock that is wrong could lie below tokens that were given: refused.
local function clock_refusal(call, request)
  local difference_ms = call.now_ms - request.wall_ms
  local behind_us = call.gate and call.gate.highest_us - call.time_us or 0
  if math.abs(difference_ms) <= request.tolerance_ms and behind_us <= 0 then return nil end
  return refuse(call, 'clock', difference_ms, math.max(0, math.ceil(behind_us / 1000)))
end

local function refusal_of(call, request)
  local cold = call.gate and call.gate.cold
  if reply.observed(call) ~= request.observed then return refuse(call, 'conflict') end
  if cold and (cold.namespace_id ~= request.namespace_id
               or cold.partition_count ~= request.partition_count) then
    return refuse(call, 'mismatch')
  end
  if request.keep and (call.condition ~= 'serving'
                       or call.gate.sequence < request.seen_sequence) then
    return refuse(call, 'keep_refused')
  end
  return clock_refusal(call, request)
end

-- When the last lease that may still be relied on somewhere has ended. Where data may have gone
-- back, the gate need not know the longest of them, so the daemon says how long at least. A grace
-- that runs already is never cut short.
local function grace_until(call, request)
  if request.grace_mode == 'none' then return call.now_ms end
  local known = call.gate
  local longest = math.max(known and known.largest_ttl or 0, request.least_grace_ms)
  return math.max(known and known.cold.grace_until or 0, call.now_ms + longest)
end

local function new_gate(call, request, floor)
  local old = call.gate
  return {
    highest_us = call.time_us,
    sequence = math.max(old and old.sequence or 0, request.seen_sequence) + 1,
    largest_ttl = old and old.largest_ttl or 0,
    quarantined = server.call('HLEN', call.partition.quarantine),
    cold = { schema_version = prelude.SCHEMA_VERSION, state = gate.SERVING,
             partition_count = request.partition_count, epoch = floor, token_floor = floor,
             recovered_at = call.now_ms, grace_until = grace_until(call, request),
             namespace_id = request.namespace_id, server_id = server_id.read(),
             tag = call.partition.tag } }
end

-- The same epoch on another server: the leases are as they were.
local function rebind(call, request)
  local rebound = new_gate(call, request, call.gate.cold.epoch)
  rebound.cold.recovered_at = call.gate.cold.recovered_at
  rebound.cold.grace_until = call.gate.cold.grace_until
  audit.write(call, audit.of_gate('rebound', request, rebound.cold.epoch))
  opening.install(call, rebound)
  return reply.gate_block(reply.head(call, 'rebound'), call, '')
end

local function begin_epoch(call, request)
  local old_floor = call.gate and call.gate.cold.token_floor or 0
  local floor = math.max(call.time_us, old_floor + 1, request.seen_token + 1)
  if floor >= prelude.MAX_INTEGER then return refuse(call, 'exhausted') end
  local entry = audit.of_gate('recovered', request, floor)
  entry.reason = call.condition
  audit.write(call, entry)
  opening.install(call, new_gate(call, request, floor))
  server.call('PUBLISH', call.partition.notices, 'recovered ' .. arguments.text(floor))
  return reply.gate_block(reply.head(call, 'recovered'), call, '')
end

local function recover(gate_keys, args)
  local request, culprit = arguments.read(ARGUMENTS, args)
  if not request then return reply.invalid(culprit) end
  local call, malformed = opening.look(gate_keys[1])
  if not call then return malformed end
  local refusal = refusal_of(call, request)
  if refusal then return refusal end
  local damaged = store.damaged(call.partition)
  if damaged then return reply.damaged(call, damaged) end
  if request.keep then return rebind(call, request) end
  return begin_epoch(call, request)
end

return recover
