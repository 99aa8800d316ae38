// The state directory: what is saved comes back whole or not at all, privately, to one daemon.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "daemon/state_dir.hpp"
#include "tests/support/manual.hpp"
#include "tests/support/scratch.hpp"

using namespace starlease;
using Memory = std::map<std::uint32_t, service::PartitionMemory>;

namespace {

struct Fixture {
  test::Scratch scratch;
  testing::SeededRandom random{1};
  testing::KeptLog log;
  std::string path = scratch.path("state");

  Fixture() { REQUIRE(base::crypto_start()); }
  [[nodiscard]] auto open() { return StateDir::open(path, random, log); }
  [[nodiscard]] mode_t mode(const std::string& name) const {
    struct stat status{};
    REQUIRE(::stat(scratch.path(name).c_str(), &status) == 0);
    return status.st_mode & 07777;
  }
};

const Memory some = {{0, {17, core::FencingToken{42}}},
                     {63, {INT64_MAX / 2, core::FencingToken{core::limits::maximum_token}}}};

}  // namespace

TEST_CASE("what is saved is there for the next daemon, with the same resume key") {
  Fixture f;
  base::MacKey key;
  {
    auto state = f.open();
    REQUIRE(state);
    key = (*state)->resume_key();
    CHECK((*state)->load().empty());
    CHECK((*state)->save({{1, {1, core::FencingToken{1}}}}));
    CHECK((*state)->save(some));
    CHECK((*state)->load() == some);
  }
  auto again = f.open();
  REQUIRE(again);
  CHECK((*again)->load() == some);
  CHECK((*again)->resume_key() == key);
  CHECK(std::ranges::any_of(key, [](std::byte b) { return b != std::byte{0}; }));
  CHECK(f.log.events.empty());
}

TEST_CASE("directory and files are private from the start") {
  Fixture f;
  auto state = f.open();
  REQUIRE(state);
  CHECK((*state)->save(some));
  CHECK(f.mode("state") == 0700);
  CHECK(f.mode("state/resume.key") == 0600);
  CHECK(f.mode("state/partitions") == 0600);
  CHECK(f.mode("state/lock") == 0600);
}

TEST_CASE("a second daemon is refused while the first lives, and not after") {
  Fixture f;
  auto first = f.open();
  REQUIRE(first);
  const auto second = f.open();
  REQUIRE_FALSE(second);
  CHECK(second.error().error == StateDirError::in_use);
  CHECK(second.error().message.contains(f.path));
  first->reset();
  CHECK(f.open().has_value());
}

TEST_CASE("a directory that others can write to, or that cannot be, is refused") {
  Fixture f;
  REQUIRE(::mkdir(f.path.c_str(), 0700) == 0);
  REQUIRE(::chmod(f.path.c_str(), 0770) == 0);
  const auto loose = f.open();
  REQUIRE_FALSE(loose);
  CHECK(loose.error().error == StateDirError::io);
  CHECK(loose.error().message.contains("writable by nobody else"));
  f.path = f.scratch.path("no/such/parent");
  CHECK_FALSE(f.open().has_value());
  f.path = f.scratch.write("file", "x");
  CHECK_FALSE(f.open().has_value());
}

TEST_CASE("a state with any byte changed, missing or added counts as absent, with a warning") {
  Fixture f;
  auto state = f.open();
  REQUIRE(state);
  REQUIRE((*state)->save(some));
  const std::string good = f.scratch.read("state/partitions");
  REQUIRE(decode_memory(good) == some);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    CHECK_FALSE(decode_memory(bad).has_value());
    CHECK_FALSE(decode_memory(good.substr(0, i)).has_value());
  }
  CHECK_FALSE(decode_memory(good + "x").has_value());
  CHECK_FALSE(decode_memory(good + good).has_value());
  f.scratch.write("state/partitions", good.substr(0, good.size() - 1));
  CHECK((*state)->load().empty());
  CHECK(f.log.events.back() == "state of the partitions unreadable; taken as absent");
  CHECK((*state)->save(some));
  CHECK((*state)->load() == some);
}

TEST_CASE("a broken resume key is replaced, with a warning") {
  Fixture f;
  base::MacKey key;
  {
    auto state = f.open();
    REQUIRE(state);
    key = (*state)->resume_key();
  }
  const std::string good = f.scratch.read("state/resume.key");
  REQUIRE(good.size() == 64);
  for (const std::string& bad :
       {good.substr(1), good + "x", good.substr(0, 32), std::string("x")}) {
    f.scratch.write("state/resume.key", bad);
    const auto before = f.log.events.size();
    auto state = f.open();
    REQUIRE(state);
    CHECK((*state)->resume_key() != key);
    CHECK(f.log.events.size() == before + 1);
    key = (*state)->resume_key();
  }
  auto state = f.open();
  REQUIRE(state);
  CHECK((*state)->resume_key() == key);
}

TEST_CASE("a save that fails says so and leaves the old state") {
  Fixture f;
  auto state = f.open();
  REQUIRE(state);
  REQUIRE((*state)->save(some));
  // The temporary file's name is taken by something that cannot be written.
  REQUIRE(::mkdir((f.path + "/partitions.new").c_str(), 0700) == 0);
  CHECK_FALSE((*state)->save({}));
  CHECK(f.log.events.back() == "state of the partitions not written");
  CHECK((*state)->load() == some);
}

TEST_CASE("symbolic links in the directory are not followed") {
  Fixture f;
  const std::string victim = f.scratch.write("victim", "precious");
  REQUIRE(::mkdir(f.path.c_str(), 0700) == 0);
  REQUIRE(::symlink(victim.c_str(), (f.path + "/partitions.new").c_str()) == 0);
  auto state = f.open();
  REQUIRE(state);
  CHECK_FALSE((*state)->save(some));
  CHECK(f.scratch.read("victim") == "precious");
}
