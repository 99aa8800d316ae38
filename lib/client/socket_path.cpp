// Choosing and checking socket paths; see the header.
#include "lib/client/socket_path.hpp"

#include <cstring>

namespace starlease::client {

std::string choose_socket_path(const std::string& asked, const char* variable,
                               const char* standard) {
  if (!asked.empty()) return asked;
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : standard;
}

Result<SocketAddress> socket_address(const std::string& path) {
  Error error;
  error.code = ErrorCode::no_daemon;
  error.field = "socket";
  if (path.empty() || path.find('\0') != std::string::npos) {
    error.message = "The socket path is empty or holds a zero byte; give the path of the daemon";
    return error;
  }
  if (path.size() > socket_path_bytes) {
    error.message = "The socket path has " + std::to_string(path.size()) + " bytes, and at most " +
                    std::to_string(socket_path_bytes) + " are possible; use a shorter one: " + path;
    return error;
  }
  SocketAddress address;
  address.value.sun_family = AF_UNIX;
  std::memcpy(address.value.sun_path, path.data(), path.size());
  address.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + 1);
  return address;
}

}  // namespace starlease::client
