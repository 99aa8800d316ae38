// What a connection is, without a loop: bytes in, bytes out, who the peer is. daemon/uv implements
// it on Unix sockets; the simulator in memory. One thread; no call blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace starlease::base {

/// Who connected, as the kernel says; read once at accept and kept even if the descriptor is passed
/// on.
struct PeerIdentity {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::int64_t pid = 0;
};

class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  /// Bytes arrived. The span is valid during the call only.
  virtual void on_bytes(std::span<const std::byte> bytes) = 0;
  /// The peer closed, the peer's process died, an error came, or close() was called. Last call,
  /// exactly once; the stream may be destroyed from inside it.
  virtual void on_closed() = 0;
};

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Starts reading. REQUIRES: called once; `handler` outlives the stream or its on_closed().
  virtual void start(StreamHandler& handler) = 0;
  /// Queues bytes for writing. False, and nothing is queued, when the outbound bound would be
  /// passed: the peer does not read, and the caller must close.
  [[nodiscard]] virtual bool write(std::string bytes) = 0;
  /// Stops reading and closes once what is queued has been written, or after a short bounded wait.
  virtual void close_after_flush() = 0;
  /// Writes what is queued, then tells the peer that this was all; still reads, so that the peer's
  /// closing in answer is heard. Later writes are dropped.
  virtual void end_writing() = 0;
  /// Closes now; what is queued is dropped. on_closed() follows on a later turn, never from inside.
  virtual void close() = 0;
  /// Back-pressure: while paused, no on_bytes() comes.
  virtual void pause_reading(bool paused) = 0;
  /// The peer's process is watched from now on; its death is on_closed(), even if a child it forked
  /// keeps the socket open. What it sent before it died is delivered first. Asked for when the
  /// session begins to hold something, since it may cost a descriptor; asking again changes
  /// nothing. A stream without a process behind it needs nothing more than its own closing.
  virtual void watch_peer() {}
  [[nodiscard]] virtual const PeerIdentity& peer() const = 0;
};

/// A source of accepted connections; destroying it stops listening.
class Listener {
 public:
  using Accept = std::move_only_function<void(std::unique_ptr<ByteStream>)>;
  virtual ~Listener() = default;
  /// Starts accepting. REQUIRES: called once.
  virtual void start(Accept accept) = 0;
  /// Stops accepting for good; connections already accepted stay.
  virtual void stop() = 0;
};

}  // namespace starlease::base
