// RFC 3339 instants in UTC with milliseconds: "2026-08-05T12:00:00.000Z". Strict both ways.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace starlease::base {

/// Formats milliseconds since 1970. REQUIRES: 0 <= ms < year 10000.
[[nodiscard]] std::string rfc3339_format(std::int64_t unix_ms);
/// Parses exactly the form above (upper case T and Z, three decimals, real dates, no leap second).
[[nodiscard]] std::optional<std::int64_t> rfc3339_parse(std::string_view text);

}  // namespace starlease::base
