-- Packed strings with named fields: one list of fields gives the format, the packing and the strict
-- unpacking. Integers are big-endian.
local prelude = require 'prelude'

local layout = {}

local formats = {
  u1 = 'I1', u4 = 'I4', u7 = 'I7', u8 = 'I8',
  text1 = 'I1c0', text4 = 'I4c0',  -- a length of so many bytes, then the text
}
local is_text = { text1 = true, text4 = true }

-- A layout from a flat list: name, kind, name, kind ...
function layout.new(list)
  local made = { format = '>', names = {}, texts = {} }
  for i = 1, #list, 2 do
    local name, kind = list[i], list[i + 1]
    made.names[#made.names + 1] = name
    made.texts[#made.texts + 1] = is_text[kind] or false
    made.format = made.format .. formats[kind]
  end
  return made
end

function layout.pack(self, values)
  local flat, n = {}, 0
  for i = 1, #self.names do
    local value = values[self.names[i]]
    if self.texts[i] then
      n = n + 1
      flat[n] = #value
    end
    n = n + 1
    flat[n] = value
  end
  return struct.pack(self.format, unpack(flat, 1, n))
end

-- The values by name; nil unless `packed` is exactly one well-formed value of this layout.
function layout.unpack(self, packed)
  local flat = { pcall(struct.unpack, self.format, packed) }
  local names = self.names
  local count = #names
  if not flat[1] or flat[count + 2] ~= #packed + 1 then return nil end
  local values = {}
  for i = 1, count do
    local value = flat[i + 1]
    -- Past 2^53 a number has lost digits already.
    if type(value) == 'number' and value > prelude.MAX_INTEGER then return nil end
    values[names[i]] = value
  end
  return values
end

return layout
