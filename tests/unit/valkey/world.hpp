// What a test of the adapter needs around it: the loop's world, the seams of a link, and an owner.
#pragma once

#include <csignal>
#include <functional>

#include "daemon/valkey/link.hpp"
#include "tests/support/manual.hpp"
#include "tests/unit/uv/world.hpp"

namespace starlease::valkey::test {

using base::Milliseconds;

using uv::test::LineLog;

struct World : uv::test::World {
  World() {
    std::signal(SIGPIPE, SIG_IGN);  // as the daemon does: hiredis and OpenSSL just write
  }
  [[nodiscard]] LinkSeams seams() { return {*loop, clock, *timers, random, log}; }

  testing::SeededRandom random{1};
};

/// A link's owner that counts.
struct CountingOwner final : LinkOwner {
  void on_link_up(const redisReply&) override {
    ++ups;
    if (when_up) when_up();
  }
  void on_link_down(const Fault& why) override {
    ++downs;
    last = why;
    if (when_down) when_down();
  }
  void on_attempt_failed(const Fault& why) override {
    ++failures;
    last = why;
    if (when_failed) when_failed();
  }
  void on_push(const redisReply&) override {
    ++pushes;
    if (when_pushed) when_pushed();
  }
  int ups = 0, downs = 0, failures = 0, pushes = 0;
  Fault last;
  std::function<void()> when_up, when_down, when_failed, when_pushed;
};

}  // namespace starlease::valkey::test
