-- Leaves terminal evidence of leases that nobody ended: bounded, and conditional on the record as
-- it is now, so that a late sweep cannot touch a successor. README, "starlease1_sweep".
local arguments = require 'arguments'
local audit = require 'audit'
local bytes = require 'record_bytes'
local examine = require 'examine'
local gate = require 'gate'
local history = require 'history'
local index = require 'index'
local keys = require 'keys'
local lifecycle = require 'lifecycle'
local opening = require 'opening'
local prelude = require 'prelude'
local quarantine = require 'quarantine'
local record = require 'record'
local reply = require 'reply'
local store = require 'store'

local ARGUMENTS = arguments.specification { 'limit', 'positive', 'correlation_id', 'maybe_id' }

local function bury(call, lease, ended, digest)
  lifecycle.finish(lease, ended)
  history.write(call, lease, digest)
  bytes.write_end(lease, keys.lease(call.partition, digest))
  index.remove(call, lease, digest)
  history.notify(call, 'expired', lease.lease_id, digest)
end

-- Deals with one member of the expiry index; the name of the count that it adds to.
local function settle(call, request, digest)
  local found, corrupt = examine(call, digest)
  if not found then
    quarantine.shut(call, digest, corrupt, request)
    index.remove_expiry(call, digest)
    return 'quarantined'
  end
  local lease = found.record
  if not lease or lease.state ~= record.ACTIVE then
    index.remove_expiry(call, digest)
    return 'dropped'
  end
  local ended = lifecycle.ended(call, lease)
  if ended.code == record.ACTIVE then
    index.reschedule(call, { arguments.text(lease.expires_at), digest })
    return 'dropped'
  end
  bury(call, lease, ended, digest)
  return 'ended'
end

local function settle_all(call, request, overdue)
  local counts = { ended = 0, dropped = 0, quarantined = 0 }
  for i = 1, #overdue do
    local count = settle(call, request, overdue[i])
    counts[count] = counts[count] + 1
  end
  audit.write(call, {
    event = 'target_lease_expire', code = 'swept', correlation_id = request.correlation_id,
    previous_state = 'active', state = 'expired',
    reason = counts.ended .. ' of ' .. #overdue })
  gate.advance(call)
  return counts
end

local function sweep(gate_keys, args)
  local request, culprit = arguments.read(ARGUMENTS, args)
  if request and request.limit > prelude.SWEEP_LIMIT then culprit = 'limit' end
  if culprit then return reply.invalid(culprit) end
  local call, refusal = opening.for_writing(gate_keys[1])
  if not call then return refusal end
  local damaged = store.damaged(call.partition)
  if damaged then return reply.damaged(call, damaged) end
  local overdue = index.overdue(call, request.limit)
  if #overdue == 0 then return reply.of(call, 'swept', 0, 0, 0, 0) end
  local counts = settle_all(call, request, overdue)
  return reply.of(call, 'swept', counts.ended, counts.dropped, counts.quarantined,
                  #overdue == request.limit and 1 or 0)
end

return sweep
