-- Turns positional arguments into named, checked values. Nothing is read from the store here.
local prelude = require 'prelude'

local arguments = {}

-- Text of an integer as Valkey's commands want it: Lua's own form loses digits past 14.
function arguments.text(number)
  return string.format('%.0f', number)
end

-- Decimal digits only: what else Lua reads as a number is not one here.
local function integer(least, most)
  return { read = function(value)
    if #value > 16 or string.find(value, '%D') then return nil end
    local number = tonumber(value)
    if number and number >= least and number <= most then return number end
  end }
end

-- Of hashes that are only compared, or only narrow a search, enough is kept to tell them apart.
local function shortened(given, kept)
  return { read = function(value)
    if #value == given then return string.sub(value, 1, kept) end
  end }
end

local function one_of(values)
  return { read = function(value) return values[value] end }
end

-- The codes of document types by name; 0 is none.
local function document_types()
  local codes = { [''] = 0 }
  local names = prelude.DOCUMENT_TYPES
  for i = 1, #names do codes[names[i]] = i end
  return codes
end

-- Each kind is either a text of `least` to `most` bytes, or has a function that gives the value to
-- use, or nil if the argument is not of that kind.
local kinds = {
  id = { least = 1, most = prelude.MAX_ID_BYTES },
  maybe_id = { least = 0, most = prelude.MAX_ID_BYTES },
  component = { least = 1, most = prelude.MAX_COMPONENT_BYTES },
  metadata = { least = 2, most = prelude.MAX_METADATA_BYTES },
  why = { least = 1, most = prelude.MAX_WHY_BYTES },
  statement = { least = 1, most = prelude.MAX_STATEMENT_BYTES },
  body = { least = 0, most = prelude.MAX_BODY_BYTES },
  digest = { least = prelude.DIGEST_BYTES, most = prelude.DIGEST_BYTES },
  int = integer(0, prelude.MAX_INTEGER),
  positive = integer(1, prelude.MAX_INTEGER),
  span = integer(0, prelude.MAX_U32),
  duration = integer(1, prelude.MAX_U32),
  partitions = integer(1, prelude.MAX_PARTITIONS),
  request_digest = shortened(prelude.DIGEST_BYTES, prelude.REQUEST_DIGEST_KEPT),
  scope = shortened(prelude.SCOPE_BYTES, prelude.SCOPE_KEPT),
  hash8 = shortened(prelude.HASH_BYTES, prelude.HASH_KEPT),
  flag = one_of { ['0'] = false, ['1'] = true },
  grace_mode = one_of { ttl = 'ttl', none = 'none' },
  operation = one_of { acquire = 'acquire', renew = 'renew', release = 'release',
                       commit = 'commit', force_release = 'force_release', revoke = 'revoke' },
  invalidation = one_of { force_release = 'force_release', revoke = 'revoke' },
  commit_kind = one_of { authorize = 'authorize', document = 'document' },
  document_type = one_of(document_types()),
  list_by = one_of { owner = 'owner', target = 'target', program = 'program' },
  maybe_component = { least = 0, most = prelude.MAX_COMPONENT_BYTES },
  position = { least = 0, most = prelude.HASH_KEPT + prelude.DIGEST_BYTES },
  stream_id = { read = function(value)
    local is_id = #value <= prelude.STREAM_ID_BYTES and string.find(value, '^%d+%-%d+$')
    if value == '' or is_id then return value end
  end },
}

-- For lists of arguments that are too long to be read by name.
arguments.positive = kinds.positive.read
arguments.duration = kinds.duration.read

-- A specification from a flat list: name, kind, name, kind ...
function arguments.specification(list)
  local made = { names = {}, kinds = {} }
  for i = 1, #list, 2 do
    made.names[#made.names + 1] = list[i]
    made.kinds[#made.kinds + 1] = kinds[list[i + 1]]
  end
  made.count = #made.names
  return made
end

-- Reads as many arguments as the specification has, from `first` on, into a table by name; nil and
-- the culprit's name if one is malformed. The caller has checked that they are there.
function arguments.read_from(self, args, first)
  local request, names, kinds_of = {}, self.names, self.kinds
  for i = 1, self.count do
    local value, kind = args[first + i - 1], kinds_of[i]
    if kind.read then
      value = kind.read(value)
      if value == nil then return nil, names[i] end
    elseif #value < kind.least or #value > kind.most then
      return nil, names[i]
    end
    request[names[i]] = value
  end
  return request
end

function arguments.read(self, args)
  if #args ~= self.count then return nil, 'arguments' end
  return arguments.read_from(self, args, 1)
end

return arguments
