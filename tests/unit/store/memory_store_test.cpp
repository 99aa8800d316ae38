// When the model's answers come, and what is known where they do not.
#include "lib/store/memory_store.hpp"

#include <doctest/doctest.h>

#include "tests/support/manual.hpp"

namespace starlease::store {
namespace {

struct Listener final : StoreListener {
  void on_link(bool up) override { links.push_back(up); }
  void on_notice(const Notice& notice) override { notices.push_back(notice.kind); }
  std::vector<bool> links;
  std::vector<NoticeKind> notices;
};

struct World {
  World() {
    store.start(listener);
    advance(Milliseconds(1));
    init();
  }
  void advance(Milliseconds by) {
    timers.advance(by, [](base::BootTime) {});
  }
  void init() {
    store.init_gate({}, clock.boot + Milliseconds(10),
                    [this](GateResult result) { answers.push_back(result.head.status); });
    advance(Milliseconds(1));
  }
  void read(Milliseconds timeout) {
    store.read_gate(0, clock.boot + timeout,
                    [this](GateResult result) { answers.push_back(result.head.status); });
  }

  testing::ManualClock clock;
  testing::ManualTimers timers{clock};
  Listener listener;
  std::vector<Status> answers;
  MemoryStore store{1, clock, timers,
                    [this] { return core::backend_time(clock.wall.time_since_epoch().count()); }};
};

TEST_CASE("an answer never comes from inside the call, and always once") {
  World world;
  CHECK(world.listener.links == std::vector{true});
  CHECK(world.answers == std::vector{Status::ok});
  world.read(Milliseconds(10));
  CHECK(world.answers.size() == 1);
  CHECK(world.store.pending() == 1);
  world.advance(Milliseconds(20));
  CHECK(world.answers.size() == 2);
  CHECK(world.store.pending() == 0);
}

TEST_CASE("a stalled store is unknown at the deadline; one whose deadline has passed did nothing") {
  World world;
  world.store.stall(true);
  world.read(Milliseconds(10));
  world.read(Milliseconds(0));
  world.advance(Milliseconds(9));
  CHECK(world.answers == std::vector{Status::ok, Status::deadline_exceeded});
  world.advance(Milliseconds(1));
  CHECK(world.answers.back() == Status::unknown);
}

TEST_CASE("a broken link: what was under way is unknown, what comes later is unavailable") {
  World world;
  world.read(Milliseconds(10));
  world.store.disconnect();
  CHECK(world.answers.back() == Status::unknown);
  world.read(Milliseconds(10));
  world.advance(Milliseconds(1));
  CHECK(world.answers.back() == Status::unavailable);
  CHECK(world.listener.links == std::vector{true, false});
}

}  // namespace
}  // namespace starlease::store
