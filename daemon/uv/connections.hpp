// What all connections of one socket share: the loop, the timers, the log, the bounds, the watch on
// their processes, and their number. Owned by the composition root; outlives listener and streams.
#pragma once

#include <cstddef>

#include "daemon/uv/loop.hpp"
#include "daemon/uv/peer_watch.hpp"
#include "lib/base/assert.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"
#include "lib/base/timers.hpp"

namespace starlease::uv {

struct ConnectionLimits {
  std::size_t max_connections = 16384;
  /// Bytes that may wait for one peer to read them, beyond the kernel's own socket buffer.
  std::size_t outbound_bytes = 1024UL * 1024;
  /// How long close_after_flush() waits for a peer that does not read.
  base::Milliseconds flush_wait{1000};
  /// Processes watched by a pidfd at a time.
  std::size_t max_watched_peers = 4096;
};

class Connections {
 public:
  Connections(Loop& loop, base::Timers& timers, base::Log& log, const ConnectionLimits& limits)
      : loop_(loop),
        timers_(timers),
        log_(log),
        limits_(limits),
        peers_(loop, log, limits.max_watched_peers) {}
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;
  /// REQUIRES: every stream is gone.
  ~Connections() { SL_ASSERT(open_ == 0); }

  [[nodiscard]] Loop& loop() { return loop_; }
  [[nodiscard]] base::Timers& timers() { return timers_; }
  [[nodiscard]] base::Log& log() { return log_; }
  [[nodiscard]] PeerWatcher& peers() { return peers_; }
  [[nodiscard]] const ConnectionLimits& limits() const { return limits_; }

  /// Connections whose socket is open.
  [[nodiscard]] std::size_t open() const { return open_; }
  [[nodiscard]] bool full() const { return open_ >= limits_.max_connections; }

 private:
  friend class UnixStream;
  Loop& loop_;
  base::Timers& timers_;
  base::Log& log_;
  ConnectionLimits limits_;
  PeerWatcher peers_;
  std::size_t open_ = 0;
};

}  // namespace starlease::uv
