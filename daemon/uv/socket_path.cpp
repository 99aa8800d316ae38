// Address building, connecting, and lstat.
#include "daemon/uv/socket_path.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace starlease::uv {

Result<sockaddr_un> socket_address(const std::string& path) {
  if (path.size() > max_socket_path_bytes) {
    return base::failed(Error{
        ErrorKind::path_too_long, ENAMETOOLONG,
        fmt::format("the socket path {} is {} bytes long, but at most {} fit; choose a shorter one",
                    path, path.size(), max_socket_path_bytes)});
  }
  if (path.empty() || path.contains('\0')) {
    return base::failed(Error{ErrorKind::system, EINVAL,
                              "the socket path is empty or holds a NUL byte; give a file's path"});
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Result<OwnedFd> connect_unix(const std::string& path) {
  const auto address = socket_address(path);
  if (!address) return base::failed(address.error());
  OwnedFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return base::failed(system_error("cannot make a socket", errno));
  const auto* generic = reinterpret_cast<const sockaddr*>(&*address);
  if (::connect(socket.get(), generic, sizeof *address) != 0) {
    return base::failed(system_error(fmt::format("cannot connect to {}", path), errno));
  }
  return socket;
}

Result<std::optional<PathEntry>> look_at(const std::string& path) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) == 0) {
    return PathEntry{{found.st_dev, found.st_ino}, found.st_mode};
  }
  if (errno == ENOENT) return std::nullopt;
  return base::failed(system_error(fmt::format("cannot look at {}", path), errno));
}

bool still_names(const std::string& path, const FileId& id) {
  const auto entry = look_at(path);
  return entry && *entry && (*entry)->id == id;
}

}  // namespace starlease::uv
