// A lease in the holder's hands: how long it may be relied on, how it ends, what it leaves behind.
#include "tests/unit/client/fixture.hpp"

namespace starlease::testing {

TEST_CASE("acquire gives a lease that is valid up to the daemon's instant") {
  core::GrantAnswer grant;
  ScriptedDaemon daemon({[&](Peer& peer) {
    peer.greet();
    const auto call = peer.expect<core::AcquireCall>();
    CHECK(call.identity.components[5] == "default");
    CHECK(!call.request_id.empty());
    grant = granted(call, Milliseconds(200), 42);
    peer.answer(grant);
    peer.await_close();
  }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  CHECK(lease->token() == 42);
  CHECK(lease->id() == "lease_42");
  CHECK(lease->valid_until_boottime_ns() == client::nanoseconds_of(grant.valid_until));
  CHECK(lease->envelope_json().find("\"lock_key\":\"starintel:target-lease:v1:k\"") !=
        std::string::npos);
  CHECK(lease->envelope_json().find("\"fencing_token\":42") != std::string::npos);
  while (client::boot_now() < grant.valid_until - 1ms) {
    REQUIRE((lease->valid() || client::boot_now() >= grant.valid_until));
    REQUIRE(lease->valid_for() <= grant.valid_until - client::boot_now() + 1ms);
  }
  stall_until(grant.valid_until);
  // The client has not worked meanwhile, and nobody has told it anything.
  CHECK(!lease->valid());
  CHECK(lease->valid_for() == 0ns);
  CHECK(!lease->lost());
}

TEST_CASE("an answer that comes after the validity grants nothing and is given back") {
  std::string given_back;
  ScriptedDaemon daemon({[&](Peer& peer) {
    peer.greet();
    const auto call = peer.expect<core::AcquireCall>();
    peer.answer(granted(call, Milliseconds(-1), 5));
    given_back = peer.expect<core::ReleaseCall>().lease_id.value;
    peer.await_close();
  }});
  {
    Client client = connected(daemon);
    auto lease = client.acquire(some_lease());
    REQUIRE(!lease.ok());
    CHECK(lease.error().code == ErrorCode::lease_lost);
  }
  CHECK(daemon.finish() == "");
  CHECK(given_back == "lease_5");
}

TEST_CASE("a lease releases itself when it goes") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    for (std::int64_t token = 1; token <= 2; ++token) {
      const auto call = peer.expect<core::AcquireCall>();
      peer.answer(granted(call, Milliseconds(5000), token));
    }
    CHECK(peer.expect<core::ReleaseCall>().lease_id.value == "lease_1");
    CHECK(peer.expect<core::ReleaseCall>().lease_id.value == "lease_2");
    peer.await_close();
  }});
  Client client = connected(daemon);
  auto first = client.acquire(some_lease());
  auto second = client.acquire(some_lease());
  REQUIRE((first.ok() && second.ok()));
  {
    Lease lease = std::move(*first);
    CHECK(lease.valid());
    CHECK(!*first);
    lease = std::move(*second);  // gives the first one back
    CHECK(lease.token() == 2);
  }
  {
    const Client gone = std::move(client);
  }
  CHECK(daemon.finish() == "");
}

TEST_CASE("a forgotten lease is not released") {
  bool released = false;
  ScriptedDaemon daemon({[&](Peer& peer) {
    CHECK(peer.grant_first(Milliseconds(5000)).on_disconnect == core::OnDisconnect::keep);
    CHECK_THROWS_AS((peer.next(), released = true), ScriptError);
  }});
  {
    Client client = connected(daemon);
    AcquireOptions options = some_lease();
    options.keep_on_disconnect = true;
    auto lease = client.acquire(options);
    REQUIRE(lease.ok());
    lease->forget();
    CHECK(!*lease);
    CHECK(!lease->valid());
  }
  CHECK(daemon.finish() == "");
  CHECK(!released);
}

TEST_CASE("a loss is told once, and the lease is not released after it") {
  bool released = false;
  ScriptedDaemon daemon({[&](Peer& peer) {
    peer.greet();
    const auto grant = granted(peer.expect<core::AcquireCall>(), Milliseconds(5000));
    peer.answer(grant);
    peer.tell(lost(grant, core::LossReason::revoked));
    peer.tell(lost(grant, core::LossReason::revoked));
    CHECK_THROWS_AS((peer.next(), released = true), ScriptError);
  }});
  {
    Client client = connected(daemon);
    int told = 0;
    int events = 0;
    client.on_event([&](const Event& event) {
      if (event.kind == EventKind::lease_lost) ++events;
    });
    auto lease = client.acquire(some_lease());
    REQUIRE(lease.ok());
    lease->on_lost([&](const Loss& loss) {
      CHECK(loss.reason == LossReason::revoked);
      CHECK(loss.fencing_token == 1);
      ++told;
    });
    REQUIRE(work_until(client, [&] { return told > 0; }));
    CHECK(lease->lost());
    CHECK(!lease->valid());
    CHECK(lease->loss()->reason == LossReason::revoked);
    (void)client.wait(50ms);
    CHECK(told == 1);
    CHECK(events == 1);
    CHECK(client.renew(*lease).error().code == ErrorCode::lease_lost);
  }
  CHECK(daemon.finish() == "");
  CHECK(!released);
}

