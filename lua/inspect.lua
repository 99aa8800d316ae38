-- What an identity's lease is now. Writes nothing. README, "starlease1_inspect".
local arguments = require 'arguments'
local examine = require 'examine'
local lifecycle = require 'lifecycle'
local opening = require 'opening'
local quarantine = require 'quarantine'
local reply = require 'reply'

local ARGUMENTS = arguments.specification { 'digest', 'digest', 'lease_id', 'maybe_id' }

local function inspect(gate_keys, args)
  local request, culprit = arguments.read(ARGUMENTS, args)
  if not request then return reply.invalid(culprit) end
  local call, refusal = opening.for_reading(gate_keys[1])
  refusal = refusal or quarantine.refusal(call, request.digest)
  if refusal then return refusal end
  local found, corrupt = examine(call, request.digest)
  if not found then return reply.of(call, 'quarantined', corrupt) end
  local lease = found.record
  if not lease or (request.lease_id ~= '' and request.lease_id ~= lease.lease_id) then
    return reply.of(call, 'not_found')
  end
  return reply.record_block(reply.head(call, 'found'), lease, lifecycle.ended(call, lease))
end

return inspect
