-- Terminal evidence: the whole record as it ended, in a bounded stream; and the notices that tell
-- whoever waits.
local prelude = require 'prelude'
local bytes = require 'record_bytes'

local history = {}

-- `self` is a record in a terminal state.
function history.write(call, self, digest)
  server.call('XADD', call.partition.history, 'MAXLEN', '~', prelude.HISTORY_LENGTH, '*',
              'digest', digest, 'record', bytes.encode(self))
end

-- Only a hint: a subscriber may miss it.
function history.notify(call, kind, lease_id, digest)
  server.call('PUBLISH', call.partition.notices, kind .. ' ' .. lease_id .. ' ' .. digest)
end

return history
