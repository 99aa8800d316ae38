// A base::Listener on a Unix socket: accepts, survives running out of descriptors, and heals a path
// that was taken away. The path's own rules are BoundSocket's.
#pragma once

#include <memory>
#include <optional>

#include "daemon/uv/bound_socket.hpp"
#include "daemon/uv/connections.hpp"
#include "daemon/uv/owned_fd.hpp"
#include "daemon/uv/poll.hpp"
#include "lib/base/stream.hpp"

namespace starlease::uv {

class UnixListener final : public base::Listener {
 public:
  /// Binds and listens; accepts after start(). `connections` outlives the listener.
  /// Errors: as BoundSocket::bind().
  [[nodiscard]] static Result<std::unique_ptr<UnixListener>> bind(Connections& connections,
                                                                  SocketSpec spec);
  /// Takes a listening socket that was passed in; its path is never touched.
  /// Errors: not_listening, no_descriptors.
  [[nodiscard]] static Result<std::unique_ptr<UnixListener>> adopt(Connections& connections,
                                                                   OwnedFd socket);
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;
  ~UnixListener() override;

  void start(Accept accept) override;
  void stop() override;

 private:
  UnixListener(Connections& connections, std::optional<BoundSocket> bound, OwnedFd passed);

  [[nodiscard]] int fd() const { return bound_ ? bound_->fd() : passed_.get(); }
  void watch();
  void on_ready(int status);
  [[nodiscard]] bool accept_one(int listening);
  void exhausted(int errno_value);
  void rest();
  void check_path();
  void heal_path();

  Connections& connections_;
  std::optional<BoundSocket> bound_;
  OwnedFd passed_;
  /// Given up for a moment when no descriptor is left, so that a waiting peer can be turned away.
  OwnedFd reserve_;
  Poll poll_;
  Accept accept_;
  LogPacer pacer_;
  base::Timer resting_;
  base::Timer path_check_;
};

}  // namespace starlease::uv
