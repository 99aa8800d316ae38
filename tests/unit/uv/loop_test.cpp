// The loop's door: the turn function before every callback, deferred work, and handles that end
// inside of callbacks.
#include "daemon/uv/loop.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "daemon/uv/poll.hpp"
#include "tests/unit/uv/world.hpp"

namespace starlease::uv {
namespace {

using namespace test;

struct Pipe {
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    out = OwnedFd(ends[0]);
    in = OwnedFd(ends[1]);
  }
  void feed() const { REQUIRE(::write(in.get(), "x", 1) == 1); }
  OwnedFd out, in;
};

TEST_CASE("Deferred calls come on the next turn, in order, and never from inside") {
  World world;
  std::string seen;
  world.loop->defer([&] {
    seen += "a";
    world.loop->defer([&] { seen += "c"; });
  });
  world.loop->defer([&] { seen += "b"; });
  CHECK(seen.empty());
  world.loop->run_once();
  CHECK(seen == "ab");
  world.loop->run_once();
  CHECK(seen == "abc");
}

TEST_CASE("A Deferred scheduled twice calls once; cancelled or destroyed it does not call") {
  World world;
  int first = 0;
  int second = 0;
  const auto count = [](void* number) { ++*static_cast<int*>(number); };
  Deferred kept(*world.loop, count, &first);
  kept.schedule();
  kept.schedule();
  std::optional<Deferred> dropped;
  dropped.emplace(*world.loop, count, &second);
  dropped->schedule();
  Deferred cancelled(*world.loop, count, &second);
  cancelled.schedule();
  cancelled.cancel();
  dropped.reset();
  world.pass(Milliseconds(2));
  CHECK(first == 1);
  CHECK(second == 0);
}

TEST_CASE("A Deferred may be destroyed by the one before it") {
  World world;
  struct Pair {
    std::optional<Deferred> second;
    int calls = 0;
  } pair;
  Deferred first(*world.loop, [](void* self) { static_cast<Pair*>(self)->second.reset(); }, &pair);
  pair.second.emplace(*world.loop, [](void* self) { ++static_cast<Pair*>(self)->calls; }, &pair);
  first.schedule();
  pair.second->schedule();
  world.pass(Milliseconds(2));
  CHECK(pair.calls == 0);
}

TEST_CASE("Work that defers itself does not keep the sockets waiting") {
  World world;
  const Pipe pipe;
  bool readable = false;
  int turns = 0;
  std::function<void()> again = [&] {
    if (++turns < 100'000 && !readable) world.loop->defer(again);
  };
  Poll poll;
  REQUIRE(poll.open(
      *world.loop, pipe.out.get(), [](void* self, int, int) { *static_cast<bool*>(self) = true; },
      &readable));
  poll.want(UV_READABLE);
  again();
  world.loop->run_once();
  pipe.feed();
  REQUIRE(world.until([&] { return readable; }));
  CHECK(turns < 100);
}

TEST_CASE("The turn function runs before each callback, once, with the boot time of then") {
  World world;
  const Pipe pipe;
  std::vector<BootTime> turns;
  world.loop->on_turn([&](BootTime now) { turns.push_back(now); });
  struct Seen {
    Loop* loop;
    std::vector<BootTime>* turns;
    std::size_t before = 0, nested = 0;
  } seen{world.loop.get(), &turns};
  Poll poll;
  REQUIRE(poll.open(
      *world.loop, pipe.out.get(),
      [](void* self, int, int) {
        auto& s = *static_cast<Seen*>(self);
        s.before = s.turns->size();
        s.loop->enter([&] { s.nested = s.turns->size(); });
      },
      &seen));
  poll.want(UV_READABLE);
  pipe.feed();
  const BootTime begun = world.clock.boot_now();
  world.loop->run_once();
  CHECK(seen.before == 1);
  CHECK(seen.nested == 1);
  REQUIRE(turns.size() == 1);
  CHECK(turns[0] >= begun);
  CHECK(turns[0] <= world.clock.boot_now());
}

TEST_CASE("A descriptor that the turn function closed is not told of its readiness") {
  World world;
  const Pipe pipe;
  int calls = 0;
  auto poll = std::make_unique<Poll>();
  REQUIRE(poll->open(
      *world.loop, pipe.out.get(), [](void* self, int, int) { ++*static_cast<int*>(self); },
      &calls));
  poll->want(UV_READABLE);
  pipe.feed();
  world.loop->on_turn([&](BootTime) { poll.reset(); });
  world.loop->run_once();
  CHECK_FALSE(poll);
  CHECK(calls == 0);
}

TEST_CASE("Of two ready descriptors the first may end the second") {
  World world;
  const Pipe pipes[2];
  struct Both {
    std::optional<Poll> polls[2];
    int calls = 0;
  } both;
  for (int i = 0; i < 2; ++i) {
    both.polls[i].emplace();
    REQUIRE(both.polls[i]->open(
        *world.loop, pipes[i].out.get(),
        [](void* self, int, int) {
          auto& all = *static_cast<Both*>(self);
          ++all.calls;
          for (auto& poll : all.polls) poll.reset();
        },
        &both));
    both.polls[i]->want(UV_READABLE);
    pipes[i].feed();
  }
  world.pass(Milliseconds(2));
  CHECK(both.calls == 1);
}

TEST_CASE("run() returns after stop(), and a loop with nothing on it returns by itself") {
  const SystemClock clock;
  auto loop = *Loop::create(clock);
  loop->run();
  World world;
  bool stopped = false;
  const auto timer = world.timers->at(world.in(Milliseconds(1)), [&] {
    stopped = true;
    world.loop->stop();
  });
  world.loop->run();
  CHECK(stopped);
}

TEST_CASE("A loop may go while work is deferred; the work is dropped") {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  {
    const SystemClock clock;
    auto loop = *Loop::create(clock);
    loop->defer([held = std::move(held)] { FAIL("called after the loop"); });
  }
  CHECK(watch.expired());
}

}  // namespace
}  // namespace starlease::uv
