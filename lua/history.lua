-- Terminal evidence: the whole record as it ended, in a bounded stream; and the notices that tell
-- whoever waits.
local arguments = require 'arguments'
local prelude = require 'prelude'
local bytes = require 'record_bytes'
local store = require 'store'

local history = {}

-- `self` is a record in a terminal state.
function history.write(call, self, digest)
  server.call('XADD', call.partition.history, 'MAXLEN', '~', prelude.HISTORY_LENGTH, '*',
              'digest', digest, 'record', bytes.encode(self))
end

-- Up to `limit` entries older than the one with the id `before` (empty: the newest), newest first;
-- nil and true if the stream is of a foreign type.
function history.before(call, before, limit)
  return store.read('XREVRANGE', call.partition.history, before == '' and '+' or '(' .. before,
                    '-', 'COUNT', arguments.text(limit))
end

-- Only a hint: a subscriber may miss it.
function history.notify(call, kind, lease_id, digest)
  server.call('PUBLISH', call.partition.notices, kind .. ' ' .. lease_id .. ' ' .. digest)
end

return history
