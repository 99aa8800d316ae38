-- The lease record: its states and what must hold in every one. Its bytes: record_bytes.lua.
local prelude = require 'prelude'

local record = {}

record.VERSION = 1
record.ACTIVE, record.EXPIRED, record.RELEASED, record.REVOKED = 1, 2, 3, 4
record.STATE_NAMES = { 'active', 'expired', 'released', 'revoked' }
record.REASON_NAMES = { 'released', 'expired', 'recovered', 'force_released', 'revoked' }
record.REASON = { released = 1, expired = 2, recovered = 3,
                  force_released = 4, revoked = 5 }

-- What must hold between the numbers of a record. Arguments, not a table: a batch makes none.
function record.numbers_hold(version, token, epoch, acquired_at, maximum_lifetime_ms, state, reason,
                             ended_at, renewed_at, expires_at, renew_sequence)
  if version ~= record.VERSION
    or token < 1 or token > prelude.MAX_INTEGER or epoch < 1 or epoch > prelude.MAX_INTEGER
    or acquired_at < 1 or renewed_at < acquired_at or expires_at <= renewed_at
    or expires_at > acquired_at + maximum_lifetime_ms
    or renew_sequence > prelude.MAX_INTEGER then
    return false
  end
  if state == record.ACTIVE then return reason == 0 and ended_at == 0 end
  return state >= record.EXPIRED and state <= record.REVOKED
    and reason >= 1 and reason <= #record.REASON_NAMES and ended_at >= acquired_at
end

local function is_id(text)
  return #text >= 1 and #text <= prelude.MAX_ID_BYTES
end

local function identity_holds(self)
  local components = prelude.COMPONENTS
  for i = 1, #components do
    local length = #self[components[i]]
    if length < 1 or length > prelude.MAX_COMPONENT_BYTES then return false end
  end
  return true
end

-- What must hold of the texts, and of what only a full reading has.
function record.texts_hold(self)
  return is_id(self.lease_id) and is_id(self.owner_principal_id)
    and is_id(self.service_instance_id) and is_id(self.owner_client_id)
    and is_id(self.owner_credential_id) and is_id(self.request_id)
    and #self.execution_id <= prelude.MAX_ID_BYTES and #self.job_id <= prelude.MAX_ID_BYTES
    and #self.trace_id <= prelude.MAX_ID_BYTES
    and #self.metadata >= 2 and #self.metadata <= prelude.MAX_METADATA_BYTES
    and self.granted_ttl_ms >= 1 and self.granted_ttl_ms <= self.maximum_lifetime_ms
    and self.kept_until >= self.acquired_at
    and identity_holds(self)
end

-- True if both name the same lock identity.
function record.same_identity(self, other)
  local components = prelude.COMPONENTS
  for i = 1, #components do
    if self[components[i]] ~= other[components[i]] then return false end
  end
  return true
end

-- True if `claim` names exactly this lease and its holder.
function record.is_held_by(self, claim)
  return self.lease_id == claim.lease_id and self.token == claim.token
    and self.owner_principal_id == claim.owner_principal_id
    and self.service_instance_id == claim.service_instance_id
end

-- When a renewal made now ends: never beyond the maximum lifetime, and never before `end_ms`, the
-- end so far, as somebody may rely on it already who does not hear of this one.
function record.renewed_end(now_ms, ttl_ms, acquired_at, maximum_lifetime_ms, end_ms)
  return math.max(end_ms, math.min(now_ms + ttl_ms, acquired_at + maximum_lifetime_ms))
end

-- The effective TTL, as last granted.
function record.ttl_ms(self)
  return self.expires_at - self.renewed_at
end

return record
