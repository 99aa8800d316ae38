-- The bytes of a lease record: docs/data-model.md, "Lease record". Written out by hand, since a
-- generic packer costs three times as much, and these run in every call.
local record = require 'record'

local bytes = {}

-- `length` is that of the whole record, so that a batch, which reads the head and the holder only,
-- sees one that was cut or extended.
local HEAD = '>I1I2I7I7I6I4I1I1I6I6I6I7'
-- What a renewal, and what an end, writes over.
local RENEWAL_OFFSET, RENEWAL_FORMAT = '35', '>I6I6I7'
local END_OFFSET, END_FORMAT = '27', '>I1I1I6'
local HOLDER = 'I1c0I1c0I1c0'
local HEAD_AND_HOLDER = HEAD .. HOLDER
local REST = 'I4I6c16c22c4c4c4I1c0I1c0I2c0I2c0I2c0I2c0I2c0I2c0I2c0I1c0I1c0I1c0I1c0I2c0'
local ALL = HEAD .. HOLDER .. REST
local BEHIND_HEAD = '>' .. HOLDER .. REST

-- The record in `packed`; nil unless every byte of it is as it must be.
function bytes.decode(packed)
  local sound, version, length, token, epoch, acquired_at, maximum_lifetime_ms, state, reason,
    ended_at, renewed_at, expires_at, renew_sequence, lease_id, owner, instance, granted_ttl_ms,
    kept_until, request_digest, acquire_scope, owner_hash, program_hash, target_hash, client,
    credential, tenant_id, program_id, target_namespace, target_id, actor_name, workflow_name,
    operation_class, execution_id, job_id, trace_id, request_id, metadata, next_byte =
    pcall(struct.unpack, ALL, packed)
  if not sound or length ~= #packed or next_byte ~= #packed + 1
    or not record.numbers_hold(version, token, epoch, acquired_at, maximum_lifetime_ms, state,
                               reason, ended_at, renewed_at, expires_at, renew_sequence) then
    return nil
  end
  local self = {
    version = version, token = token, epoch = epoch, acquired_at = acquired_at,
    maximum_lifetime_ms = maximum_lifetime_ms, state = state, reason = reason,
    ended_at = ended_at, renewed_at = renewed_at, expires_at = expires_at,
    renew_sequence = renew_sequence, lease_id = lease_id, owner_principal_id = owner,
    service_instance_id = instance, granted_ttl_ms = granted_ttl_ms, kept_until = kept_until,
    request_digest = request_digest, acquire_scope = acquire_scope, owner_hash = owner_hash,
    program_hash = program_hash, target_hash = target_hash, owner_client_id = client,
    owner_credential_id = credential, tenant_id = tenant_id, program_id = program_id,
    target_namespace = target_namespace, target_id = target_id, actor_name = actor_name,
    workflow_name = workflow_name, operation_class = operation_class,
    execution_id = execution_id, job_id = job_id, trace_id = trace_id, request_id = request_id,
    metadata = metadata }
  return record.texts_hold(self) and self or nil
end

-- Numbers and holder of a record, as values in the order of the return: a quarter of the cost of
-- decode. Nothing if what is read is not as it must be.
function bytes.read_head(packed)
  local sound, version, length, token, epoch, acquired_at, maximum_lifetime_ms, state, reason,
    ended_at, renewed_at, expires_at, renew_sequence, lease_id, owner, instance =
    pcall(struct.unpack, HEAD_AND_HOLDER, packed)
  if not sound or length ~= #packed
    or not record.numbers_hold(version, token, epoch, acquired_at, maximum_lifetime_ms, state,
                               reason, ended_at, renewed_at, expires_at, renew_sequence) then
    return nil
  end
  return token, lease_id, owner, instance, epoch, state, acquired_at, maximum_lifetime_ms,
    expires_at, renew_sequence, reason
end

function bytes.encode(self)
  local texts = struct.pack(BEHIND_HEAD,
    #self.lease_id, self.lease_id, #self.owner_principal_id, self.owner_principal_id,
    #self.service_instance_id, self.service_instance_id, self.granted_ttl_ms, self.kept_until,
    self.request_digest, self.acquire_scope, self.owner_hash, self.program_hash, self.target_hash,
    #self.owner_client_id, self.owner_client_id, #self.owner_credential_id,
    self.owner_credential_id, #self.tenant_id, self.tenant_id, #self.program_id, self.program_id,
    #self.target_namespace, self.target_namespace, #self.target_id, self.target_id,
    #self.actor_name, self.actor_name, #self.workflow_name, self.workflow_name,
    #self.operation_class, self.operation_class, #self.execution_id, self.execution_id,
    #self.job_id, self.job_id, #self.trace_id, self.trace_id, #self.request_id, self.request_id,
    #self.metadata, self.metadata)
  return struct.pack(HEAD, record.VERSION, struct.size(HEAD) + #texts, self.token, self.epoch,
                     self.acquired_at, self.maximum_lifetime_ms, self.state, self.reason,
                     self.ended_at, self.renewed_at, self.expires_at, self.renew_sequence) .. texts
end

-- What a renewal changes in a stored record, and the writing of it; the physical TTL stays.
function bytes.renewal(renewed_at, expires_at, renew_sequence)
  return struct.pack(RENEWAL_FORMAT, renewed_at, expires_at, renew_sequence)
end

function bytes.write_renewal(key, renewal)
  server.call('SETRANGE', key, RENEWAL_OFFSET, renewal)
end

-- Writes over a stored active record that it has ended.
function bytes.write_end(self, key)
  server.call('SETRANGE', key, END_OFFSET,
              struct.pack(END_FORMAT, self.state, self.reason, self.ended_at))
end

return bytes
