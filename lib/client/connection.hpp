// One connection to the daemon: a non-blocking Unix socket, frames in and out, both bounded. Knows
// nothing of requests; never reconnects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <starlease/error.hpp>

#include "lib/client/socket_path.hpp"
#include "lib/client/unique_fd.hpp"
#include "proto-ipc/frame.hpp"

namespace starlease::client {

class Connection {
 public:
  /// What is queued beyond this means that the daemon does not read.
  static constexpr std::size_t outbound_bytes = std::size_t{16} << 20;

  enum class Attempt : std::uint8_t {
    connected,
    /// The daemon's backlog is full: worth another try in a moment.
    busy,
    /// Nothing listens, or it may not be opened; errno says which.
    refused,
  };
  /// Connects in place of what was there before.
  Attempt open(const SocketAddress& address);
  void close();
  [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }
  [[nodiscard]] int fd() const { return socket_.get(); }

  /// The largest payload that the daemon takes; told at the greeting.
  void limit_frames(std::size_t max_frame_bytes);
  [[nodiscard]] std::size_t frame_limit() const { return frame_limit_; }

  /// Queues a frame. False, and nothing is queued, past the bound. REQUIRES: 1 .. frame_limit()
  /// bytes.
  [[nodiscard]] bool send(std::string_view payload);
  /// Writes what the socket takes. False: the connection is broken.
  [[nodiscard]] bool flush();
  [[nodiscard]] bool has_output() const { return sent_ < output_.size(); }

  enum class Input : std::uint8_t { drained, closed, broken_framing };
  /// Reads what is there and appends the complete payloads, also those before an end or an error.
  Input receive(std::vector<std::string>& payloads);

 private:
  UniqueFd socket_;
  std::size_t frame_limit_ = ipc::default_max_frame_bytes;
  ipc::FrameDecoder decoder_{ipc::default_max_frame_bytes};
  std::string output_;
  std::size_t sent_ = 0;
};

}  // namespace starlease::client
