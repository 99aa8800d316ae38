-- The first steps of every call: the gate, the server, the clock. Gives a call (partition, gate,
-- time), or the reply that refuses it. Order of the checks: README, "Gate block".
local audit = require 'audit'
local gate = require 'gate'
local keys = require 'keys'
local prelude = require 'prelude'
local reply = require 'reply'
local server_id = require 'server_id'
local store = require 'store'

local opening = {}

local function time_us()
  local time = server.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local function set_now(call, now_us)
  call.now_us = now_us
  call.now_ms = math.floor(now_us / 1000)
end

-- What there is, without judging: `condition` is absent, corrupt, serving or closed.
local function observe(partition, raw_gate, is_foreign_type)
  local now_us = time_us()
  local call = {
    partition = partition, raw_gate = raw_gate,
    gate = raw_gate and gate.decode(partition, raw_gate),
    condition = 'absent', epoch = 0, sequence = 0, time_us = now_us, now_us = now_us,
    now_ms = math.floor(now_us / 1000) }
  if call.gate then
    call.epoch, call.sequence = call.gate.cold.epoch, call.gate.sequence
    call.condition = call.gate.cold.state == gate.SERVING and 'serving' or 'closed'
  else
    call.condition = (raw_gate or is_foreign_type) and 'corrupt' or 'absent'
  end
  return call
end

-- A clock that stepped back by little stands still until it has caught up; more closes the gate.
-- Reads count too: what one call told to have expired is not alive for the next.
local function clock_holds(call)
  local partition = call.partition
  local reference = math.max(call.gate.highest_us, partition.seen_us)
  if reference - call.time_us >= prelude.STEP_BACK_TOLERANCE_US then
    return false, reference
  end
  set_now(call, math.max(call.time_us, reference))
  partition.seen_us = call.now_us
  return true
end

local function close_by_clock(call, reference)
  local damaged = store.damaged(call.partition)
  gate.close(call, reference)
  if not damaged then
    audit.write(call, { event = 'target_lease_gate', code = 'closed', reason = 'clock' })
  end
end

-- Judges an observed gate. `mutating` is false for functions that may not write.
local function admit(call, mutating)
  if not call.gate then return nil, reply.recovering(call, call.condition) end
  if not server_id.is(call.gate.cold.server_id) then
    return nil, reply.recovering(call, 'foreign')
  end
  if call.condition == 'closed' then return nil, reply.recovering(call, 'closed') end
  local holds, reference = clock_holds(call)
  if holds then return call end
  if mutating then close_by_clock(call, reference) end
  return nil, reply.recovering(call, 'clock')
end

-- For the functions that judge the gate themselves: nil and a reply only if the key is malformed.
function opening.look(gate_key)
  local partition = keys.partition(gate_key or '')
  if not partition then return nil, reply.invalid('gate') end
  return observe(partition, store.get(partition.gate))
end

-- Writes a whole new gate and makes the call one under it: it serves from here on.
function opening.install(call, new_gate)
  call.gate, call.condition = new_gate, 'serving'
  call.epoch, call.sequence = new_gate.cold.epoch, new_gate.sequence
  call.raw_gate = gate.encode(new_gate)
  call.partition.seen_us = new_gate.highest_us
  server.call('SET', call.partition.gate, call.raw_gate)
end

-- For reads: nothing may be written.
function opening.for_reading(gate_key)
  local call, refusal = opening.look(gate_key)
  if not call then return nil, refusal end
  return admit(call, false)
end

function opening.for_writing(gate_key)
  local call, refusal = opening.look(gate_key)
  if not call then return nil, refusal end
  return admit(call, true)
end

return opening
