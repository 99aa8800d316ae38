// Streams under test and their far ends, as plain sockets.
#pragma once

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <string>

#include "daemon/uv/connections.hpp"
#include "daemon/uv/unix_stream.hpp"
#include "tests/unit/uv/world.hpp"

namespace starlease::uv::test {

/// Keeps what a stream tells.
struct Reader final : base::StreamHandler {
  void on_bytes(std::span<const std::byte> bytes) override {
    CHECK(closed == 0);
    ++reads;
    got.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (when_bytes) when_bytes();
  }
  void on_closed() override {
    ++closed;
    if (when_closed) when_closed();
  }
  std::string got;
  int reads = 0;
  int closed = 0;
  std::function<void()> when_bytes, when_closed;
};

/// A stream on one end of a socket pair; the test holds the other, which does not block.
struct Line {
  explicit Line(Connections& connections) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    far = OwnedFd(ends[1]);
    auto made = UnixStream::adopt(connections, OwnedFd(ends[0]));
    REQUIRE(made.has_value());
    stream = std::move(*made);
    stream->start(reader);
  }
  /// Writes to the stream's peer's side, i.e. what the stream will read.
  void say(std::string_view text) const {
    REQUIRE(::send(far.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
  }
  /// What has arrived at the far end, at most `limit` bytes; `ended` is set at its end.
  std::string hear(std::size_t limit = 1UL << 20) {
    std::string heard(limit, '\0');
    const ssize_t got = ::recv(far.get(), heard.data(), limit, 0);
    // Linux says ECONNRESET when bytes for the stream were left unread; both are an end.
    if (got == 0 || (got < 0 && errno == ECONNRESET)) ended = true;
    heard.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return heard;
  }

  OwnedFd far;
  bool ended = false;
  Reader reader;
  std::unique_ptr<UnixStream> stream;
};

/// A world with connections of the given bounds.
struct StreamWorld : World {
  explicit StreamWorld(const ConnectionLimits& limits = {})
      : connections(*loop, *timers, log, limits) {}
  Connections connections;
};

}  // namespace starlease::uv::test
