// The right to serve a path: an flock on "<path>.lock". The kernel ends it with the process,
// however that dies, so a lock that is held means a live owner. Says nothing about the socket
// itself.
#pragma once

#include <string>

#include "daemon/uv/error.hpp"
#include "daemon/uv/owned_fd.hpp"
#include "daemon/uv/socket_path.hpp"

namespace starlease::uv {

class PathLock {
 public:
  /// Takes the lock without waiting. Errors: in_use (names the holder's process), no_descriptors,
  /// system.
  [[nodiscard]] static Result<PathLock> acquire(const std::string& socket_path);
  PathLock(PathLock&&) noexcept = default;
  PathLock& operator=(PathLock&&) = delete;
  /// Removes the lock file if it is still ours, then lets go.
  ~PathLock();

  /// Takes the lock anew if somebody has deleted its file. Errors: as acquire().
  [[nodiscard]] Result<void> keep();

 private:
  PathLock(std::string path, OwnedFd file, FileId id)
      : path_(std::move(path)), file_(std::move(file)), id_(id) {}
  [[nodiscard]] static Result<PathLock> take(std::string lock_path);

  std::string path_;
  OwnedFd file_;
  FileId id_;
};

}  // namespace starlease::uv
