// Raw entries onto the table of keys: types and ranges of single values, unknown keys refused.
// Rules between keys are validate.hpp's.
#pragma once

#include <string_view>

#include "daemon/config/config.hpp"

namespace starlease::config {

inline constexpr std::size_t max_principals = 1024;
/// More problems than this help nobody; the rest is counted.
inline constexpr std::size_t max_problems = 20;

/// Starts from the defaults and applies the entries in order; a later one wins. Every problem found
/// names its place and what is allowed.
[[nodiscard]] base::Result<Config, Problems> apply(const RawEntries& entries);

/// "key=value" of --set.
[[nodiscard]] base::Result<RawEntry, Problems> parse_override(std::string_view text);

}  // namespace starlease::config
