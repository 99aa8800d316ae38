// The function library that this program needs on the server: its text (built in from lua/), and
// the commands that ask for its revision and load it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/valkey/fault.hpp"
#include "lib/base/result.hpp"

struct redisReply;

namespace starlease::valkey {

/// The revision that is built in; a server's must not be lower.
[[nodiscard]] std::int64_t library_revision();
[[nodiscard]] std::string_view library_name();

/// FUNCTION LOAD REPLACE with the built-in text, as a finished command.
[[nodiscard]] std::string encode_library_load();

/// The revision on the server from the answer to encode_version(): nothing if there is no library.
[[nodiscard]] base::Result<std::optional<std::int64_t>, Fault> decode_version(
    const redisReply& reply);
/// Why the library was not loaded; nothing if it was.
[[nodiscard]] std::optional<Fault> load_refused(const redisReply& reply);

}  // namespace starlease::valkey
