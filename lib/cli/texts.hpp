// Small pieces of text on the command line: durations and identities. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <starlease/lease.hpp>

namespace starlease::cli {

/// "1500" and "1500ms" are milliseconds; also "30s", "5m", "2h". Nothing where it is not that, is
/// negative, or is longer than a year.
[[nodiscard]] std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

/// "30s", "1500ms": the longest unit that is exact.
[[nodiscard]] std::string format_duration(std::chrono::milliseconds duration);

/// tenant/program/namespace/target/actor[/workflow[/class]]. Nothing where there are fewer or more
/// parts, or an empty one.
[[nodiscard]] std::optional<Identity> parse_identity(std::string_view text);

/// The same form; workflow and class are left out where both are "default".
[[nodiscard]] std::string format_identity(const Identity& identity);

}  // namespace starlease::cli
