// base::ByteStream on a connected Unix socket. Writes of one turn leave as one; what the peer does
// not read is queued within a bound. Keeps no buffer while idle. A peer that closes its half, or
// whose watched process ends, has closed. Knows no frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/uv/connections.hpp"
#include "daemon/uv/owned_fd.hpp"
#include "daemon/uv/peer_watch.hpp"
#include "daemon/uv/poll.hpp"
#include "lib/base/stream.hpp"

namespace starlease::uv {

class UnixStream final : public base::ByteStream {
 public:
  /// Takes over a connected stream socket. `connections` outlives the stream.
  /// Errors: system (not a Unix socket, or it cannot be polled).
  [[nodiscard]] static Result<std::unique_ptr<UnixStream>> adopt(Connections& connections,
                                                                 OwnedFd socket);
  UnixStream(const UnixStream&) = delete;
  UnixStream& operator=(const UnixStream&) = delete;
  ~UnixStream() override;

  void start(base::StreamHandler& handler) override;
  /// After close() the bytes are dropped and the answer is true: there is nothing left to close.
  [[nodiscard]] bool write(std::string bytes) override;
  void close_after_flush() override;
  void end_writing() override;
  void close() override;
  void pause_reading(bool paused) override;
  [[nodiscard]] const base::PeerIdentity& peer() const override { return peer_; }
  void watch_peer() override;

  /// Bytes that wait for the peer to read.
  [[nodiscard]] std::size_t queued_bytes() const { return queued_bytes_; }

 private:
  enum class State : std::uint8_t { open, flushing, closing, closed };
  enum class Sent : std::uint8_t { all, blocked, failed };

  UnixStream(Connections& connections, OwnedFd socket, const base::PeerIdentity& peer);

  void on_ready(int status, int events);
  void on_turn();
  void read_once();
  void drain_then_finish();
  void finish();
  void close_socket();

  [[nodiscard]] bool has_socket() const {
    return state_ == State::open || state_ == State::flushing;
  }
  void append(std::string bytes);
  [[nodiscard]] Sent send_queued();
  void drop_sent(std::size_t bytes);
  [[nodiscard]] bool flush();
  void wait_for_events();

  Connections& connections_;
  OwnedFd socket_;
  Poll poll_;
  base::PeerIdentity peer_;
  base::StreamHandler* handler_ = nullptr;
  State state_ = State::open;
  bool paused_ = false;
  bool ending_ = false;        // end_writing() was called
  bool blocked_ = false;       // the socket's buffer was full when last tried
  bool peer_died_ = false;     // found out inside watch_peer(), told on the next turn
  bool* destroyed_ = nullptr;  // set while drain_then_finish() is on the stack
  std::vector<std::string> queue_;
  std::size_t first_sent_ = 0;  // bytes of queue_[0] that have left
  std::size_t queued_bytes_ = 0;
  Deferred next_turn_;
  PeerWatch watch_;
  base::Timer flush_deadline_;
};

}  // namespace starlease::uv
