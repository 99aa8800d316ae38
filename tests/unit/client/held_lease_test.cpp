// The table of leases and the order in which they end.
#include "lib/client/held_lease.hpp"

#include <doctest/doctest.h>

namespace starlease::testing {
namespace {

using client::BootTime;
using client::HeldLease;
using client::LeaseTable;

BootTime at_ms(std::int64_t ms) { return BootTime(client::Milliseconds(ms)); }

HeldLease held(const char* id, std::int64_t token, std::int64_t end_ms) {
  HeldLease lease;
  lease.grant.lease.lease_id = id;
  lease.grant.lease.fencing_token = token;
  lease.grant.valid_until_boottime_ns = end_ms * 1'000'000;
  return lease;
}

}  // namespace

TEST_CASE("a lease table finds by id and token while a lease is held") {
  LeaseTable table;
  HeldLease lease = held("a", 1, 100);
  table.add(lease);
  CHECK(table.find("a", 1) == &lease);
  CHECK(table.find("a", 2) == nullptr);
  CHECK(table.find(lease.serial) == &lease);
  table.lose(lease, {"a", 1, LossReason::expired, {}});
  CHECK(table.find("a", 1) == nullptr);
  CHECK(table.find(lease.serial) == &lease);
  CHECK(table.held().empty());
  CHECK(table.all().size() == 1);
  table.remove(lease);
  CHECK(table.find(lease.serial) == nullptr);
}

TEST_CASE("leases end in the order of their validity, and renewals move them") {
  LeaseTable table;
  HeldLease a = held("a", 1, 100);
  HeldLease b = held("b", 2, 200);
  table.add(a);
  table.add(b);
  CHECK(*table.earliest_end() == at_ms(100));
  table.renewed(a, at_ms(300));
  table.renewed(a, at_ms(250));  // an older notice shortens nothing
  CHECK(*table.earliest_end() == at_ms(200));
  CHECK(table.ended(at_ms(199)).empty());
  CHECK(table.ended(at_ms(200)) == std::vector<HeldLease*>{&b});
  CHECK(table.ended(at_ms(1000)) == std::vector<HeldLease*>{&a});
  table.remove(a);
  table.remove(b);
  CHECK(!table.earliest_end());
}

}  // namespace starlease::testing
