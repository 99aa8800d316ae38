// Lock keys: both ways, and spread over partitions.
#include "lib/core/lock_key.hpp"

#include <doctest/doctest.h>

#include <map>

#include "tests/unit/core/sample.hpp"

namespace starlease::core {
namespace {

LockDigest numbered(int number) {
  LockIdentity identity = sample::identity();
  identity.components[3] = std::to_string(number);
  return lock_digest(identity);
}

TEST_CASE("a key is parsed to its digest; anything else is nothing") {
  const LockDigest digest = numbered(1);
  const std::string key = lock_key(digest);
  CHECK(key.starts_with("starintel:target-lease:v1:"));
  CHECK(parse_lock_key(key) == digest);
  for (const std::string& bad : {std::string(), key + "A", key.substr(0, key.size() - 1),
                                 "x" + key.substr(1), key.substr(0, key.size() - 1) + "="}) {
    CAPTURE(bad);
    CHECK(!parse_lock_key(bad));
  }
}

TEST_CASE("neighbouring components do not flow into each other") {
  LockIdentity one = sample::identity();
  LockIdentity two = one;
  one.components[0] = "a";
  one.components[1] = "bc";
  two.components[0] = "ab";
  two.components[1] = "c";
  CHECK(lock_digest(one) != lock_digest(two));
}

TEST_CASE("locks are spread evenly, and one partition takes all") {
  std::map<std::uint32_t, int> counts;
  for (int i = 0; i < 16'000; ++i) ++counts[partition_of(numbered(i), 16)];
  CHECK(counts.size() == 16);
  for (const auto& [partition, count] : counts) {
    CHECK(count > 800);
    CHECK(count < 1200);
  }
  CHECK(partition_of(numbered(1), 1) == 0);
}

TEST_CASE("the partition is the first eight bytes, big-endian, modulo the count") {
  LockDigest digest;
  digest.bytes[7] = std::byte{5};
  digest.bytes[8] = std::byte{255};
  CHECK(partition_of(digest, 4) == 1);
  digest.bytes[0] = std::byte{1};  // 2^56 + 5
  CHECK(partition_of(digest, 1000) == (72'057'594'037'927'936ULL + 5) % 1000);
}

}  // namespace
}  // namespace starlease::core
