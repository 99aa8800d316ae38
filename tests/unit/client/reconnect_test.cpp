// Connections that close: what is kept, what is lost and when, what is asked again.
#include "tests/unit/client/fixture.hpp"

namespace starlease::testing {
namespace {

/// Greets a client that resumes, and renews the one lease that it claims.
void resume_and_renew(Peer& peer) {
  const auto hello = peer.greet();
  CHECK(hello.instance.value == "instance_1");
  CHECK(hello.resume == "resume_1");
  const auto call = peer.expect<core::RenewCall>();
  CHECK(call.lease_id.value == "lease_1");
  CHECK(*call.ttl == Milliseconds(2000));
  peer.answer(renewed(call, Milliseconds(6000)));
}

}  // namespace

TEST_CASE("a lease is not valid without its connection, and is again once it is renewed") {
  ScriptedDaemon daemon({[](Peer& peer) {
                           peer.grant_first(Milliseconds(5000));
                           peer.expect<core::PingCall>();
                         },
                         [](Peer& peer) {
                           peer.greet();
                           const auto call = peer.expect<core::RenewCall>();
                           const ipc::RequestId renewal = peer.id();
                           peer.expect<core::PingCall>();  // asked again
                           peer.answer(core::PongAnswer{core::BackendState::ready, {}});
                           peer.answer(renewal, renewed(call, Milliseconds(6000)));
                           peer.await_close();
                         }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  bool was_away = false;
  client.on_event([&](const Event& event) {
    if (event.kind != EventKind::disconnected) return;
    was_away = true;
    // The daemon may have released it; it is not lost either.
    CHECK(!lease->valid());
    CHECK(lease->valid_for() == 0ns);
    CHECK(!lease->lost());
  });
  CHECK(client.ping().ok());
  CHECK(was_away);
  CHECK(work_until(client, [&] { return lease->valid(); }));
}

TEST_CASE("a resumed session keeps the lease, without a callback") {
  ScriptedDaemon daemon({[](Peer& peer) { peer.grant_first(Milliseconds(5000)); },
                         [](Peer& peer) {
                           resume_and_renew(peer);
                           peer.await_close();
                         }});
  Client client = connected(daemon);
  std::vector<EventKind> events;
  client.on_event([&](const Event& event) { events.push_back(event.kind); });
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  bool told = false;
  lease->on_lost([&](const Loss&) { told = true; });
  const std::int64_t before = lease->valid_until_boottime_ns();
  REQUIRE(work_until(client, [&] { return lease->valid_until_boottime_ns() > before; }));
  CHECK(lease->valid());
  CHECK(!told);
  CHECK(client.connected());
  REQUIRE(events.size() >= 2);
  CHECK(events[0] == EventKind::disconnected);
  CHECK(events[1] == EventKind::reconnected);
  {
    const Client gone = std::move(client);
  }
  CHECK(daemon.finish() == "");
}

TEST_CASE("a renewal that the resumed session is refused loses the lease") {
  ScriptedDaemon daemon({[](Peer& peer) { peer.grant_first(Milliseconds(5000)); },
                         [](Peer& peer) {
                           peer.greet();
                           peer.expect<core::RenewCall>();
                           peer.refuse(core::FailureCode::lease_lost);
                           peer.await_close();
                         }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  REQUIRE(work_until(client, [&] { return lease->lost(); }));
  CHECK(lease->loss()->reason == LossReason::renewal_rejected);
}

TEST_CASE("a backend that is away at the resume is tried again while the lease is valid") {
  ScriptedDaemon daemon({[](Peer& peer) { peer.grant_first(Milliseconds(5000)); },
                         [](Peer& peer) {
                           peer.greet();
                           peer.expect<core::RenewCall>();
                           peer.refuse(core::FailureCode::lease_backend_unavailable);
                           const auto call = peer.expect<core::RenewCall>();
                           peer.answer(renewed(call, Milliseconds(7000)));
                           peer.await_close();
                         }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  const std::int64_t before = lease->valid_until_boottime_ns();
  REQUIRE(work_until(client, [&] { return lease->valid_until_boottime_ns() > before; }));
  CHECK(lease->valid());
}

TEST_CASE("a daemon that knows no such session loses the leases, and the client goes on") {
  ScriptedDaemon daemon({[](Peer& peer) { peer.grant_first(Milliseconds(5000)); },
                         [](Peer& peer) {
                           peer.expect<core::HelloCall>();
                           peer.answer(core::invalid("resume", "no such session"));
                         },
                         [](Peer& peer) {
                           CHECK(peer.greet("instance_2").instance.empty());
                           peer.expect<core::PingCall>();
                           peer.answer(core::PongAnswer{core::BackendState::ready, {}});
                           peer.await_close();
                         }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  REQUIRE(work_until(client, [&] { return lease->lost(); }));
  CHECK(lease->loss()->reason == LossReason::connection_lost);
  CHECK(client.ping().ok());
  CHECK(client.session().service_instance_id == "instance_2");
}

TEST_CASE("a daemon that stays away loses the lease when its validity ends, not before") {
  ScriptedDaemon daemon({[](Peer& peer) { peer.grant_first(Milliseconds(300)); }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  const std::int64_t end = lease->valid_until_boottime_ns();
  REQUIRE(work_until(client, [&] { return lease->lost(); }));
  CHECK(client::boot_now_ns() >= end);
  CHECK(client::boot_now_ns() < end + 500'000'000);
  CHECK(lease->loss()->reason == LossReason::connection_lost);
}

TEST_CASE("an acquisition whose connection broke gets its lease under the same request id") {
  std::string first;
  std::string second;
  ScriptedDaemon daemon({[&](Peer& peer) {
                           peer.greet();
                           first = peer.expect<core::AcquireCall>().request_id.value;
                         },
                         [&](Peer& peer) {
                           peer.greet();
                           const auto call = peer.expect<core::AcquireCall>();
                           second = call.request_id.value;
                           auto grant = granted(call, Milliseconds(5000), 8);
                           grant.replay = core::Replay{core::LeaseState::active};
                           peer.answer(grant);
                           peer.await_close();
                         }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  CHECK(lease->token() == 8);
  CHECK(lease->valid());
  CHECK(first == second);
}

TEST_CASE("a call whose connection stays broken ends at its deadline, as unknown") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    peer.expect<core::AcquireCall>();
  }});
  Client client = connected(daemon);
  AcquireOptions options = some_lease();
  options.timeout = 200ms;
  const auto lease = client.acquire(options);
  REQUIRE(!lease.ok());
  CHECK(lease.error().code == ErrorCode::connection_lost);
  CHECK(lease.error().outcome_unknown());
  // And what is asked while nobody is there was never asked.
  CHECK(client.ping(50ms).error().code == ErrorCode::no_daemon);
}

TEST_CASE("without reconnect a closed connection ends everything at once") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.grant_first(Milliseconds(60'000));
    peer.expect<core::PingCall>();
  }});
  ClientOptions options;
  options.reconnect = false;
  Client client = connected(daemon, options);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  CHECK(client.ping().error().code == ErrorCode::connection_lost);
  CHECK(lease->lost());
  CHECK(client.process().error().code == ErrorCode::connection_lost);
}

TEST_CASE("a daemon that refuses the credential at the resume ends the client") {
  ScriptedDaemon daemon({[](Peer& peer) { peer.grant_first(Milliseconds(60'000)); },
                         [](Peer& peer) {
                           peer.expect<core::HelloCall>();
                           peer.refuse(core::FailureCode::invalid_credential);
                         }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  REQUIRE(work_until(client, [&] { return lease->lost(); }));
  CHECK(client.process().error().code == ErrorCode::invalid_credential);
  CHECK(client.ping().error().code == ErrorCode::invalid_credential);
}

}  // namespace starlease::testing
