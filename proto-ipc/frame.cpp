// Frames; see the header. Two ways through the decoder: a frame that lies whole in the input is
// handed out where it lies; the beginning of one that does not is held until the rest has come.
#include "proto-ipc/frame.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "lib/base/assert.hpp"

namespace starlease::ipc {
namespace {

/// REQUIRES: at least frame_header_bytes in `text`.
std::size_t read_length(std::string_view text) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < frame_header_bytes; ++i) {
    length = (length << 8) | static_cast<unsigned char>(text[i]);
  }
  return length;
}

}  // namespace

void FrameDecoder::feed(std::span<const std::byte> bytes) {
  SL_ASSERT(input_.empty() || !broken_.empty());
  input_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view FrameDecoder::check(std::size_t payload_bytes) const {
  if (payload_bytes == 0) return "A frame of length 0 holds no message";
  if (payload_bytes > max_frame_bytes_) {
    return "The frame is longer than max_frame_bytes, which the answer to hello tells";
  }
  return {};
}

/// Moves up to `count` bytes from the input to the held ones, of a frame that will have
/// `frame_bytes`. The capacity at most doubles what has come and never passes the frame.
void FrameDecoder::hold(std::size_t count, std::size_t frame_bytes) {
  count = std::min(count, input_.size());
  const std::size_t needed = held_.size() + count;
  if (needed > held_.capacity()) held_.reserve(std::min(frame_bytes, 2 * needed));
  held_.insert(held_.end(), input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(count));
  input_.remove_prefix(count);
}

base::Result<std::optional<std::string_view>, std::string_view> FrameDecoder::next() {
  if (std::exchange(handed_out_, false)) std::vector<char>().swap(held_);
  if (!broken_.empty()) return base::failed(broken_);
  if (held_.size() < frame_header_bytes && (!held_.empty() || input_.size() < frame_header_bytes)) {
    hold(frame_header_bytes - held_.size(), frame_header_bytes);
    if (held_.size() < frame_header_bytes) return std::nullopt;
  }
  const std::size_t payload_bytes = read_length(held_.empty() ? input_ : held());
  broken_ = check(payload_bytes);
  if (!broken_.empty()) return base::failed(broken_);

  const std::size_t frame_bytes = frame_header_bytes + payload_bytes;
  if (held_.empty() && input_.size() >= frame_bytes) {
    const std::string_view payload = input_.substr(frame_header_bytes, payload_bytes);
    input_.remove_prefix(frame_bytes);
    return payload;
  }
  hold(frame_bytes - held_.size(), frame_bytes);
  if (held_.size() < frame_bytes) return std::nullopt;
  handed_out_ = true;
  return held().substr(frame_header_bytes);
}

void append_frame(std::string& out, std::string_view payload) {
  SL_ASSERT(!payload.empty() && payload.size() <= std::numeric_limits<std::uint32_t>::max());
  const auto length = static_cast<std::uint32_t>(payload.size());
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((length >> shift) & 0xff);
  out += payload;
}

std::string encode_frame(std::string_view payload) {
  std::string frame;
  frame.reserve(frame_header_bytes + payload.size());
  append_frame(frame, payload);
  return frame;
}

}  // namespace starlease::ipc
