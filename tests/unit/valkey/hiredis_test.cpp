// What hiredis itself must do for us: tell of every disconnect, and come apart cleanly when the
// loop did not take it.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <hiredis/async.h>
#include <unistd.h>

#include <cstdint>

#include "daemon/uv/poll.hpp"
#include "daemon/valkey/socket_watch.hpp"
#include "tests/unit/valkey/link_fixture.hpp"

namespace starlease::valkey {
namespace {

using namespace test;

redisAsyncContext* connect_to(const std::string& path) {
  redisOptions options{};
  REDIS_OPTIONS_SET_UNIX(&options, path.c_str());
  redisAsyncContext* context = redisAsyncConnectWithOptions(&options);
  REQUIRE(context != nullptr);
  REQUIRE(context->err == 0);
  return context;
}

/// Makes the loop refuse the next descriptor that the process opens: it watches that number
/// already, by a handle whose descriptor was closed behind its back.
class Refusal {
 public:
  explicit Refusal(World& world) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    read_end_ = uv::OwnedFd(ends[0]);
    write_end_ = uv::OwnedFd(ends[1]);
    number_ = ::fcntl(read_end_.get(), F_DUPFD_CLOEXEC, 0);
    REQUIRE(poll_.open(*world.loop, number_, [](void*, int, int) {}, nullptr).has_value());
    poll_.want(UV_READABLE);
    world.pass(Milliseconds(1));  // the kernel is told of it while it is open
    ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  uv::OwnedFd read_end_;
  uv::OwnedFd write_end_;
  int number_ = -1;
  uv::Poll poll_;
};

// Hazard 145: freeing a context that was never attached.
TEST_CASE("A context that the loop does not take is freed cleanly") {
  Setup s;
  const Refusal refusal(s.world);
  redisAsyncContext* context = connect_to(s.scratch.path("s"));
  REQUIRE(context->c.fd == refusal.number());
  CHECK(SocketWatch::attach(*s.world.loop, *context) == nullptr);
  CHECK(context->ev.data == nullptr);
  redisAsyncFree(context);
}

// Hazard 145: the same under a link, which tries again and comes up once the loop takes it.
TEST_CASE("A link whose socket the loop does not take says so, and comes up later") {
  Setup s(echo);
  {
    const Refusal refusal(s.world);
    s.start();
    REQUIRE(s.world.until([&] { return s.owner.failures == 1; }));
    CHECK(s.owner.last.what.find("took no further descriptor") != std::string::npos);
    CHECK(s.owner.ups == 0);
  }
  CHECK(s.world.until([&] { return s.owner.ups == 1; }));
}

int disconnects = 0;

// Hazard 146: 1.1.0 lost the callback; the version is checked when daemon/valkey is compiled.
TEST_CASE("The disconnect callback fires once, by the server's end and by ours") {
  for (const bool by_server : {true, false}) {
    CAPTURE(by_server);
    Setup s;
    redisAsyncContext* context = connect_to(s.scratch.path("s"));
    REQUIRE(SocketWatch::attach(*s.world.loop, *context) != nullptr);
    disconnects = 0;
    redisAsyncSetDisconnectCallback(context, [](const redisAsyncContext*, int) { ++disconnects; });
    static bool connected;
    connected = false;
    redisAsyncSetConnectCallback(context, [](const redisAsyncContext*, int) { connected = true; });
    REQUIRE(s.world.until([&] { return connected && s.server.accepted() == 1; }));
    if (by_server) {
      s.server.newest().close();
    } else {
      redisAsyncDisconnect(context);
    }
    REQUIRE(s.world.until([] { return disconnects > 0; }));
    s.world.pass(Milliseconds(5));
    CHECK(disconnects == 1);
  }
}

TEST_CASE("No two of hiredis' option flags share a bit") {
  std::uint32_t seen = 0;
  for (const std::uint32_t flag :
       {std::uint32_t{REDIS_OPT_NONBLOCK}, std::uint32_t{REDIS_OPT_REUSEADDR},
        std::uint32_t{REDIS_OPT_NOAUTOFREE}, std::uint32_t{REDIS_OPT_NO_PUSH_AUTOFREE},
        std::uint32_t{REDIS_OPT_NOAUTOFREEREPLIES}, std::uint32_t{REDIS_OPT_PREFER_IPV4},
        std::uint32_t{REDIS_OPT_PREFER_IPV6}}) {
    CHECK((seen & flag) == 0);
    seen |= flag;
  }
}

}  // namespace
}  // namespace starlease::valkey
