// Readiness of one descriptor, as RAII: the owner is called through Loop::enter() and never after
// it has closed this, not even when the turn function closed it. Does not own the descriptor.
#pragma once

#include <uv.h>

#include "daemon/uv/handle.hpp"
#include "daemon/uv/loop.hpp"

namespace starlease::uv {

class Poll {
 public:
  /// `status` is 0 or a negative libuv code; after an error the descriptor is not watched any more.
  /// `events` holds UV_READABLE, UV_WRITABLE, UV_DISCONNECT.
  using Ready = void (*)(void* owner, int status, int events);

  /// Prepares to watch `fd`, which becomes non-blocking and stays open until close().
  [[nodiscard]] Result<void> open(Loop& loop, int fd, Ready ready, void* owner);
  /// What to wait for; 0 waits for nothing. Does nothing when closed.
  void want(int events);
  void close() { handle_.close(); }
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(handle_); }

 private:
  static void entry(uv_poll_t* handle, int status, int events);

  Handle<uv_poll_t> handle_;
  Ready ready_ = nullptr;
  void* owner_ = nullptr;
  int wanted_ = 0;
};

}  // namespace starlease::uv
