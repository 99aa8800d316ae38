-- Valkey's Lua is 5.1 without the libraries that reach outside. Each global that may be used is named.
std = "lua51"
max_line_length = 100
exclude_files = { "build" }
files["lua"] = { globals = { "server", "redis" }, read_globals = { "cjson", "cmsgpack", "struct", "bit" } }
