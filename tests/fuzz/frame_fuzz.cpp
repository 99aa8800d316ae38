// Any bytes, cut anywhere: the frame decoder gives the same payloads and the same end as when it
// gets them in one piece, and never holds more than the bytes that have come.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "proto-ipc/frame.hpp"

namespace {

using starlease::ipc::FrameDecoder;

constexpr std::size_t max_frame_bytes = 512;

struct Outcome {
  std::vector<std::string> payloads;
  std::string error;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// False once the stream is broken.
bool take(FrameDecoder& decoder, Outcome& outcome) {
  while (true) {
    const auto payload = decoder.next();
    if (!payload) {
      outcome.error = payload.error();
      return false;
    }
    if (!*payload) return true;
    if ((*payload)->size() > max_frame_bytes) std::abort();
    outcome.payloads.emplace_back(**payload);
  }
}

Outcome whole(std::span<const std::byte> bytes) {
  FrameDecoder decoder(max_frame_bytes);
  Outcome outcome;
  decoder.feed(bytes);
  take(decoder, outcome);
  return outcome;
}

Outcome in_pieces(std::span<const std::byte> bytes, std::uint8_t pattern) {
  FrameDecoder decoder(max_frame_bytes);
  Outcome outcome;
  std::size_t step = 1;
  while (!bytes.empty()) {
    // Of its own, so that a view which outlives its piece is found.
    const std::size_t size = std::min(bytes.size(), 1 + step++ * pattern % 13);
    const std::vector<std::byte> piece(bytes.begin(),
                                       bytes.begin() + static_cast<std::ptrdiff_t>(size));
    bytes = bytes.subspan(size);
    decoder.feed(piece);
    if (!take(decoder, outcome)) return outcome;
    if (decoder.buffered_capacity() > max_frame_bytes + 4) std::abort();
  }
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  if (whole(bytes) != in_pieces(bytes, data[0])) std::abort();
  return 0;
}
