-- Turns positional arguments into named, checked values. Nothing is read from the store here.
local prelude = require 'prelude'

local arguments = {}

-- Text of an integer as Valkey's commands want it: Lua's own form loses digits past 14.
function arguments.text(number)
  return string.format('%.0f', number)
end

-- Each kind gives the value to use, or nil if the argument is not of that kind.
local kinds = {}

function kinds.int(value)
  if #value > 16 or not string.find(value, '^%d+$') then return nil end
  local number = tonumber(value)
  if number <= prelude.MAX_INTEGER then return number end
end

function kinds.positive(value)
  local number = kinds.int(value)
  if number and number > 0 then return number end
end

function kinds.duration(value)
  local number = kinds.positive(value)
  if number and number <= prelude.MAX_U32 then return number end
end

function kinds.partitions(value)
  local number = kinds.positive(value)
  if number and number <= prelude.MAX_PARTITIONS then return number end
end

function kinds.flag(value)
  if value == '0' then return false end
  if value == '1' then return true end
end

local function sized(least, most)
  return function(value)
    if #value >= least and #value <= most then return value end
  end
end

kinds.id = sized(1, prelude.MAX_ID_BYTES)
kinds.maybe_id = sized(0, prelude.MAX_ID_BYTES)
kinds.component = sized(1, prelude.MAX_COMPONENT_BYTES)
kinds.metadata = sized(2, prelude.MAX_METADATA_BYTES)
kinds.digest = sized(prelude.DIGEST_BYTES, prelude.DIGEST_BYTES)
kinds.hash8 = sized(prelude.HASH_BYTES, prelude.HASH_BYTES)
kinds.scope = sized(prelude.SCOPE_BYTES, prelude.SCOPE_BYTES)

function kinds.grace_mode(value)
  if value == 'ttl' or value == 'none' then return value end
end

function kinds.operation(value)
  if value == 'acquire' or value == 'renew' or value == 'release' then return value end
end

-- A specification from a flat list: name, kind, name, kind ...
function arguments.specification(list)
  local fields = {}
  for i = 1, #list, 2 do
    fields[#fields + 1] = { name = list[i], read = kinds[list[i + 1]] }
  end
  return fields
end

-- Reads #fields arguments from `first` on into a table by name; nil and the culprit's name if one
-- is malformed. The caller has checked the count.
function arguments.read_from(fields, args, first)
  local request = {}
  for i = 1, #fields do
    local field = fields[i]
    local value = field.read(args[first + i - 1])
    if value == nil then return nil, field.name end
    request[field.name] = value
  end
  return request
end

function arguments.read(fields, args)
  if #args ~= #fields then return nil, 'arguments' end
  return arguments.read_from(fields, args, 1)
end

return arguments
