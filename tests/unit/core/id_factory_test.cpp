// Identifiers: their shape, their order, and the way from a lease id to its lock.
#include "lib/core/id_factory.hpp"

#include <doctest/doctest.h>

#include <set>

#include "tests/support/manual.hpp"
#include "tests/unit/core/sample.hpp"

namespace starlease::core {
namespace {

TEST_CASE("an id is its prefix and 26 characters, and later ones sort later") {
  testing::ManualClock clock;
  testing::SeededRandom random(3);
  IdFactory ids(random, clock);
  std::string last;
  std::set<std::string> seen;
  for (int i = 0; i < 500; ++i) {
    clock.wall += Milliseconds(1 + i * 1000);
    const std::string id = ids.request().value;
    CHECK(id.size() == std::string_view("request_").size() + 26);
    CHECK(id.find_first_not_of("0123456789abcdefghjkmnpqrstvwxyz", 8) == std::string::npos);
    CHECK(last < id);
    last = id;
  }
  for (int i = 0; i < 500; ++i) seen.insert(ids.correlation().value);
  CHECK(seen.size() == 500);
  CHECK(ids.decision().value.starts_with("dec_"));
  CHECK(ids.instance().value.starts_with("instance_"));
}

TEST_CASE("ids stay apart when the wall clock steps back") {
  testing::ManualClock clock;
  testing::SeededRandom random(3);
  IdFactory ids(random, clock);
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    clock.wall -= Milliseconds(i % 2);
    seen.insert(ids.request().value);
  }
  CHECK(seen.size() == 100);
}

TEST_CASE("a lease id leads to its lock, and nothing else does") {
  testing::ManualClock clock;
  testing::SeededRandom random(3);
  IdFactory ids(random, clock);
  const LockDigest digest = lock_digest(sample::identity());
  const LeaseId id = ids.lease(digest);
  CHECK(lock_of(id) == digest);
  CHECK(ids.lease(digest) != id);
  for (const std::string& bad :
       {std::string(), std::string("lease_"), id.value + "A", id.value.substr(1),
        id.value.substr(0, id.value.size() - 1), std::string(id.value.size(), 'a'),
        "request" + id.value.substr(5)}) {
    CAPTURE(bad);
    CHECK(!lock_of(LeaseId(bad)));
  }
}

}  // namespace
}  // namespace starlease::core
