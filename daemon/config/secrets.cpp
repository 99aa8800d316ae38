// Secret files; see the header.
#include "daemon/config/secrets.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "daemon/config/read_file.hpp"

namespace starlease::config {

base::Result<base::Secret, std::string> read_secret(const std::string& path) {
  auto bytes = read_file(path, max_secret_bytes + 1, Privacy::secret);
  if (!bytes) return base::failed(fmt::format("{} {}", path, bytes.error()));
  std::string_view line = *bytes;
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::string problem;
  if (line.empty()) problem = "is empty";
  if (line.size() > max_secret_bytes)
    problem = fmt::format("is larger than {} bytes", max_secret_bytes);
  if (line.find_first_of(std::string_view("\n\0", 2)) != std::string_view::npos) {
    problem = "must hold one line";
  }
  base::Secret secret = problem.empty() ? base::Secret(line) : base::Secret();
  base::wipe(*bytes);
  if (!problem.empty()) return base::failed(fmt::format("{} {}", path, problem));
  return secret;
}

base::Result<std::string, std::string> credential_path(const std::string& name) {
  if (name.empty() || name.contains('/') || name == "." || name == "..") {
    return base::failed(fmt::format("\"{}\" is not a credential's name", name));
  }
  const char* directory = std::getenv("CREDENTIALS_DIRECTORY");
  if (directory == nullptr || *directory == '\0') {
    return base::failed(
        fmt::format("credential {} is not there: systemd gives none to this process "
                    "(LoadCredential= in the unit)",
                    name));
  }
  return fmt::format("{}/{}", directory, name);
}

}  // namespace starlease::config
