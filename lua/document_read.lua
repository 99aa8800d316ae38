-- A document as it was last written under the fence. Writes nothing. README,
-- "starlease1_document".
local arguments = require 'arguments'
local document = require 'document'
local examine = require 'examine'
local opening = require 'opening'
local quarantine = require 'quarantine'
local reply = require 'reply'

local ARGUMENTS = arguments.specification { 'digest', 'digest', 'name', 'id' }

local function document_read(gate_keys, args)
  local request, culprit = arguments.read(ARGUMENTS, args)
  if not request then return reply.invalid(culprit) end
  local call, refusal = opening.for_reading(gate_keys[1])
  refusal = refusal or quarantine.refusal(call, request.digest)
  if refusal then return refusal end
  local sound, unsound = examine(call, request.digest)
  if not sound then return reply.of(call, 'quarantined', unsound) end
  local found, corrupt = document.read(call, request.digest, request.name)
  if corrupt then return reply.of(call, 'quarantined', corrupt) end
  if not found then return reply.of(call, 'not_found') end
  return reply.of(call, 'found', document.type_name(found), found.revision, found.token,
                  found.accepted_at, found.sequence, found.next_due_at,
                  found.completed_execution_id, found.lease_id, found.execution_id,
                  found.trace_id, found.body)
end

return document_read
