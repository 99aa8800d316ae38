// A listening socket and its name in the file system. The name appears at once with its final mode
// and owner and already listening; a stale one is replaced, a live one, a lock or another kind of
// file is left alone; at the end it is removed only if it is still ours. Accepts nothing itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "daemon/uv/error.hpp"
#include "daemon/uv/owned_fd.hpp"
#include "daemon/uv/path_lock.hpp"
#include "daemon/uv/socket_path.hpp"

namespace starlease::uv {

struct SocketSpec {
  std::string path;
  mode_t mode = 0660;                         ///< Permission bits of the socket.
  std::optional<uid_t> owner = std::nullopt;  ///< Unset: the daemon's own.
  std::optional<gid_t> group = std::nullopt;  ///< Unset: the daemon's own.
  int backlog = 4096;
};

class BoundSocket {
 public:
  /// REQUIRES: one thread (the umask is changed for the length of the call).
  /// Errors: path_too_long, in_use, not_a_socket, no_descriptors, system.
  [[nodiscard]] static Result<BoundSocket> bind(SocketSpec spec);
  BoundSocket(BoundSocket&&) noexcept = default;
  BoundSocket& operator=(BoundSocket&&) = delete;
  /// Removes the path if it is still ours.
  ~BoundSocket() { remove_path(); }

  /// Listening, non-blocking.
  [[nodiscard]] int fd() const { return socket_.get(); }
  [[nodiscard]] const std::string& path() const { return spec_.path; }

  enum class Presence : std::uint8_t { ours, missing, replaced };
  /// What lies at the path now.
  [[nodiscard]] Presence presence() const;
  /// Binds the missing path again. Gives the old listening socket back: connections may wait in it.
  /// Errors: as bind().
  [[nodiscard]] Result<OwnedFd> heal();
  /// Takes the path out of the file system if it is still ours. Does not close the socket.
  void remove_path();

 private:
  struct Named {
    OwnedFd socket;
    FileId id;
  };
  BoundSocket(SocketSpec spec, PathLock lock, Named named)
      : spec_(std::move(spec)),
        lock_(std::move(lock)),
        socket_(std::move(named.socket)),
        id_(named.id) {}

  [[nodiscard]] static Result<Named> make_named(const SocketSpec& spec);

  SocketSpec spec_;
  PathLock lock_;
  OwnedFd socket_;
  FileId id_;
};

}  // namespace starlease::uv
