-- The only file that registers functions: their names and what each is allowed. no-writes: also on
-- FCALL_RO. allow-oom: runs when the server is out of memory, since it ends or keeps leases and
-- grows nothing but bounded streams.
local prelude = require 'prelude'

local function version()
  return prelude.REVISION
end

local PREFIX = 'starlease1_'

local function register(name, callback, flags)
  server.register_function {
    function_name = PREFIX .. name, callback = callback, flags = flags }
end

register('version', version, { 'no-writes' })
register('gate_read', require 'gate_read', { 'no-writes' })
register('gate_init', require 'gate_init', {})
register('recover', require 'recover', { 'allow-oom' })
register('acquire', require 'acquire', {})
register('renew', require 'renew', { 'allow-oom' })
register('renew_once', require 'renew_once', { 'allow-oom' })
register('release', require 'release', { 'allow-oom' })
register('commit', require 'commit', {})
register('invalidate', require 'invalidate', { 'allow-oom' })
register('inspect', require 'inspect', { 'no-writes' })
register('resolve', require 'resolve', { 'no-writes' })
register('document', require 'document_read', { 'no-writes' })
register('sweep', require 'sweep', { 'allow-oom' })
register('list', require 'list', { 'no-writes' })
register('history', require 'history_read', { 'no-writes' })
