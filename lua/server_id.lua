-- Which server process and replication history the data in memory belong to. A restart, a restore
-- and a full resynchronization all load the library anew, so what is kept here lives exactly as
-- long as the data that it was read beside.
local server_id = {}

local known = nil

-- Reads it from the server: "<run_id>:<master_replid>".
function server_id.read()
  local info = server.call('INFO', 'server', 'replication')
  local run_id = string.match(info, 'run_id:(%x+)')
  local replication_id = string.match(info, 'master_replid:(%x+)')
  known = run_id .. ':' .. replication_id
  return known
end

-- True if `attested` names this server. On a difference it reads again: a promotion changes the
-- replication id of a running process.
function server_id.is(attested)
  return known == attested or server_id.read() == attested
end

function server_id.is_well_formed(text)
  return #text == 81 and string.find(text, '^%x+:%x+$') == 1 and string.sub(text, 41, 41) == ':'
end

return server_id
