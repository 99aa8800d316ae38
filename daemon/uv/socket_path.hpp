// Paths of Unix sockets: how long they may be, what lies at one, and connecting to one. A path is
// used whole or refused; it is never cut to fit.
#pragma once

#include <sys/stat.h>
#include <sys/un.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "daemon/uv/error.hpp"
#include "daemon/uv/owned_fd.hpp"

namespace starlease::uv {

/// Bytes of the longest path that an address holds beside its final NUL.
inline constexpr std::size_t max_socket_path_bytes = sizeof(sockaddr_un::sun_path) - 1;

/// Address of a path. Errors: path_too_long (with the length), system (empty, or has a NUL inside).
[[nodiscard]] Result<sockaddr_un> socket_address(const std::string& path);

/// A connected, non-blocking stream socket. Never waits: a full backlog is EAGAIN.
/// Errors: path_too_long, no_descriptors, system.
[[nodiscard]] Result<OwnedFd> connect_unix(const std::string& path);

/// Which file a name stands for. It stays taken as long as a socket that is bound to it is open.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};

/// What lies at `path` itself (a symbolic link is not followed); nothing if there is no file.
struct PathEntry {
  FileId id;
  mode_t mode = 0;
  [[nodiscard]] bool is_socket() const { return S_ISSOCK(mode); }
};
/// Errors: system.
[[nodiscard]] Result<std::optional<PathEntry>> look_at(const std::string& path);

/// True if `path` still names the file `id`.
[[nodiscard]] bool still_names(const std::string& path, const FileId& id);

}  // namespace starlease::uv
