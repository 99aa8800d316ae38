-- The lease record: its bytes, what must hold in every one, and what it says at a given time.
-- docs/data-model.md, "Lease record".
local layout = require 'layout'
local prelude = require 'prelude'

local record = {}

record.ACTIVE, record.EXPIRED, record.RELEASED, record.REVOKED = 1, 2, 3, 4
record.STATE_NAMES = { 'active', 'expired', 'released', 'revoked' }
record.REASON_NAMES = { 'released', 'expired', 'recovered', 'force_released', 'revoked' }
record.REASON = { none = 0, released = 1, expired = 2, recovered = 3 }

local VERSION = 1

-- A fixed head, then the texts. `length` is that of the whole record, so that a batch, which reads
-- only what it compares, sees a record that was cut or extended.
local LAYOUT = layout.new {
  'version', 'u1', 'length', 'u2', 'token', 'u8', 'epoch', 'u8', 'acquired_at', 'u8',
  'maximum_lifetime_ms', 'u4', 'state', 'u1', 'reason', 'u1', 'ended_at', 'u8', 'renewed_at', 'u8',
  'expires_at', 'u8', 'ttl_ms', 'u4', 'renew_sequence', 'u8',
  'owner_hash', 'bytes8', 'program_hash', 'bytes8', 'target_hash', 'bytes8',
  'lease_id', 'text1', 'owner_principal_id', 'text1', 'service_instance_id', 'text1',
  'owner_client_id', 'text1', 'owner_credential_id', 'text1',
  'tenant_id', 'text2', 'program_id', 'text2', 'target_namespace', 'text2', 'target_id', 'text2',
  'actor_name', 'text2', 'workflow_name', 'text2', 'operation_class', 'text2',
  'execution_id', 'text1', 'job_id', 'text1', 'trace_id', 'text1', 'request_id', 'text1',
  'acquire_scope', 'text1', 'metadata', 'text2',
}

-- The head and the texts that name the holder.
local HEAD_FORMAT = '>I1I2I8I8I8I4I1I1I8I8I8I4I8c24I1c0I1c0I1c0'
-- Offset and format of what a renewal changes.
local RENEWAL_OFFSET, RENEWAL_FORMAT = '41', '>I8I8I4I8'
-- Offset and format of what the end of a lease changes.
local END_OFFSET, END_FORMAT = '31', '>I1I1I8'

-- What must hold between the numbers of a record.
local function numbers_hold(self)
  local acquired_at, renewed_at = self.acquired_at, self.renewed_at
  local expires_at, state = self.expires_at, self.state
  if self.version ~= VERSION or self.token < 1 or self.token > prelude.MAX_INTEGER
    or self.epoch < 1 or self.epoch > prelude.MAX_INTEGER
    or acquired_at < 1 or renewed_at < acquired_at or self.ttl_ms < 1
    or expires_at ~= renewed_at + self.ttl_ms or expires_at > prelude.MAX_INTEGER
    or expires_at > acquired_at + self.maximum_lifetime_ms then
    return false
  end
  if state == record.ACTIVE then return self.reason == 0 and self.ended_at == 0 end
  return state >= record.EXPIRED and state <= record.REVOKED
    and self.reason >= 1 and self.reason <= #record.REASON_NAMES
    and self.ended_at >= acquired_at and self.ended_at <= prelude.MAX_INTEGER
end

local function is_id(text)
  return #text >= 1 and #text <= prelude.MAX_ID_BYTES
end

local function texts_hold(self)
  local components = prelude.COMPONENTS
  for i = 1, #components do
    local length = #self[components[i]]
    if length < 1 or length > prelude.MAX_COMPONENT_BYTES then return false end
  end
  return is_id(self.lease_id) and is_id(self.owner_principal_id)
    and is_id(self.service_instance_id) and is_id(self.owner_client_id)
    and is_id(self.owner_credential_id) and is_id(self.request_id)
    and #self.execution_id <= prelude.MAX_ID_BYTES and #self.job_id <= prelude.MAX_ID_BYTES
    and #self.trace_id <= prelude.MAX_ID_BYTES
    and #self.acquire_scope == prelude.SCOPE_BYTES
    and #self.metadata >= 2 and #self.metadata <= prelude.MAX_METADATA_BYTES
end

-- The record in `packed`; nil unless every byte of it is as it must be.
function record.decode(packed)
  local self = layout.unpack(LAYOUT, packed)
  if not self or self.length ~= #packed then return nil end
  if not numbers_hold(self) then return nil end
  if not texts_hold(self) then return nil end
  return self
end

-- The numbers of a record and its holder, for a batch: a fifth of the cost of decode. The texts
-- behind them are only measured; nil unless what is read is as it must be.
function record.decode_head(packed)
  local sound, version, length, token, epoch, acquired_at, maximum_lifetime_ms, state, reason,
    ended_at, renewed_at, expires_at, ttl_ms, renew_sequence, _, lease_id, owner, instance =
    pcall(struct.unpack, HEAD_FORMAT, packed)
  if not sound or length ~= #packed then return nil end
  local self = {
    version = version, token = token, epoch = epoch, acquired_at = acquired_at,
    maximum_lifetime_ms = maximum_lifetime_ms, state = state, reason = reason, ended_at = ended_at,
    renewed_at = renewed_at, expires_at = expires_at, ttl_ms = ttl_ms,
    renew_sequence = renew_sequence, lease_id = lease_id, owner_principal_id = owner,
    service_instance_id = instance }
  return numbers_hold(self) and self or nil
end

-- True if `claim` names exactly this lease and its holder.
function record.is_held_by(self, claim)
  return self.lease_id == claim.lease_id and self.token == claim.token
    and self.owner_principal_id == claim.owner_principal_id
    and self.service_instance_id == claim.service_instance_id
end

-- Sets the times of a renewal: never beyond the maximum lifetime.
function record.renew(self, now_ms, ttl_ms)
  self.renewed_at = now_ms
  self.expires_at = math.min(now_ms + ttl_ms, self.acquired_at + self.maximum_lifetime_ms)
  self.ttl_ms = self.expires_at - now_ms
end

-- Writes over a record what record.renew has changed; its physical TTL stays.
function record.write_renewal(self, key)
  server.call('SETRANGE', key, RENEWAL_OFFSET,
              struct.pack(RENEWAL_FORMAT, self.renewed_at, self.expires_at, self.ttl_ms,
                          self.renew_sequence))
end

-- Writes over an active record that it has ended.
function record.write_end(self, key)
  server.call('SETRANGE', key, END_OFFSET,
              struct.pack(END_FORMAT, self.state, self.reason, self.ended_at))
end

function record.encode(self)
  self.version, self.length = VERSION, 0
  local packed = layout.pack(LAYOUT, self)
  return string.sub(packed, 1, 1) .. struct.pack('>I2', #packed) .. string.sub(packed, 4)
end

-- True if both name the same lock identity.
function record.same_identity(self, other)
  local components = prelude.COMPONENTS
  for i = 1, #components do
    if self[components[i]] ~= other[components[i]] then return false end
  end
  return true
end

return record
