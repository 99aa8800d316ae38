// What comes unasked, and the one descriptor for event loops.
#include <poll.h>

#include "tests/unit/client/fixture.hpp"

namespace starlease::testing {
namespace {

bool readable(int fd, int timeout_ms) {
  pollfd item{fd, POLLIN, 0};
  return ::poll(&item, 1, timeout_ms) == 1;
}

}  // namespace

TEST_CASE("events reach the callback, unknown ones are passed over") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    peer.raw(R"({"event":"of_a_newer_daemon","x":1})");
    peer.tell(core::BackendStateChanged{core::BackendState::recovering});
    peer.tell(
        core::LeaseExpiring{core::LeaseId("lease_7"), core::FencingToken{7}, Milliseconds(900)});
    peer.tell(core::Draining{true});
    peer.await_close();
  }});
  Client client = connected(daemon);
  std::vector<Event> events;
  client.on_event([&](const Event& event) { events.push_back(event); });
  REQUIRE(work_until(client, [&] { return events.size() == 3; }));
  CHECK(events[0].kind == EventKind::backend_state);
  CHECK(events[0].backend == BackendState::recovering);
  CHECK(client.session().backend == BackendState::recovering);
  CHECK(events[1].kind == EventKind::lease_expiring);
  CHECK(events[1].remaining == 900ms);
  CHECK(events[1].lease_id == "lease_7");
  CHECK(events[2].kind == EventKind::draining);
  CHECK(events[2].restart);
}

TEST_CASE("the descriptor stays the same and wakes for answers, deadlines and losses") {
  ScriptedDaemon daemon({[](Peer& peer) { peer.grant_first(Milliseconds(250)); },
                         [](Peer& peer) {
                           peer.greet();
                           peer.await_close();
                         }});
  Client client = connected(daemon);
  const int fd = client.fd();
  std::optional<Result<Lease>> lease;
  client.start_acquire(some_lease(), [&](Result<Lease> result) { lease = std::move(result); });
  while (!lease) {
    REQUIRE(readable(fd, 5000));
    REQUIRE(client.process().ok());
  }
  REQUIRE(lease->ok());
  // The connection breaks, is restored, and the validity ends: nothing but this descriptor tells.
  while (!(*lease)->lost()) {
    REQUIRE(readable(fd, 5000));
    REQUIRE(client.process().ok());
  }
  CHECK(client.fd() == fd);
  CHECK(client::boot_now_ns() < (*lease)->valid_until_boottime_ns() + 500'000'000);
}

TEST_CASE("an idle client does not wake its loop") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.grant_first(Milliseconds(60'000));
    peer.await_close();
  }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  (void)client.process();
  CHECK(!readable(client.fd(), 50));
}

TEST_CASE("a protocol error fails what was asked, and is not repeated") {
  ScriptedDaemon daemon({[](Peer& peer) {
                           peer.greet();
                           peer.expect<core::PingCall>();
                           peer.tell(core::ProtocolError{"The frame is not JSON"});
                         },
                         [](Peer& peer) {
                           peer.greet();
                           peer.await_close();
                         }});
  Client client = connected(daemon);
  const auto pong = client.ping();
  REQUIRE(!pong.ok());
  CHECK(pong.error().code == ErrorCode::protocol_violation);
  CHECK(pong.error().message.find("not JSON") != std::string::npos);
  CHECK(work_until(client, [&] { return client.connected(); }));
}

TEST_CASE("frames that break the limit close the connection") {
  ScriptedDaemon daemon({[](Peer& peer) {
                           peer.greet();
                           peer.expect<core::PingCall>();
                           peer.bytes(std::string("\xff\xff\xff\xff", 4));
                           peer.await_close();
                         },
                         [](Peer& peer) {
                           peer.greet();
                           peer.await_close();
                         }});
  Client client = connected(daemon);
  CHECK(client.ping().error().code == ErrorCode::protocol_violation);
  CHECK(work_until(client, [&] { return client.connected(); }));
}

TEST_CASE("answers that come byte by byte, in other order and in one piece are the same") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    peer.expect<core::PingCall>();
    const auto first = peer.id();
    peer.expect<core::PingCall>();
    peer.answer(core::PongAnswer{core::BackendState::unavailable, {}});
    peer.answer(first, core::PongAnswer{core::BackendState::ready, {}});
    const std::string payload = R"({"event":"backend_state","state":"unavailable"})";
    std::string frame(3, '\0');
    frame += static_cast<char>(payload.size());
    for (const char byte : frame + payload) peer.bytes(std::string(1, byte));
    peer.await_close();
  }});
  Client client = connected(daemon);
  std::vector<BackendState> states;
  bool told = false;
  client.on_event([&](const Event& event) { told = event.kind == EventKind::backend_state; });
  const auto note = [&](const Result<Pong>& pong) { states.push_back(pong->backend); };
  client.start_ping(5s, note);
  client.start_ping(5s, note);
  REQUIRE(work_until(client, [&] { return told; }));
  REQUIRE(states.size() == 2);
  CHECK(states[0] == BackendState::unavailable);
  CHECK(states[1] == BackendState::ready);
}

}  // namespace starlease::testing
