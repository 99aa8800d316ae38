-- What a lease is at the time of a call, whatever its record still says: an overdue record is
-- expired, and one of an older epoch revoked, before anything else is decided.
local record = require 'record'

local lifecycle = {}

-- The state from what a record says; by values, since a batch makes no tables.
function lifecycle.state(call, state, epoch, expires_at)
  if state ~= record.ACTIVE then return state end
  if epoch ~= call.epoch then return record.REVOKED end
  if call.now_ms >= expires_at then return record.EXPIRED end
  return record.ACTIVE
end

-- The state of a record with when and why it ended, in numbers (code, at, reason_code) and names.
function lifecycle.ended(call, self)
  local state = lifecycle.state(call, self.state, self.epoch, self.expires_at)
  local at, reason = self.ended_at, self.reason
  if state ~= self.state then
    if state == record.REVOKED then
      at, reason = call.gate.cold.recovered_at, record.REASON.recovered
    else
      at, reason = self.expires_at, record.REASON.expired
    end
  end
  return { code = state, state = record.STATE_NAMES[state], at = at, reason_code = reason,
           reason = record.REASON_NAMES[reason] or '' }
end

-- Puts what `ended` says into the record: terminal evidence of it.
function lifecycle.finish(self, ended)
  self.state, self.ended_at, self.reason = ended.code, ended.at, ended.reason_code
  return self
end

return lifecycle
