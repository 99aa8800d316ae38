// Length-prefixed frames: bytes in any pieces in, whole payloads out, and back. No JSON, no socket.
// PROTOCOL.md section 2.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/result.hpp"
#include "proto-ipc/limits.hpp"

namespace starlease::ipc {

/// What breaks the framing or cannot be read as a message: the connection cannot go on.
/// `message` is a sentence for the peer.
struct FrameError {
  std::string message;
};

/// Cuts a stream of bytes into payloads. A payload that lies whole in the input is a view of it;
/// only what is cut off at the end is copied. The buffer grows with the bytes that have come, never
/// by the length announced, and none is kept between frames, so that an idle connection holds none.
class FrameDecoder {
 public:
  /// `max_frame_bytes`: largest payload accepted.
  explicit FrameDecoder(std::size_t max_frame_bytes) : max_frame_bytes_(max_frame_bytes) {}

  /// Takes the next bytes. They must stay valid until next() has given nothing or an error.
  /// REQUIRES: next() has done so for the bytes before these.
  void feed(std::span<const std::byte> bytes);

  /// The next payload; nothing when more bytes are needed; or, from then on always, the sentence
  /// that says why the stream is broken (length 0 or above the limit). A payload is valid until the
  /// next call of feed() or next(); no byte behind it may be read.
  [[nodiscard]] base::Result<std::optional<std::string_view>, std::string_view> next();

  /// The bytes given by feed() and not yet used; they are the caller's again, to feed later.
  [[nodiscard]] std::string_view take_rest() { return std::exchange(input_, {}); }

  /// From the next header on. REQUIRES: max_frame_bytes >= 1.
  void set_max_frame_bytes(std::size_t max_frame_bytes) { max_frame_bytes_ = max_frame_bytes; }

  /// Memory held for a frame that has not come whole.
  [[nodiscard]] std::size_t buffered_capacity() const { return held_.capacity(); }

 private:
  void hold(std::size_t count, std::size_t frame_bytes);
  [[nodiscard]] std::string_view held() const { return {held_.data(), held_.size()}; }
  [[nodiscard]] std::string_view check(std::size_t payload_bytes) const;

  std::size_t max_frame_bytes_;
  /// Bytes given by feed() and not yet used.
  std::string_view input_;
  /// The beginning of a frame whose rest has not come; or a whole one that has been handed out.
  std::vector<char> held_;
  bool handed_out_ = false;
  /// Why the stream is broken; empty while it is not.
  std::string_view broken_;
};

/// The frame around `payload`. REQUIRES: 1 <= payload.size() < 2^32.
[[nodiscard]] std::string encode_frame(std::string_view payload);
/// Appends the frame to `out`. REQUIRES: as above.
void append_frame(std::string& out, std::string_view payload);

}  // namespace starlease::ipc
