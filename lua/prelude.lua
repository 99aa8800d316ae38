-- Constants of the library. No state, no function; the other files hold the behaviour.
local prelude = {
  -- Grows with every change that a daemon can notice; bundle.py gives it to the daemon too.
  REVISION = 5,
  -- Of the gate; a gate with another one is not touched.
  SCHEMA_VERSION = 1,
  -- The greatest integer that a Lua number, and a JSON number, holds exactly: 2^53-1.
  MAX_INTEGER = 9007199254740991,
  MAX_U32 = 4294967295,

  -- A clock that steps back by less is clamped, by more closes the partition.
  STEP_BACK_TOLERANCE_US = 5000000,
  -- Streams are trimmed to about this many entries; whoever needs more reads them in time.
  HISTORY_LENGTH = '10000',
  AUDIT_LENGTH = '10000',

  -- A batch of 100 holds the server for about half a millisecond.
  RENEWALS_PER_CALL = 100,
  SWEEP_LIMIT = 100,
  -- Leases that one call lists, and entries of the history that it looks through and tells: each
  -- a millisecond of the server. Fewer where they are large: it reads so many at once, and no more
  -- once it has read so many bytes.
  LIST_LIMIT = 100,
  HISTORY_SCAN = 200,
  HISTORY_LIMIT = 50,
  READ_AT_ONCE = 25,
  READ_BYTES = 131072,
  MAX_PARTITIONS = 4096,

  MAX_ID_BYTES = 128,
  MAX_COMPONENT_BYTES = 256,
  MAX_METADATA_BYTES = 4096,
  MAX_WHY_BYTES = 512,
  MAX_STATEMENT_BYTES = 8192,
  MAX_BODY_BYTES = 131072,
  -- Of one identity.
  MAX_DOCUMENTS = 256,
  MAX_NAMESPACE_BYTES = 64,
  DIGEST_BYTES = 32,
  HASH_BYTES = 8,
  -- Two numbers of 64 bits in decimal, and what stands between them.
  STREAM_ID_BYTES = 41,
  SCOPE_BYTES = 43,
  -- What is kept of hashes: 128 bits of a request digest, 132 of a scope, 32 of what narrows lists.
  REQUEST_DIGEST_KEPT = 16,
  SCOPE_KEPT = 22,
  HASH_KEPT = 4,

  -- In the order of their codes.
  DOCUMENT_TYPES = { 'target_state', 'result', 'checkpoint', 'terminal_state', 'schedule' },

  -- The seven components of a lock identity in canonical order.
  COMPONENTS = { 'tenant_id', 'program_id', 'target_namespace', 'target_id', 'actor_name',
                 'workflow_name', 'operation_class' },
}

return prelude
