// Signals as calls on the loop.
#include "daemon/uv/signals.hpp"

#include <doctest/doctest.h>

#include <csignal>

#include "tests/unit/uv/world.hpp"

namespace starlease::uv {
namespace {

using namespace test;

TEST_CASE("Signals arrive on the loop, each with its number, and not from inside raise()") {
  World world;
  std::vector<int> seen;
  const auto signals = *Signals::create(*world.loop, {SIGUSR1, SIGUSR2},
                                        [&](int number) { seen.push_back(number); });
  REQUIRE(std::raise(SIGUSR1) == 0);
  CHECK(seen.empty());
  REQUIRE(world.until([&] { return seen.size() == 1; }));
  REQUIRE(std::raise(SIGUSR2) == 0);
  REQUIRE(world.until([&] { return seen.size() == 2; }));
  CHECK(seen == std::vector<int>{SIGUSR1, SIGUSR2});
}

TEST_CASE("Signals may be let go of from inside the call, and then do not call again") {
  World world;
  int calls = 0;
  std::unique_ptr<Signals> signals;
  signals = *Signals::create(*world.loop, {SIGUSR1, SIGUSR2}, [&](int) {
    ++calls;
    signals.reset();
  });
  // Both have arrived at libuv before the first is told.
  REQUIRE(std::raise(SIGUSR1) == 0);
  REQUIRE(std::raise(SIGUSR2) == 0);
  REQUIRE(world.until([&] { return calls > 0; }));
  world.pass(Milliseconds(2));
  CHECK(calls == 1);
}

TEST_CASE("A signal number that there is none of is an error") {
  World world;
  CHECK_FALSE(Signals::create(*world.loop, {SIGUSR1, 4000}, [](int) {}).has_value());
  CHECK_FALSE(Signals::create(*world.loop, {SIGKILL}, [](int) {}).has_value());
}

}  // namespace
}  // namespace starlease::uv
