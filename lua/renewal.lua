-- Judges the leases of a batch one by one: what each renewal comes to. Writes nothing, so that a
-- batch is judged whole before anything of it is done.
local keys = require 'keys'
local lifecycle = require 'lifecycle'
local record = require 'record'
local store = require 'store'

local renewal = {}

-- README, "starlease1_renew".
renewal.CODE = { renewed = 0, unchanged = 1, lost = 2, expired = 3, released = 4, revoked = 5,
                 quarantined = 6 }
local CODE = renewal.CODE

local function corrupt(claim, reason)
  claim.code, claim.corrupt = CODE.quarantined, reason
end

-- MGET tells a foreign type like an absent key, hence a second look at the few that have nothing.
local function judge_absent(claim)
  local _, is_foreign = store.get(claim.key)
  if is_foreign then return corrupt(claim, 'record_type') end
  claim.code = CODE.lost
end

local function judge_record(call, claim, packed)
  local lease = record.decode_head(packed)
  if not lease then return corrupt(claim, 'record_malformed') end
  if not record.is_held_by(lease, claim) then
    claim.code = CODE.lost
    return
  end
  local state = lifecycle.effective(call, lease.state, lease.reason, lease.ended_at, lease.epoch,
                                    lease.expires_at)
  if state ~= record.ACTIVE then
    claim.code = CODE[record.STATE_NAMES[state]]
  elseif server.call('PTTL', claim.key) == -1 then
    corrupt(claim, 'record_no_expiry')
  elseif lease.renew_sequence >= claim.sequence then
    claim.code, claim.expires_at = CODE.unchanged, lease.expires_at
  else
    record.renew(lease, call.now_ms, claim.ttl_ms)
    lease.renew_sequence = claim.sequence
    claim.code, claim.expires_at, claim.lease = CODE.renewed, lease.expires_at, lease
  end
end

-- Gives each claim its `code`; `expires_at` where it has one; `lease` as renewed where it is to be
-- written; `corrupt`, a reason, where it is to be quarantined. A claim with a code is left alone.
function renewal.judge(call, claims)
  local names = {}
  for i = 1, #claims do
    claims[i].key = keys.lease(call.partition, claims[i].digest)
    names[i] = claims[i].key
  end
  local packed = server.call('MGET', unpack(names))
  for i = 1, #claims do
    local claim = claims[i]
    if claim.code == nil then
      if packed[i] then judge_record(call, claim, packed[i]) else judge_absent(claim) end
    end
  end
end

return renewal
