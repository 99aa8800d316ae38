// Rules of the [valkey] section, its secrets, and of socket paths.
#pragma once

#include "daemon/config/checks.hpp"
#include "daemon/config/valid_config.hpp"

namespace starlease::config {

/// Longest path that a Unix socket address holds with its terminating NUL.
inline constexpr std::size_t max_socket_path_bytes = 107;

/// An absolute path that fits into a socket address whole; a longer one is refused, never cut.
void check_socket_path(const std::string& path, std::string_view key, Checks& checks);

/// Checks the section and reads the password; problems go to `checks`.
[[nodiscard]] ValkeySettings valkey_settings(const Config::Valkey& raw, Checks& checks);

}  // namespace starlease::config
