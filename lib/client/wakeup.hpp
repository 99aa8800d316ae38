// The one descriptor that a client shows to its caller's event loop: readable when the connection
// or a timer has something to do. An epoll set over the socket and a timer on CLOCK_BOOTTIME.
#pragma once

#include <optional>

#include <starlease/error.hpp>

#include "lib/client/boot_clock.hpp"
#include "lib/client/unique_fd.hpp"

namespace starlease::client {

class Wakeup {
 public:
  /// Errors: no_daemon where the process has no descriptors left.
  static Result<Wakeup> make();

  [[nodiscard]] int fd() const noexcept { return epoll_.get(); }
  /// Wakes for input from `fd`, and for room to write where `write`. Replaces what was watched
  /// before; a closed descriptor leaves the set by itself.
  void watch(int fd, bool write);
  /// The watched descriptor has been closed.
  void forget() noexcept { watched_ = -1; }
  /// Wakes at `when`; never where absent. A time that has passed wakes at once.
  void arm(std::optional<BootTime> when);
  /// Blocks until there is something to do, at most for `timeout`.
  void wait(Milliseconds timeout) const;

 private:
  UniqueFd epoll_;
  UniqueFd timer_;
  int watched_ = -1;
  bool watching_write_ = false;
  std::optional<BootTime> armed_;
};

}  // namespace starlease::client
