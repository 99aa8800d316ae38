// A stream: what is written arrives whole and in order, what is not read is bounded, and each way
// of ending is told exactly once.
#include "daemon/uv/unix_stream.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <random>

#include "tests/unit/uv/streams.hpp"

namespace starlease::uv {
namespace {

using namespace test;

ConnectionLimits bounds(std::size_t outbound, Milliseconds flush_wait = Milliseconds(1000)) {
  ConnectionLimits limits;
  limits.outbound_bytes = outbound;
  limits.flush_wait = flush_wait;
  return limits;
}

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  std::mt19937 random(static_cast<unsigned>(size));
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

/// Writes until the peer's buffer and the bound are full; gives what was accepted.
std::string fill(Line& line, std::size_t piece) {
  std::string accepted;
  for (int i = 0; i < 100'000; ++i) {
    const std::string text = pattern(piece + accepted.size() % 7);
    if (!line.stream->write(text)) return accepted;
    accepted += text;
  }
  FAIL("the bound was never reached");
  return accepted;
}

TEST_CASE("UnixStream hands on what arrives and sends what is written, one turn's writes as one") {
  StreamWorld world;
  Line line(world.connections);
  line.say("hello");
  REQUIRE(world.until([&] { return line.reader.got == "hello"; }));
  CHECK(line.stream->write("a"));
  CHECK(line.stream->write("b"));
  CHECK(line.stream->write(""));
  CHECK(line.hear().empty());
  CHECK(line.stream->queued_bytes() == 2);
  REQUIRE(world.until([&] { return line.stream->queued_bytes() == 0; }));
  CHECK(line.hear() == "ab");
  CHECK(line.stream->peer().pid == ::getpid());
  CHECK(line.stream->peer().uid == ::getuid());
}

TEST_CASE("Partial writes: everything arrives in order, at a reader of any appetite") {
  for (const std::size_t appetite : {1UL, 17UL, 4096UL, 100'000UL}) {
    CAPTURE(appetite);
    StreamWorld world(bounds(8UL << 20));
    Line line(world.connections);
    const int small = 4096;
    REQUIRE(::setsockopt(line.far.get(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
    std::string sent;
    const std::size_t total = appetite == 1 ? 20'000 : 2'000'000;
    for (std::size_t size = 1; sent.size() < total; size = size * 3 % 70'001 + 1) {
      const std::string piece = pattern(size);
      REQUIRE(line.stream->write(piece));
      sent += piece;
    }
    std::string got;
    REQUIRE(world.until(
        [&] {
          for (std::string part; !(part = line.hear(appetite)).empty();) got += part;
          return got.size() == sent.size();
        },
        Milliseconds(20'000)));
    CHECK(got == sent);
    CHECK(line.stream->queued_bytes() == 0);
    CHECK(line.reader.closed == 0);
  }
}

TEST_CASE("What a peer does not read is bounded: the write that passes it is refused whole") {
  constexpr std::size_t bound = 50'000;
  StreamWorld world(bounds(bound));
  Line line(world.connections);
  const std::string accepted = fill(line, 3000);
  CHECK(line.stream->queued_bytes() <= bound);
  CHECK(line.stream->queued_bytes() > bound - 4000);
  CHECK_FALSE(line.stream->write(std::string(bound + 1, 'x')));
  world.pass(Milliseconds(2));
  CHECK(line.reader.closed == 0);  // the caller's decision
  // The refused ones left no trace.
  std::string got;
  REQUIRE(world.until([&] {
    got += line.hear();
    return got.size() >= accepted.size();
  }));
  world.pass(Milliseconds(2));
  got += line.hear();
  CHECK(got == accepted);
  CHECK(line.stream->write("more"));
}

TEST_CASE("One write as large as the bound is taken, one byte more is not") {
  StreamWorld world(bounds(1000));
  Line line(world.connections);
  CHECK_FALSE(line.stream->write(std::string(1001, 'x')));
  CHECK(line.stream->write(std::string(1000, 'x')));
  // A peer that reads does not pay for much being written in one turn.
  for (int i = 0; i < 20; ++i) CHECK(line.stream->write(std::string(1000, 'y')));
}

// Hazard 128: a peer that closes its half has closed; what it sent before is handed on first.
TEST_CASE("Half-close by the peer ends the stream once, after its last bytes") {
  StreamWorld world;
  Line line(world.connections);
  line.say("last words");
  REQUIRE(::shutdown(line.far.get(), SHUT_WR) == 0);
  std::string at_end;
  line.reader.when_closed = [&] { at_end = line.reader.got; };
  REQUIRE(world.until([&] { return line.reader.closed == 1; }));
  CHECK(at_end == "last words");
  world.pass(Milliseconds(2));
  CHECK(line.reader.closed == 1);
  CHECK(world.connections.open() == 0);
  CHECK(line.stream->write("nobody"));
  line.hear();
  CHECK(line.ended);
}

TEST_CASE("A peer's end is seen while reading is paused, once all it sent can be lost") {
  StreamWorld world;
  Line line(world.connections);
  line.stream->pause_reading(true);
  line.say("unread");
  world.pass(Milliseconds(5));
  CHECK(line.reader.got.empty());
  line.stream->pause_reading(false);
  REQUIRE(world.until([&] { return line.reader.got == "unread"; }));
  line.stream->pause_reading(true);
  line.far.reset();
  REQUIRE(world.until([&] { return line.reader.closed == 1; }));
}

TEST_CASE("A write to a peer that is gone ends the stream and raises no signal") {
  StreamWorld world;
  Line line(world.connections);
  line.far.reset();
  CHECK(line.stream->write("x"));
  REQUIRE(world.until([&] { return line.reader.closed == 1; }));
  world.pass(Milliseconds(2));
  CHECK(line.reader.closed == 1);
}

TEST_CASE("A peer that resets the connection has its last bytes read first") {
  StreamWorld world;
  Line line(world.connections);
  CHECK(line.stream->write("unread by the peer, hence a reset at its close"));
  REQUIRE(world.until([&] { return line.stream->queued_bytes() == 0; }));
  line.say("release");
  line.far.reset();
  REQUIRE(world.until([&] { return line.reader.closed == 1; }));
  CHECK(line.reader.got == "release");
}

TEST_CASE("close() tells on a later turn, once, and drops what is queued") {
  StreamWorld world;
  Line line(world.connections);
  CHECK(line.stream->write("dropped"));
  line.stream->close();
  line.stream->close();
  CHECK(line.reader.closed == 0);
  CHECK(world.connections.open() == 0);
  CHECK(line.stream->write("after"));
  CHECK(line.stream->queued_bytes() == 0);
  REQUIRE(world.until([&] { return line.reader.closed == 1; }));
  world.pass(Milliseconds(2));
  CHECK(line.reader.closed == 1);
  CHECK(line.hear().empty());
  CHECK(line.ended);
}

TEST_CASE("A stream may be closed, flushed or destroyed inside its callbacks") {
  enum class What { close, flush, destroy };
  for (const What what : {What::close, What::flush, What::destroy}) {
    for (const bool at_end : {false, true}) {
      CAPTURE(static_cast<int>(what));
      CAPTURE(at_end);
      StreamWorld world;
      Line line(world.connections);
      bool acted = false;
      auto& when = at_end ? line.reader.when_closed : line.reader.when_bytes;
      when = [&] {
        acted = true;
        switch (what) {
          case What::close:
            return line.stream->close();
          case What::flush:
            CHECK(line.stream->write("bye"));
            return line.stream->close_after_flush();
          case What::destroy:
            return line.stream.reset();
        }
      };
      line.say("x");
      if (at_end) line.far.reset();
      REQUIRE(world.until([&] { return acted; }));
      world.pass(Milliseconds(2));
      const bool silent = what == What::destroy && !at_end;
      CHECK(line.reader.closed == (silent ? 0 : 1));
      CHECK(world.connections.open() == 0);
      if (what == What::flush && !at_end) CHECK(line.hear() == "bye");
    }
  }
}

TEST_CASE("close_after_flush() writes all that is queued, reads no more, and then closes") {
  StreamWorld world(bounds(8UL << 20, Milliseconds(5000)));
  Line line(world.connections);
  const std::string text = pattern(3'000'000);
  CHECK(line.stream->write(text));
  line.stream->close_after_flush();
  line.say("too late");
  std::string got;
  REQUIRE(world.until([&] {
    for (std::string part; !(part = line.hear()).empty();) got += part;
    return line.ended;
  }));
  CHECK(got == text);
  REQUIRE(world.until([&] { return line.reader.closed == 1; }));
  CHECK(line.reader.got.empty());
}

TEST_CASE("close_after_flush() with nothing queued closes on a later turn") {
  StreamWorld world;
  Line line(world.connections);
  line.stream->close_after_flush();
  CHECK(line.reader.closed == 0);
  REQUIRE(world.until([&] { return line.reader.closed == 1; }));
}

TEST_CASE("close_after_flush() does not wait for ever for a peer that does not read") {
  StreamWorld world(bounds(8UL << 20, Milliseconds(50)));
  Line line(world.connections);
  CHECK(line.stream->write(pattern(3'000'000)));
  line.stream->close_after_flush();
  const BootTime began = world.clock.boot_now();
  REQUIRE(world.until([&] { return line.reader.closed == 1; }));
  CHECK(world.clock.boot_now() - began >= Milliseconds(50));
  CHECK(world.clock.boot_now() - began < Milliseconds(500));
}

TEST_CASE("end_writing() sends what is queued and the end, and hears the peer close in answer") {
  StreamWorld world(bounds(8UL << 20, Milliseconds(5000)));
  Line line(world.connections);
  const std::string text = pattern(3'000'000);
  CHECK(line.stream->write(text));
  line.stream->end_writing();
  CHECK(line.stream->write("dropped"));
  std::string got;
  REQUIRE(world.until([&] {
    for (std::string part; !(part = line.hear()).empty();) got += part;
    return line.ended;
  }));
  CHECK(got == text);
  line.say("still heard");
  REQUIRE(world.until([&] { return line.reader.got == "still heard"; }));
  CHECK(line.reader.closed == 0);
  line.far.reset();
  REQUIRE(world.until([&] { return line.reader.closed == 1; }));
}

TEST_CASE("Ends that race with each other are told once") {
  // Whatever two of these come in one turn: bytes, the peer's end, our close, our flush.
  for (int mix = 0; mix < 32; ++mix) {
    CAPTURE(mix);
    StreamWorld world;
    Line line(world.connections);
    if ((mix & 1) != 0) line.say("x");
    if ((mix & 2) != 0) CHECK(line.stream->write("y"));
    if ((mix & 4) != 0) line.stream->close_after_flush();
    if ((mix & 8) != 0) line.far.reset();
    if ((mix & 16) != 0) line.stream->close();
    if ((mix & 28) == 0) line.stream->close();
    REQUIRE(world.until([&] { return line.reader.closed > 0; }));
    world.pass(Milliseconds(1));
    CHECK(line.reader.closed == 1);
    CHECK(world.connections.open() == 0);
  }
}

TEST_CASE("Only a Unix socket becomes a stream, and a refused one is closed") {
  StreamWorld world;
  const std::size_t before = open_files();
  CHECK_FALSE(UnixStream::adopt(world.connections, OwnedFd(::open("/dev/null", O_RDWR | O_CLOEXEC)))
                  .has_value());
  CHECK(world.connections.open() == 0);
  CHECK(open_files() == before);
}

}  // namespace
}  // namespace starlease::uv
