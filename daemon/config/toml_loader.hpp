// TOML text to raw entries, each with its line. The only place that sees toml++; knows the shape of
// a configuration (tables, [[principal]]), not its keys.
#pragma once

#include <string>
#include <string_view>

#include "daemon/config/raw_value.hpp"

namespace starlease::config {

/// Bigger files are refused before they are parsed.
inline constexpr std::size_t max_file_bytes = 1 << 20;

/// Parses `text`; `file` is the name shown in places. Fails with the place of the first syntax
/// error.
[[nodiscard]] base::Result<RawEntries, Problems> parse_toml(std::string_view text,
                                                            const std::string& file);

/// Reads and parses a file.
[[nodiscard]] base::Result<RawEntries, Problems> load_toml(const std::string& file);

}  // namespace starlease::config
