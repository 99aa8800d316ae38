-- Whether an attempt whose answer was lost has committed. Writes nothing. README,
-- "starlease1_resolve".
local arguments = require 'arguments'
local examine = require 'examine'
local idempotency = require 'idempotency'
local opening = require 'opening'
local quarantine = require 'quarantine'
local reply = require 'reply'

local ARGUMENTS = arguments.specification {
  'digest', 'digest', 'operation', 'operation', 'scope', 'scope' }

local function resolve(gate_keys, args)
  local request, culprit = arguments.read(ARGUMENTS, args)
  if not request then return reply.invalid(culprit) end
  local call, refusal = opening.for_reading(gate_keys[1])
  refusal = refusal or quarantine.refusal(call, request.digest)
  if refusal then return refusal end
  local found, corrupt = examine(call, request.digest)
  if not found then return reply.of(call, 'quarantined', corrupt) end
  local entry, entry_corrupt =
    idempotency.recall(call, request.scope, request.operation, found.record)
  if entry_corrupt then return reply.of(call, 'quarantined', entry_corrupt) end
  if not entry then return reply.of(call, 'not_found') end
  return idempotency.tell(call, 'committed', entry, found.record)
end

return resolve
