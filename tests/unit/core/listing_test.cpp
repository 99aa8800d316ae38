// The order of lists, and which leases a filter means.
#include "lib/core/listing.hpp"

#include <doctest/doctest.h>

namespace starlease::core {
namespace {

const LockIdentity identity{{"tenant", "program", "ns", "target", "actor", "default", "default"}};

}  // namespace

TEST_CASE("listing: a position is the digest, behind the target's hash in a program's list") {
  const LockDigest digest = lock_digest(identity);
  CHECK(list_position(ListBy::owner, identity, digest) == digest.chars());
  CHECK(list_position(ListBy::target, identity, digest) == digest.chars());
  const std::string position = list_position(ListBy::program, identity, digest);
  REQUIRE(position.size() == 36);
  CHECK(position.substr(0, 4) == index_hash("ns", "target").substr(0, 4));
  CHECK(position.substr(4) == digest.chars());
}

TEST_CASE("listing: hashes tell pairs from their joined text") {
  CHECK(index_hash("a", "bc") != index_hash("ab", "c"));
  CHECK(index_hash("[\"a\",\"bc\"]") == index_hash("a", "bc"));
  CHECK(index_hash("x").size() == 8);
}

TEST_CASE("listing: a filter compares exactly what it names") {
  const PrincipalId owner("prn_a");
  ListFilter filter{ListBy::owner, owner, {}, {}, {}, {}};
  CHECK(is_meant(filter, identity, owner));
  CHECK_FALSE(is_meant(filter, identity, PrincipalId("prn_b")));
  filter = {ListBy::program, {}, "tenant", "program", {}, {}};
  CHECK(is_meant(filter, identity, owner));
  filter.program_id = "other";
  CHECK_FALSE(is_meant(filter, identity, owner));
  filter = {ListBy::target, {}, "tenant", "program", "ns", "target"};
  CHECK(is_meant(filter, identity, owner));
  filter.target_id = "other";
  CHECK_FALSE(is_meant(filter, identity, owner));
}

}  // namespace starlease::core
