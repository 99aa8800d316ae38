-- What every mutation of one identity passes first, in this order: arguments, gate, quarantine and
-- corruption, replay, deadline. And how its refusals are kept.
local arguments = require 'arguments'
local examine = require 'examine'
local gate = require 'gate'
local idempotency = require 'idempotency'
local lifecycle = require 'lifecycle'
local opening = require 'opening'
local quarantine = require 'quarantine'
local record = require 'record'
local reply = require 'reply'

local admission = {}

-- The answer to a request that was made before; nil if it was not.
local function replay(call, request, operation, lease)
  local entry, corrupt = idempotency.recall(call, request.scope, operation, lease)
  if corrupt then return quarantine.shut(call, request.digest, corrupt, request) end
  if not entry then return nil end
  if entry.request_digest ~= request.request_digest then
    return reply.of(call, 'idempotency_conflict')
  end
  return idempotency.tell(call, 'replayed', entry, lease)
end

-- True if the call came too late to begin.
function admission.is_late(call, deadline_ms)
  return deadline_ms > 0 and call.now_ms > deadline_ms
end

-- What the identity has (examine), sound and open; or nil and the refusal.
local function admit(call, request, operation, has_identity)
  local refusal = quarantine.refusal(call, request.digest)
  if refusal then return nil, refusal end
  local found, corrupt = examine(call, request.digest, has_identity and request)
  if not found then return nil, quarantine.shut(call, request.digest, corrupt, request) end
  refusal = replay(call, request, operation, found.record)
  if not refusal and admission.is_late(call, request.deadline_ms) then
    refusal = reply.of(call, 'deadline')
  end
  if refusal then return nil, refusal end
  return found
end

-- Call, request and what the identity has; or nil, nil, nil and the reply. `check` may refuse
-- combinations of arguments; an acquisition has the identity among its own.
function admission.enter(gate_keys, args, fields, operation, check)
  local request, culprit = arguments.read(fields, args)
  culprit = culprit or (check and check(request))
  if culprit then return nil, nil, nil, reply.invalid(culprit) end
  local call, refusal = opening.for_writing(gate_keys[1])
  if not call then return nil, nil, nil, refusal end
  local found
  found, refusal = admit(call, request, operation, operation == 'acquire')
  if not found then return nil, nil, nil, refusal end
  return call, request, found
end

-- Keeps a refusal that was decided here, if the caller wants it kept.
function admission.keep_refusal(call, request, operation, outcome, fields)
  if request.refusal_retention_ms == 0 then return end
  gate.advance(call)
  idempotency.keep(call, request, operation, outcome, fields, request.refusal_retention_ms)
end

local function lost(call, request, operation, state)
  admission.keep_refusal(call, request, operation, 'lost', { state = state })
  return reply.of(call, 'lost', record.STATE_NAMES[state] or '')
end

-- The record in `found`, if it is of the lease that `request` exactly holds and still active; or
-- nil and the refusal.
function admission.held_lease(call, request, operation, found)
  local lease = found.record
  if not lease or not record.is_held_by(lease, request) then
    return nil, lost(call, request, operation, 0)
  end
  local ended = lifecycle.ended(call, lease)
  if ended.code ~= record.ACTIVE then return nil, lost(call, request, operation, ended.code) end
  return lease
end

return admission
