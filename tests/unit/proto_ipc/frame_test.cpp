// Frames: any split gives the same payloads, nothing is allocated for what has not come, bad
// lengths end the stream.
#include "proto-ipc/frame.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <vector>

namespace ipc = starlease::ipc;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

struct Taken {
  std::vector<std::string> payloads;
  std::string error;
  friend bool operator==(const Taken&, const Taken&) = default;
};

/// Feeds one piece, held in memory of exactly its size, and takes what it completes.
void feed(ipc::FrameDecoder& decoder, std::string_view piece, Taken& taken) {
  const std::vector<char> exact(piece.begin(), piece.end());
  decoder.feed(bytes_of({exact.data(), exact.size()}));
  while (taken.error.empty()) {
    const auto frame = decoder.next();
    if (!frame) {
      taken.error = frame.error();
    } else if (*frame) {
      taken.payloads.emplace_back(**frame);
    } else {
      return;
    }
  }
}

Taken feed_in_pieces(std::string_view stream, std::size_t piece, std::size_t limit) {
  ipc::FrameDecoder decoder(limit);
  Taken taken;
  for (std::size_t at = 0; at < stream.size() && taken.error.empty(); at += piece) {
    feed(decoder, stream.substr(at, piece), taken);
  }
  return taken;
}

std::string header(std::uint32_t length) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(length >> shift);
  return text;
}

}  // namespace

TEST_CASE("frame: the length is four big-endian bytes before the payload") {
  CHECK(ipc::encode_frame("{}") == std::string("\0\0\0\2{}", 6));
  const std::string frame = ipc::encode_frame(std::string(0x010203, 'x'));
  CHECK(frame.substr(0, 4) == std::string("\0\1\2\3", 4));
  std::string two = ipc::encode_frame("a");
  ipc::append_frame(two, "bc");
  CHECK(two == std::string("\0\0\0\1a\0\0\0\2bc", 11));
}

TEST_CASE("frame: one byte at a time and a hundred frames in one write give the same") {
  std::string stream;
  std::vector<std::string> expected;
  std::mt19937 random(7);
  for (int i = 0; i < 100; ++i) {
    expected.emplace_back(1 + random() % 700, static_cast<char>('a' + i % 26));
    ipc::append_frame(stream, expected.back());
  }
  for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{5},
                                  std::size_t{333}, std::size_t{4096}, stream.size()}) {
    CAPTURE(piece);
    const Taken taken = feed_in_pieces(stream, piece, 1000);
    CHECK(taken.error == "");
    CHECK(taken.payloads == expected);
  }
}

TEST_CASE("frame: random splits give the same") {
  std::string stream;
  std::vector<std::string> expected;
  std::mt19937 random(11);
  for (int i = 0; i < 20; ++i) {
    expected.emplace_back(1 + random() % 40, static_cast<char>('a' + i));
    ipc::append_frame(stream, expected.back());
  }
  for (int round = 0; round < 2000; ++round) {
    ipc::FrameDecoder decoder(64);
    Taken taken;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t piece = std::min<std::size_t>(1 + random() % 60, stream.size() - at);
      feed(decoder, std::string_view(stream).substr(at, piece), taken);
      at += piece;
    }
    REQUIRE(taken.payloads == expected);
  }
}

TEST_CASE("frame: a payload that lies whole in the input is not copied") {
  const std::string stream = ipc::encode_frame("first") + ipc::encode_frame("second") + "\0\0";
  ipc::FrameDecoder decoder(100);
  decoder.feed(bytes_of(stream));
  CHECK((**decoder.next()).data() == stream.data() + 4);
  CHECK((**decoder.next()).data() == stream.data() + 13);
  CHECK_FALSE((*decoder.next()).has_value());
}

TEST_CASE("frame: lengths 0 and above the limit break the stream for good") {
  const std::string good = ipc::encode_frame("{}");
  for (const std::uint32_t length : {0U, 101U, 0xffffffffU}) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{4}, std::size_t{1000}}) {
      CAPTURE(length);
      const Taken taken = feed_in_pieces(good + header(length) + good, piece, 100);
      CHECK(taken.payloads == std::vector<std::string>{"{}"});
      CHECK(taken.error != "");
    }
  }
  ipc::FrameDecoder decoder(100);
  Taken taken;
  feed(decoder, header(0), taken);
  CHECK(taken.error == "A frame of length 0 holds no message");
  taken.error.clear();
  feed(decoder, good, taken);
  CHECK(taken.error == "A frame of length 0 holds no message");
  CHECK(taken.payloads.empty());
}

TEST_CASE("frame: the limit itself is allowed and can change between frames") {
  const std::string payload(100, 'x');
  CHECK(feed_in_pieces(ipc::encode_frame(payload), 7, 100).payloads.size() == 1);
  ipc::FrameDecoder decoder(100);
  decoder.set_max_frame_bytes(99);
  Taken taken;
  feed(decoder, ipc::encode_frame(payload), taken);
  CHECK(taken.error != "");
}

TEST_CASE("frame: an announced length costs nothing before its bytes come") {
  ipc::FrameDecoder decoder(ipc::default_max_frame_bytes);
  Taken taken;
  feed(decoder, header(ipc::default_max_frame_bytes), taken);
  CHECK(decoder.buffered_capacity() < 64);
  std::size_t fed = 4;
  while (fed + 1000 < ipc::default_max_frame_bytes) {
    feed(decoder, std::string(1000, 'x'), taken);
    fed += 1000;
    REQUIRE(decoder.buffered_capacity() <= 2 * fed);
    REQUIRE(decoder.buffered_capacity() <= 4 + ipc::default_max_frame_bytes);
  }
  CHECK(taken.payloads.empty());
}

TEST_CASE("frame: no buffer is kept between frames") {
  ipc::FrameDecoder decoder(ipc::default_max_frame_bytes);
  Taken taken;
  const std::string frame = ipc::encode_frame(std::string(200'000, 'x'));
  feed(decoder, std::string_view(frame).substr(0, 150'000), taken);
  CHECK(decoder.buffered_capacity() >= 150'000);
  feed(decoder, std::string_view(frame).substr(150'000), taken);
  CHECK(taken.payloads.size() == 1);
  CHECK(decoder.buffered_capacity() < 64);
}
