-- Documents: what fenced writes keep, each with the lease that wrote it, and the rules of their
-- types. Their bytes: docs/data-model.md, "Documents".
local keys = require 'keys'
local layout = require 'layout'
local prelude = require 'prelude'
local store = require 'store'

local document = {}

local VERSION = 1
local TYPE_NAMES = prelude.DOCUMENT_TYPES
local CHECKPOINT, TERMINAL_STATE, SCHEDULE = 3, 4, 5

local LAYOUT = layout.new {
  'version', 'u1', 'type', 'u1', 'revision', 'u7', 'token', 'u7', 'accepted_at', 'u7',
  'sequence', 'u7', 'next_due_at', 'u7', 'completed_execution_id', 'text1', 'lease_id', 'text1',
  'execution_id', 'text1', 'trace_id', 'text1', 'body', 'text4',
}

function document.type_name(self)
  return TYPE_NAMES[self.type]
end

-- The document under that name; nil if there is none; nil and a reason if it is corrupt.
function document.read(call, digest, name)
  local packed, foreign = store.hash_field(keys.documents(call.partition, digest), name)
  if foreign then return nil, 'documents_type' end
  if not packed then return nil end
  local self = layout.unpack(LAYOUT, packed)
  if not self or self.version ~= VERSION or not TYPE_NAMES[self.type] or self.revision < 1
    or self.token < 1 or #self.body < 2 or #self.body > prelude.MAX_BODY_BYTES then
    return nil, 'document_malformed'
  end
  return self
end

-- True if a write whose revision fits may take the place of `current`, by the rules of the types: a
-- job's checkpoints grow until its terminal state, which stands; an execution completes once.
local function follows(current, write)
  if current.type == TERMINAL_STATE then return false end
  if current.type ~= write.type then
    return current.type == CHECKPOINT and write.type == TERMINAL_STATE
  end
  if write.type == CHECKPOINT then return write.sequence > current.sequence end
  if write.type == SCHEDULE then
    return write.completed_execution_id ~= current.completed_execution_id
  end
  return true
end

-- True if `write` may take the place of `current`, which is nil if there is nothing.
function document.admits(current, write)
  if not current then return write.expect_revision == 0 end
  return current.revision == write.expect_revision and follows(current, write)
end

-- True if the identity has as many documents as it may.
function document.is_full(call, digest)
  return server.call('HLEN', keys.documents(call.partition, digest)) >= prelude.MAX_DOCUMENTS
end

-- `write` has the fields of the layout but version, revision and accepted_at.
function document.write(call, digest, write, revision)
  write.version, write.revision, write.accepted_at = VERSION, revision, call.now_ms
  server.call('HSET', keys.documents(call.partition, digest), write.name,
              layout.pack(LAYOUT, write))
end

return document
