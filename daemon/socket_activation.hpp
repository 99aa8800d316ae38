// Listening sockets that the service manager passes in, by name. Taken once; the variables that
// tell of them are removed, so that no child believes they are its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daemon/uv/owned_fd.hpp"
#include "lib/base/result.hpp"

namespace starlease {

/// The names of FileDescriptorName= in the units.
inline constexpr const char* worker_socket_name = "starleased";
inline constexpr const char* admin_socket_name = "starleased-admin";

struct PassedSockets {
  std::optional<uv::OwnedFd> workers;
  std::optional<uv::OwnedFd> admins;
  /// Names of descriptors that nobody here knows; they have been closed.
  std::vector<std::string> unknown;
};

/// Takes LISTEN_FDS. Each known one must be a listening Unix stream socket; the error is a
/// sentence.
[[nodiscard]] base::Result<PassedSockets, std::string> take_passed_sockets();

}  // namespace starlease
