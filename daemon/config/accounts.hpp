// Names of users and groups to numbers, by the system's own databases. At start only: it may block.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace starlease::config {

/// The number that `text` is or that the user database has for it; nothing if there is no such
/// user.
[[nodiscard]] std::optional<std::uint32_t> user_id(const std::string& text);
/// The same for groups.
[[nodiscard]] std::optional<std::uint32_t> group_id(const std::string& text);

}  // namespace starlease::config
