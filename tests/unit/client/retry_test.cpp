// Deadlines, answers that come late or not at all, and repetition under the same request id.
#include <atomic>

#include "tests/unit/client/fixture.hpp"

namespace starlease::testing {

TEST_CASE("an unknown outcome is asked for again under the same request id") {
  std::vector<std::string> asked;
  ScriptedDaemon daemon({[&](Peer& peer) {
    peer.greet();
    for (int i = 0; i < 3; ++i) {
      const auto call = peer.expect<core::AcquireCall>();
      asked.push_back(call.request_id.value);
      if (i < 2) {
        peer.refuse(core::FailureCode::lease_outcome_unknown, Milliseconds(10));
      } else {
        auto grant = granted(call, Milliseconds(5000), 9);
        grant.replay = core::Replay{core::LeaseState::active};
        peer.answer(grant);
      }
    }
    peer.await_close();
  }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  CHECK(lease->token() == 9);
  CHECK(lease->grant().replayed);
  REQUIRE(asked.size() == 3);
  CHECK(asked[0] == asked[1]);
  CHECK(asked[1] == asked[2]);
}

TEST_CASE("an outcome that stays unknown is told so at the deadline") {
  std::atomic<int> asked = 0;
  ScriptedDaemon daemon({[&](Peer& peer) {
    peer.greet();
    CHECK_THROWS_AS(
        [&] {
          while (true) {
            peer.expect<core::AcquireCall>();
            peer.refuse(core::FailureCode::lease_outcome_unknown);
            ++asked;
          }
        }(),
        ScriptError);
  }});
  {
    Client client = connected(daemon);
    AcquireOptions options = some_lease();
    options.timeout = 200ms;
    const auto before = client::boot_now();
    const auto lease = client.acquire(options);
    REQUIRE(!lease.ok());
    CHECK(lease.error().code == ErrorCode::lease_outcome_unknown);
    CHECK(lease.error().outcome_unknown());
    CHECK(client::boot_now() - before < 1s);
  }
  CHECK(daemon.finish() == "");
  CHECK(asked > 1);
}

TEST_CASE("a conflict is the caller's to decide about") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    peer.expect<core::AcquireCall>();
    peer.refuse(core::FailureCode::lease_conflict, Milliseconds(250));
    peer.await_close();
  }});
  Client client = connected(daemon);
  const auto lease = client.acquire(some_lease());
  REQUIRE(!lease.ok());
  CHECK(lease.error().code == ErrorCode::lease_conflict);
  CHECK(lease.error().retryable());
  CHECK(*lease.error().retry_after == 250ms);
}

TEST_CASE("the daemon gets less time than the caller gives") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    const auto call = peer.expect<core::AcquireCall>();
    REQUIRE(call.deadline.timeout.has_value());
    CHECK(*call.deadline.timeout <= Milliseconds(900));
    CHECK(*call.deadline.timeout > Milliseconds(500));
    CHECK(call.wait == Milliseconds(700));
    peer.refuse(core::FailureCode::lease_conflict);
    peer.await_close();
  }});
  Client client = connected(daemon);
  AcquireOptions options = some_lease();
  options.wait = 700ms;
  options.timeout = 1s;
  CHECK(!client.acquire(options).ok());
}

TEST_CASE("a grant that comes after the deadline is given back") {
  std::string given_back;
  ScriptedDaemon daemon({[&](Peer& peer) {
    peer.greet();
    const auto call = peer.expect<core::AcquireCall>();
    const auto late = peer.id();
    peer.expect<core::PingCall>();  // the caller has given up by now
    // Before the pong, so that the caller has seen it when it asks the next.
    peer.answer(late, granted(call, Milliseconds(5000), 3));
    peer.answer(core::PongAnswer{core::BackendState::ready, client::boot_now()});
    given_back = peer.expect<core::ReleaseCall>().lease_id.value;
    peer.answer(core::ReleasedAnswer{core::LeaseId("lease_3"),
                                     core::FencingToken{3},
                                     core::backend_time(1'786'000'000'000),
                                     {}});
    peer.expect<core::PingCall>();
    peer.answer(core::PongAnswer{core::BackendState::ready, client::boot_now()});
    peer.await_close();
  }});
  {
    Client client = connected(daemon);
    AcquireOptions options = some_lease();
    options.timeout = 50ms;
    const auto lease = client.acquire(options);
    REQUIRE(!lease.ok());
    CHECK(lease.error().code == ErrorCode::local_deadline);
    CHECK(lease.error().outcome_unknown());
    CHECK(client.ping().ok());
    CHECK(client.ping().ok());
  }
  CHECK(daemon.finish() == "");
  CHECK(given_back == "lease_3");
}

TEST_CASE("a caller that comes back under the same request id gets the lease") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    const auto first = peer.expect<core::AcquireCall>();
    const auto late = peer.id();
    const auto second = peer.expect<core::AcquireCall>();
    CHECK(first.request_id == second.request_id);
    auto grant = granted(second, Milliseconds(5000), 4);
    peer.answer(late, grant);
    grant.replay = core::Replay{core::LeaseState::active};
    peer.answer(grant);
    peer.expect<core::PingCall>();  // and no release before it
    peer.answer(core::PongAnswer{core::BackendState::ready, client::boot_now()});
    peer.await_close();
  }});
  {
    Client client = connected(daemon);
    AcquireOptions options = some_lease();
    options.request_id = "attempt-1";
    options.timeout = 50ms;
    CHECK(client.acquire(options).error().code == ErrorCode::local_deadline);
    options.timeout = 5s;
    auto lease = client.acquire(options);
    REQUIRE(lease.ok());
    CHECK(lease->token() == 4);
    CHECK(client.ping().ok());
    CHECK(lease->valid());
  }
  CHECK(daemon.finish() == "");
}

TEST_CASE("a renewal that comes after the deadline extends nothing") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.grant_first(Milliseconds(3000));
    const auto call = peer.expect<core::RenewCall>();
    const auto late = peer.id();
    peer.expect<core::PingCall>();
    peer.answer(late, renewed(call, Milliseconds(60'000)));
    peer.answer(core::PongAnswer{core::BackendState::ready, client::boot_now()});
    peer.await_close();
  }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  const std::int64_t before = lease->valid_until_boottime_ns();
  const auto renewal = client.renew(*lease, {}, {50ms, {}});
  REQUIRE(!renewal.ok());
  CHECK(renewal.error().code == ErrorCode::local_deadline);
  CHECK(client.ping().ok());
  CHECK(lease->valid_until_boottime_ns() == before);
  CHECK(lease->valid());
}

TEST_CASE("a renewal that comes after the validity revives nothing") {
  ScriptedDaemon daemon({[](Peer& peer) {
    const auto acquire = peer.grant_first(Milliseconds(100));
    const auto call = peer.expect<core::RenewCall>();
    const auto id = peer.id();
    peer.expect<core::ReleaseCall>();  // the holder has lost it by the clock
    peer.answer(id, renewed(call, Milliseconds(60'000)));
    peer.await_close();
  }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  const auto renewal = client.renew(*lease);
  REQUIRE(!renewal.ok());
  CHECK(renewal.error().code == ErrorCode::lease_lost);
  CHECK(lease->lost());
  CHECK(!lease->valid());
}

}  // namespace starlease::testing
