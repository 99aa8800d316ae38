// Which socket to speak to, and its address. A path that does not fit is refused with its length:
// cut off, it would name another socket.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <string>

#include <starlease/error.hpp>

namespace starlease::client {

/// The longest path that fits into sockaddr_un with its closing zero.
inline constexpr std::size_t socket_path_bytes = sizeof(sockaddr_un::sun_path) - 1;

/// `asked`, or else the variable `variable`, or else `standard`.
[[nodiscard]] std::string choose_socket_path(const std::string& asked, const char* variable,
                                             const char* standard);

struct SocketAddress {
  sockaddr_un value{};
  socklen_t length = 0;
};

/// The address of `path`. Errors: no_daemon where it is empty, too long or holds a zero byte.
Result<SocketAddress> socket_address(const std::string& path);

}  // namespace starlease::client
