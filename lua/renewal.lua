-- Judges one timed renewal by the bytes of the lease's record. Writes nothing, so that a batch is
-- judged whole before anything of it is done. No tables: they are most of what a batch costs.
local bytes = require 'record_bytes'
local lifecycle = require 'lifecycle'
local record = require 'record'
local store = require 'store'

local renewal = {}

-- README, "starlease1_renew".
renewal.CODE = { renewed = 0, unchanged = 1, lost = 2, expired = 3, released = 4, revoked = 5,
                 quarantined = 6, force_released = 7 }
local CODE = renewal.CODE

-- A batch's MGET tells a foreign type like an absent key, hence a second look.
local function judge_absent(key)
  local _, is_foreign = store.get(key)
  if is_foreign then return CODE.quarantined, 0, 'record_type' end
  return CODE.lost, 0
end

-- Gives a code and the end of the lease (0 if none); and third, for a renewal the bytes to write,
-- for a corrupt record the reason. `packed` is the record, or false.
function renewal.judge(call, key, packed, lease_id, token, owner, instance, ttl_ms, sequence)
  if not packed then return judge_absent(key) end
  local held_token, held_id, held_by, held_in, epoch, state, acquired_at, maximum_lifetime_ms,
    expires_at, last_sequence, reason = bytes.read_head(packed)
  if not held_token then return CODE.quarantined, 0, 'record_malformed' end
  if held_id ~= lease_id or held_token ~= token or held_by ~= owner or held_in ~= instance then
    return CODE.lost, 0
  end
  state = lifecycle.state(call, state, epoch, expires_at)
  if state ~= record.ACTIVE then
    if reason == record.REASON.force_released then return CODE.force_released, 0 end
    return CODE[record.STATE_NAMES[state]], 0
  end
  if server.call('PTTL', key) == -1 then return CODE.quarantined, 0, 'record_no_expiry' end
  if last_sequence >= sequence then return CODE.unchanged, expires_at end
  local now_ms = call.now_ms
  expires_at = record.renewed_end(now_ms, ttl_ms, acquired_at, maximum_lifetime_ms,
                                  expires_at)
  return CODE.renewed, expires_at, bytes.renewal(now_ms, expires_at, sequence)
end

return renewal
