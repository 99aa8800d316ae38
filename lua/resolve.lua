-- Whether an attempt whose answer was lost has committed. Writes nothing. README,
-- "starlease1_resolve".
local arguments = require 'arguments'
local idempotency = require 'idempotency'
local opening = require 'opening'
local reply = require 'reply'

local ARGUMENTS = arguments.specification {
  'digest', 'digest', 'operation', 'operation', 'scope', 'scope' }

local function resolve(gate_keys, args)
  local request, culprit = arguments.read(ARGUMENTS, args)
  if not request then return reply.invalid(culprit) end
  local call, refusal = opening.for_reading(gate_keys[1])
  if not call then return refusal end
  local entry, corrupt = idempotency.find(call, request.scope, request.operation)
  if not entry then
    if corrupt then return reply.of(call, 'quarantined', corrupt) end
    return reply.of(call, 'not_found')
  end
  local told, lease_corrupt = idempotency.tell(call, 'committed', entry, request.digest)
  return told or reply.of(call, 'quarantined', lease_corrupt)
end

return resolve
