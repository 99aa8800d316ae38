-- What a lease is at the time of a call, whatever its record still says: an overdue record is
-- expired, and one of an older epoch revoked, before anything else is decided.
local record = require 'record'

local lifecycle = {}

-- State, end and reason by numbers; shared with the batch, which has no record table.
function lifecycle.effective(call, state, reason, ended_at, epoch, expires_at)
  if state ~= record.ACTIVE then return state, ended_at, reason end
  if epoch ~= call.epoch then
    return record.REVOKED, call.gate.cold.recovered_at, record.REASON.recovered
  end
  if call.now_ms >= expires_at then return record.EXPIRED, expires_at, record.REASON.expired end
  return record.ACTIVE, 0, record.REASON.none
end

-- The same as { code, state, at, reason } with names; see reply.record_block.
function lifecycle.ended(call, self)
  local state, at, reason = lifecycle.effective(call, self.state, self.reason, self.ended_at,
                                                self.epoch, self.expires_at)
  return { code = state, state = record.STATE_NAMES[state], at = at, reason_code = reason,
           reason = record.REASON_NAMES[reason] or '' }
end

-- Puts what `ended` says into the record: terminal evidence of it.
function lifecycle.finish(self, ended)
  self.state, self.ended_at, self.reason = ended.code, ended.at, ended.reason_code
  return self
end

return lifecycle
