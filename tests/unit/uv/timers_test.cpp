// Timers on boot time: order, cancelling from anywhere, no starving, and the clock they stand on.
#include "daemon/uv/timers.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "tests/unit/uv/world.hpp"

namespace starlease::uv {
namespace {

using namespace test;

TEST_CASE("Timers fire in order of time, and of arming where that is equal; never early") {
  World world;
  std::string seen;
  const BootTime base = world.in(Milliseconds(5));
  bool early = false;
  const auto note = [&](char name, BootTime due) {
    return [&, name, due] {
      seen += name;
      early = early || world.clock.boot_now() < due;
    };
  };
  std::vector<base::Timer> kept;
  const auto arm = [&](char name, int ms) {
    const BootTime due = base + Milliseconds(ms);
    kept.push_back(world.timers->at(due, note(name, due)));
  };
  arm('e', 8);
  arm('b', 2);
  arm('c', 2);
  arm('a', 0);
  arm('d', 2);
  CHECK(world.timers->armed() == 5);
  REQUIRE(world.until([&] { return seen.size() == 5; }));
  CHECK(seen == "abcde");
  CHECK_FALSE(early);
  CHECK(world.timers->armed() == 0);
}

TEST_CASE("A time that has passed fires on a later turn, also the beginning of time") {
  World world;
  int fired = 0;
  const auto count = [&] { ++fired; };
  const auto past = world.timers->at(world.in(Milliseconds(-1000)), count);
  const auto zero = world.timers->at(BootTime(), count);
  const auto negative = world.timers->at(BootTime(Milliseconds(-5)), count);
  CHECK(fired == 0);
  REQUIRE(world.until([&] { return fired == 3; }));
}

TEST_CASE("A cancelled timer does not fire, whoever cancels it") {
  World world;
  std::string seen;
  base::Timer itself;
  base::Timer other;
  base::Timer earlier;
  const BootTime when = world.in(Milliseconds(2));
  base::Timer outside = world.timers->at(when, [&] { seen += "outside"; });
  earlier = world.timers->at(when, [&] { seen += "1"; });
  itself = world.timers->at(when, [&] {
    seen += "2";
    itself.reset();
    other.reset();    // due in the same turn, not yet called
    earlier.reset();  // called already
  });
  other = world.timers->at(when, [&] { seen += "other"; });
  const auto last = world.timers->at(when, [&] { seen += "3"; });
  outside.reset();
  REQUIRE(world.until([&] { return seen.ends_with("3"); }));
  CHECK(seen == "123");
}

TEST_CASE("A callback may replace its own timer, also by one that is due at once") {
  World world;
  int fired = 0;
  base::Timer timer;
  std::function<void()> again = [&] {
    if (++fired < 1000) timer = world.timers->at(BootTime(), again);
  };
  timer = world.timers->at(BootTime(), again);
  REQUIRE(world.until([&] { return fired == 1000; }));
}

TEST_CASE("A timer that re-arms itself in the past starves no other timer and no socket") {
  World world;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const OwnedFd out(ends[0]);
  const OwnedFd in(ends[1]);
  bool readable = false;
  Poll poll;
  REQUIRE(poll.open(
      *world.loop, out.get(), [](void* self, int, int) { *static_cast<bool*>(self) = true; },
      &readable));
  poll.want(UV_READABLE);
  REQUIRE(::write(in.get(), "x", 1) == 1);
  bool stop = false;
  base::Timer greedy;
  std::function<void()> again = [&] {
    if (!stop) greedy = world.timers->at(BootTime(), again);
  };
  greedy = world.timers->at(BootTime(), again);
  bool fired = false;
  const auto other = world.timers->at(world.in(Milliseconds(3)), [&] { fired = true; });
  CHECK(world.until([&] { return fired && readable; }, Milliseconds(1000)));
  stop = true;
  greedy.reset();
}

TEST_CASE("Thousands that are due at once fire in order, and the sockets get turns between") {
  World world;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const OwnedFd out(ends[0]);
  const OwnedFd in(ends[1]);
  std::vector<int> order;
  struct Ready {
    std::vector<int>* order;
    std::size_t after = 0;
    int times = 0;
  } ready{&order};
  Poll poll;
  REQUIRE(poll.open(
      *world.loop, out.get(),
      [](void* self, int, int) {
        auto& r = *static_cast<Ready*>(self);
        if (r.times++ == 0) r.after = r.order->size();
      },
      &ready));
  std::vector<base::Timer> kept;
  const BootTime when = world.in(Milliseconds(1));
  for (int i = 0; i < 5000; ++i) {
    kept.push_back(world.timers->at(when, [&order, i] { order.push_back(i); }));
  }
  poll.want(UV_READABLE);
  REQUIRE(::write(in.get(), "x", 1) == 1);
  REQUIRE(world.until([&] { return order.size() == 5000; }));
  CHECK(std::ranges::is_sorted(order));
  CHECK(ready.after < 1000);
  CHECK(ready.times > 1);
}

TEST_CASE("Arming and cancelling at random, from outside and from inside, loses and adds none") {
  World world;
  std::mt19937 random(7);
  constexpr std::size_t number = 2000;
  std::vector<base::Timer> timers(number);
  std::vector<BootTime> due(number);
  std::vector<int> fired(number, 0);
  std::vector<bool> cancelled(number, false);
  BootTime latest_due{};
  int out_of_order = 0;
  const BootTime start = world.clock.boot_now();
  for (std::size_t i = 0; i < number; ++i) {
    due[i] = start + base::Nanoseconds(random() % 50'000'000);
    timers[i] = world.timers->at(due[i], [&, i] {
      ++fired[i];
      if (due[i] < latest_due) ++out_of_order;
      latest_due = std::max(latest_due, due[i]);
      const std::size_t victim = random() % number;
      if (victim != i && fired[victim] == 0 && random() % 3 == 0) {
        timers[victim].reset();
        cancelled[victim] = true;
      }
    });
  }
  REQUIRE(world.until([&] { return world.timers->armed() <= 1; }));
  world.pass(Milliseconds(1));
  for (std::size_t i = 0; i < number; ++i) CHECK(fired[i] + (cancelled[i] ? 1 : 0) == 1);
  // What was armed in the past while the loop had turned queues behind what was due then.
  CHECK(out_of_order == 0);
}

// A suspended machine: CLOCK_MONOTONIC stands still then, CLOCK_BOOTTIME does not. No test can
// suspend the machine, but the kernel tells which clock a timer is on.
TEST_CASE("The alarm is on the boot-time clock, and is one descriptor for all timers") {
  World world;
  std::vector<base::Timer> kept;
  for (int i = 0; i < 100; ++i) {
    kept.push_back(world.timers->at(world.in(Milliseconds(60'000 + i)), [] {}));
  }
  int alarms = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone);
    if (gone || target.string().find("timerfd") == std::string::npos) continue;
    ++alarms;
    std::ifstream info("/proc/self/fdinfo/" + entry.path().filename().string());
    const std::string text{std::istreambuf_iterator<char>(info), {}};
    CAPTURE(text);
    CHECK(text.find("clockid: " + std::to_string(CLOCK_BOOTTIME) + "\n") != std::string::npos);
  }
  CHECK(alarms == 1);
}

TEST_CASE("The clock reads boot time, and wall time in whole milliseconds") {
  const SystemClock clock;
  timespec now{};
  REQUIRE(clock_gettime(CLOCK_BOOTTIME, &now) == 0);
  const auto before = BootTime(std::chrono::seconds(now.tv_sec) + base::Nanoseconds(now.tv_nsec));
  const BootTime read = clock.boot_now();
  CHECK(read >= before);
  CHECK(read - before < std::chrono::seconds(1));
  const auto wall = clock.wall_now().time_since_epoch().count() / 1000;
  CHECK(std::abs(wall - std::time(nullptr)) <= 1);
}

}  // namespace
}  // namespace starlease::uv
