// Calls in order, their deadlines, and nothing lost or told twice.
#include "daemon/valkey/pending_calls.hpp"

#include <doctest/doctest.h>

namespace starlease::valkey {
namespace {

using base::Milliseconds;

BootTime at_ms(std::int64_t ms) { return BootTime(Milliseconds(ms)); }
Answered nobody() {
  return [](const CallAnswer&) {};
}

TEST_CASE("PendingCalls gives a reply to the oldest call only") {
  PendingCalls calls;
  const auto first = calls.add(at_ms(1), at_ms(100), nobody());
  const auto second = calls.add(at_ms(2), at_ms(100), nobody());
  CHECK_FALSE(calls.take(second).has_value());
  CHECK(calls.oldest_sent_at() == at_ms(1));
  auto taken = calls.take(first);
  REQUIRE(taken.has_value());
  CHECK(taken->sent_at == at_ms(1));
  CHECK(calls.take(second).has_value());
  CHECK_FALSE(calls.take(second).has_value());
  CHECK(calls.empty());
}

TEST_CASE("PendingCalls keeps the place of an expired call for its reply") {
  PendingCalls calls;
  const auto first = calls.add(at_ms(1), at_ms(50), nobody());
  const auto second = calls.add(at_ms(1), at_ms(100), nobody());
  CHECK(calls.next_deadline() == at_ms(50));
  CHECK(calls.take_expired(at_ms(49)).empty());
  const auto expired = calls.take_expired(at_ms(50));
  REQUIRE(expired.size() == 1);
  CHECK(expired[0].id == first);
  CHECK(calls.size() == 2);
  CHECK(calls.waiting() == 1);
  CHECK(calls.next_deadline() == at_ms(100));
  auto late = calls.take(first);
  REQUIRE(late.has_value());
  CHECK_FALSE(static_cast<bool>(late->done));
  CHECK(calls.take(second)->done);
}

TEST_CASE("PendingCalls expires in the order of deadlines, not of sending") {
  PendingCalls calls;
  const auto late = calls.add(at_ms(1), at_ms(90), nobody());
  const auto soon = calls.add(at_ms(2), at_ms(10), nobody());
  const auto expired = calls.take_expired(at_ms(100));
  REQUIRE(expired.size() == 2);
  CHECK(expired[0].id == soon);
  CHECK(expired[1].id == late);
  CHECK_FALSE(calls.next_deadline().has_value());
}

TEST_CASE("PendingCalls takes back a call that was not sent") {
  PendingCalls calls;
  const auto first = calls.add(at_ms(1), at_ms(90), nobody());
  calls.add(at_ms(2), at_ms(10), nobody());
  CHECK(static_cast<bool>(calls.take_back()));
  CHECK(calls.size() == 1);
  CHECK(calls.next_deadline() == at_ms(90));
  const auto next = calls.add(at_ms(3), at_ms(20), nobody());
  CHECK(next == first + 1);
}

TEST_CASE("PendingCalls does not keep the deadlines of answered calls") {
  PendingCalls calls;
  for (std::int64_t i = 0; i < 100'000; ++i) {
    const auto id = calls.add(at_ms(i), at_ms(1'000'000 + i), nobody());
    REQUIRE(calls.take(id).has_value());
  }
  CHECK_FALSE(calls.next_deadline().has_value());
  CHECK(calls.take_all().empty());
}

TEST_CASE("PendingCalls hands out every waiting caller at the end, in order") {
  PendingCalls calls;
  const auto first = calls.add(at_ms(1), at_ms(10), nobody());
  const auto second = calls.add(at_ms(2), at_ms(99), nobody());
  const auto third = calls.add(at_ms(3), at_ms(50), nobody());
  REQUIRE(calls.take_expired(at_ms(10)).size() == 1);
  const auto all = calls.take_all();
  REQUIRE(all.size() == 2);
  CHECK(all[0].id == second);
  CHECK(all[1].id == third);
  CHECK(first < second);
  CHECK(calls.empty());
  CHECK(calls.waiting() == 0);
}

}  // namespace
}  // namespace starlease::valkey