TEST_CASE("a loss that comes together with the grant is not missed") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    const auto grant = granted(peer.expect<core::AcquireCall>(), Milliseconds(5000));
    peer.answer(grant);
    peer.tell(lost(grant, core::LossReason::recovered));
    peer.await_close();
  }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  REQUIRE(work_until(client, [&] { return lease->lost(); }));
  bool told = false;
  lease->on_lost([&](const Loss&) { told = true; });
  CHECK(work_until(client, [&] { return told; }));
}

TEST_CASE("the callback may destroy its lease") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    const auto grant = granted(peer.expect<core::AcquireCall>(), Milliseconds(5000));
    peer.answer(grant);
    peer.tell(lost(grant, core::LossReason::revoked));
    peer.await_close();
  }});
  Client client = connected(daemon);
  auto acquired = client.acquire(some_lease());
  REQUIRE(acquired.ok());
  std::optional<Lease> lease(std::move(*acquired));
  lease->on_lost([&](const Loss&) { lease.reset(); });
  CHECK(work_until(client, [&] { return !lease; }));
}

TEST_CASE("a daemon that says nothing loses the lease by the clock, and is told to let it go") {
  std::string given_back;
  ScriptedDaemon daemon({[&](Peer& peer) {
    peer.grant_first(Milliseconds(150));
    given_back = peer.expect<core::ReleaseCall>().lease_id.value;
    peer.await_close();
  }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  const std::int64_t end = lease->valid_until_boottime_ns();
  REQUIRE(work_until(client, [&] { return lease->lost(); }));
  CHECK(client::boot_now_ns() >= end);
  CHECK(client::boot_now_ns() < end + 1'000'000'000);
  CHECK(lease->loss()->reason == LossReason::expired);
  {
    const Client gone = std::move(client);
  }
  CHECK(daemon.finish() == "");
  CHECK(given_back == "lease_1");
}

TEST_CASE("a renewal counts from its instant, not from when it is read") {
  core::LeaseRenewedNotice news;
  ScriptedDaemon daemon({[&](Peer& peer) {
    peer.greet();
    const auto grant = granted(peer.expect<core::AcquireCall>(), Milliseconds(3000));
    peer.answer(grant);
    news = notice(grant, Milliseconds(4000));
    news.valid_for = Milliseconds(3'600'000);
    peer.tell(news);
    peer.await_close();
  }});
  Client client = connected(daemon);
  bool told = false;
  client.on_event([&](const Event& event) { told |= event.kind == EventKind::lease_renewed; });
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  REQUIRE(work_until(client, [&] { return told; }));
  CHECK(lease->valid_until_boottime_ns() == client::nanoseconds_of(news.valid_until));
  CHECK(lease->valid());
  // The envelope says the new expiry.
  const std::string expires_at = to_rfc3339(lease->grant().lease.expires_at);
  CHECK(lease->envelope_json().find(expires_at) != std::string::npos);
}

TEST_CASE("a holder that slept through renewals has lost nothing once it reads them") {
  core::GrantAnswer grant;
  ScriptedDaemon daemon({[&](Peer& peer) {
    peer.greet();
    grant = granted(peer.expect<core::AcquireCall>(), Milliseconds(100));
    peer.answer(grant);
    stall_until(grant.valid_until - 50ms);
    peer.tell(notice(grant, Milliseconds(5000)));
    peer.await_close();
  }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  stall_until(client::BootTime(client::Nanoseconds(lease->valid_until_boottime_ns())) + 20ms);
  CHECK(!lease->valid());
  REQUIRE(client.process().ok());
  CHECK(lease->valid());
  CHECK(!lease->lost());
}

TEST_CASE("a lease that outlives its client is lost") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.grant_first(Milliseconds(5000));
    peer.await_close();
  }});
  Lease lease;
  CHECK(!lease.valid());
  CHECK(lease.token() == 0);
  {
    Client client = connected(daemon);
    auto acquired = client.acquire(some_lease());
    REQUIRE(acquired.ok());
    lease = std::move(*acquired);
    CHECK(lease.valid());
  }
  CHECK(lease.lost());
  CHECK(!lease.valid());
  CHECK(lease.loss()->reason == LossReason::connection_lost);
}

TEST_CASE("the answer to a repeated request whose lease has ended is a loss") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    auto grant = granted(peer.expect<core::AcquireCall>(), Milliseconds(5000));
    grant.replay = core::Replay{core::LeaseState::released};
    peer.answer(grant);
    peer.await_close();
  }});
  Client client = connected(daemon);
  AcquireOptions options = some_lease();
  options.request_id = "mine";
  CHECK(client.acquire(options).error().code == ErrorCode::lease_lost);
}

TEST_CASE("one lease has one handle in a client") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    for (int i = 0; i < 2; ++i) {
      auto grant = granted(peer.expect<core::AcquireCall>(), Milliseconds(5000));
      if (i == 1) grant.replay = core::Replay{core::LeaseState::active};
      peer.answer(grant);
    }
    peer.await_close();
  }});
  Client client = connected(daemon);
  AcquireOptions options = some_lease();
  options.request_id = "mine";
  auto first = client.acquire(options);
  REQUIRE(first.ok());
  const auto second = client.acquire(options);
  REQUIRE(!second.ok());
  CHECK(second.error().code == ErrorCode::idempotency_conflict);
  CHECK(first->valid());
}

}  // namespace starlease::testing
