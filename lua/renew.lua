-- The daemon's timed renewals: many leases of one partition in one call. A sequence number in the
-- record makes a repeated one a replay, so that no idempotency record is needed. README,
-- "starlease1_renew".
local admission = require 'admission'
local arguments = require 'arguments'
local audit = require 'audit'
local bytes = require 'record_bytes'
local gate = require 'gate'
local index = require 'index'
local keys = require 'keys'
local opening = require 'opening'
local prelude = require 'prelude'
local quarantine = require 'quarantine'
local renewal = require 'renewal'
local reply = require 'reply'
local store = require 'store'

local HEAD = arguments.specification { 'deadline_ms', 'int', 'correlation_id', 'maybe_id' }
-- Where a lease's arguments lie from the first of them.
local EACH = 7
local DIGEST, LEASE_ID, TOKEN, OWNER, INSTANCE, TTL_MS, SEQUENCE = 0, 1, 2, 3, 4, 5, 6

-- Checks what the lease at `place` is asked, and puts its numbers back as numbers; the name of what
-- is malformed, or nil. The other texts are only compared with what is stored.
local function check_lease(args, place)
  if #args[place + DIGEST] ~= prelude.DIGEST_BYTES then return 'digest' end
  local token = arguments.positive(args[place + TOKEN])
  local ttl_ms = arguments.duration(args[place + TTL_MS])
  local sequence = arguments.positive(args[place + SEQUENCE])
  if not token then return 'token' end
  if not ttl_ms then return 'ttl_ms' end
  if not sequence then return 'sequence' end
  args[place + TOKEN], args[place + TTL_MS], args[place + SEQUENCE] = token, ttl_ms, sequence
  return nil
end

-- The head of the request, with the place in `args` of each lease; nil and what is malformed.
local function read_arguments(args)
  local count = (#args - HEAD.count) / EACH
  if count < 1 or count > prelude.RENEWALS_PER_CALL or count % 1 ~= 0 then
    return nil, 'arguments'
  end
  local request, culprit = arguments.read_from(HEAD, args, 1)
  if not request then return nil, culprit end
  local places, seen = {}, {}
  for i = 1, count do
    local place = HEAD.count + 1 + (i - 1) * EACH
    culprit = check_lease(args, place)
    local digest = args[place]
    if culprit or seen[digest] then return nil, culprit or 'digest' end
    seen[digest], places[i] = true, place
  end
  request.places = places
  return request
end

-- Which of the places belong to marked identities; nil and the refusal if that cannot be told.
local function marked(call, args, places)
  local found = {}
  if call.gate.quarantined == 0 then return found end
  for i = 1, #places do
    local refusal = quarantine.refusal(call, args[places[i] + DIGEST])
    if refusal and refusal[1] ~= 'quarantined' then return nil, refusal end
    found[i] = refusal ~= nil
  end
  return found
end

-- Judges every lease: codes and ends by number, and what is to be done (renewals: by number their
-- bytes; corrupt: by number the reason).
local function judge_all(call, args, places, is_marked)
  local names, prefix = {}, keys.lease(call.partition, '')
  for i = 1, #places do names[i] = prefix .. args[places[i] + DIGEST] end
  local packed = server.call('MGET', unpack(names))
  local judged = { names = names, codes = {}, ends = {}, renewals = {}, corrupt = {} }
  for i = 1, #places do
    local at = places[i]
    local code, expires_at, more = renewal.CODE.quarantined, 0, nil
    if not is_marked[i] then
      code, expires_at, more = renewal.judge(
        call, names[i], packed[i], args[at + LEASE_ID], args[at + TOKEN], args[at + OWNER],
        args[at + INSTANCE], args[at + TTL_MS], args[at + SEQUENCE])
    end
    judged.codes[i], judged.ends[i] = code, expires_at
    if code == renewal.CODE.renewed then judged.renewals[i] = more
    elseif more then judged.corrupt[i] = more end
  end
  return judged
end

local function write_renewals(call, request, args, judged)
  local expiries, count, farthest = {}, 0, 0
  local last_end, text  -- most of a batch end at the same time
  for i, patch in pairs(judged.renewals) do
    local expires_at = judged.ends[i]
    if expires_at ~= last_end then last_end, text = expires_at, arguments.text(expires_at) end
    expiries[2 * count + 1], expiries[2 * count + 2] = text, args[request.places[i] + DIGEST]
    count = count + 1
    farthest = math.max(farthest, expires_at)
    bytes.write_renewal(judged.names[i], patch)
  end
  index.reschedule(call, expiries)
  call.gate.largest_ttl = math.max(call.gate.largest_ttl, farthest - call.now_ms)
  gate.advance(call)
  audit.write(call, {
    event = 'target_lease_renew', code = 'lease_renewed', correlation_id = request.correlation_id,
    previous_state = 'active', state = 'active',
    reason = 'timed, ' .. count .. ' of ' .. #request.places })
end

local function write(call, request, args, judged)
  local has_renewals, has_corrupt = next(judged.renewals) ~= nil, next(judged.corrupt) ~= nil
  if not has_renewals and not has_corrupt then return nil end
  local damaged = store.damaged(call.partition)
  if damaged then return reply.damaged(call, damaged) end
  if has_renewals then write_renewals(call, request, args, judged) end
  for i, reason in pairs(judged.corrupt) do
    local at = request.places[i]
    quarantine.shut(call, args[at + DIGEST], reason, {
      lease_id = args[at + LEASE_ID], token = args[at + TOKEN],
      owner_principal_id = args[at + OWNER], service_instance_id = args[at + INSTANCE],
      correlation_id = request.correlation_id })
  end
  return nil
end

local function renew(gate_keys, args)
  local request, culprit = read_arguments(args)
  if not request then return reply.invalid(culprit) end
  local call, refusal = opening.for_writing(gate_keys[1])
  if not call then return refusal end
  if admission.is_late(call, request.deadline_ms) then return reply.of(call, 'deadline') end
  local is_marked
  is_marked, refusal = marked(call, args, request.places)
  if not is_marked then return refusal end
  local judged = judge_all(call, args, request.places, is_marked)
  refusal = write(call, request, args, judged)
  if refusal then return refusal end
  local told = reply.head(call, 'renewed')
  for i = 1, #judged.codes do
    told[3 + 2 * i], told[4 + 2 * i] = judged.codes[i], judged.ends[i]
  end
  return told
end

return renew
