// Secrets from files and systemd credentials into guarded memory. The only reader of secret files.
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "lib/base/secret.hpp"

namespace starlease::config {

/// Longest password that is accepted.
inline constexpr std::size_t max_secret_bytes = 512;

/// The file's one line as a secret. A trailing newline is dropped; an empty file, a second line or
/// a file that others can read is refused. The error never holds the content.
[[nodiscard]] base::Result<base::Secret, std::string> read_secret(const std::string& path);

/// The path of a systemd credential of this service, or why there is none. The name is one path
/// component.
[[nodiscard]] base::Result<std::string, std::string> credential_path(const std::string& name);

}  // namespace starlease::config
