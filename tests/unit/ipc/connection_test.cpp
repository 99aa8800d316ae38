// A connection as its peer sees it: order, errors, bounds. The whole daemon minus libuv and Valkey.
#include <deque>

#include "daemon/ipc/connection.hpp"
#include "daemon/ipc/endpoint.hpp"
#include "tests/support/pipe_stream.hpp"
#include "tests/unit/service/world.hpp"

namespace starlease::testing {
namespace {

const std::string hello = R"({"id":1,"op":"hello","protocol":1,"client":"test/1"})";

std::string acquire(int id, const std::string& target = "target-1", const std::string& more = "") {
  return R"({"id":)" + std::to_string(id) + R"(,"op":"acquire","request_id":"r-)" +
         std::to_string(id) +
         R"(","identity":{"tenant_id":"t","program_id":"p","target_namespace":"n","target_id":")" +
         target + R"(","actor_name":"a"})" + more + "}";
}

struct Host {
  Host() { endpoint.start(); }

  Peer& connect(std::uint32_t uid = 1000) {
    Peer& peer = peers.emplace_back();
    listener.connect(
        std::make_unique<PipeStream>(peer, world.timers, base::PeerIdentity{uid, uid, 77}));
    return peer;
  }
  Peer& greeted() {
    Peer& peer = connect();
    peer.send(hello);
    REQUIRE(peer.frames().size() == 1);
    peer.received.clear();
    return peer;
  }

  World world;
  std::deque<Peer> peers;
  PipeListener listener;
  ipc::IpcSettings settings;
  ipc::Endpoint endpoint{settings, world.seams, listener, *world.service, ipc::Audience::workers};
};

bool has(const std::string& frame, std::string_view part) { return frame.contains(part); }

}  // namespace

TEST_CASE("hello comes first; what comes before it is refused and the connection stays") {
  Host host;
  Peer& peer = host.connect();
  peer.send(R"({"id":"x","op":"ping"})");
  REQUIRE(peer.frames().size() == 1);
  CHECK(has(peer.frames()[0], R"("code":"invalid_lease_request")"));
  CHECK(has(peer.frames()[0], R"("field":"op")"));
  peer.send(hello);
  REQUIRE(peer.frames().size() == 2);
  CHECK(has(peer.frames()[1], R"("code":"hello")"));
  CHECK(!peer.closed);
}

TEST_CASE("a stranger and another version are answered, then closed") {
  Host host;
  Peer& stranger = host.connect(4242);
  stranger.send(hello);
  CHECK(has(stranger.frames().at(0), R"("code":"invalid_credential")"));
  CHECK(stranger.closed);
  Peer& other = host.connect();
  other.send(R"({"id":1,"op":"hello","protocol":9,"client":"test/1"})");
  CHECK(has(other.frames().at(0), R"("field":"protocol")"));
  CHECK(other.closed);
}

TEST_CASE("a broken frame is told and closes only that connection") {
  Host host;
  Peer& good = host.greeted();
  for (const std::string_view bad :
       {std::string_view("\0\0\0\0", 4), std::string_view("\xff\xff\xff\xff", 4)}) {
    Peer& peer = host.greeted();
    peer.send_bytes(bad);
    CHECK(has(peer.frames().at(0), R"("event":"protocol_error")"));
    CHECK(has(peer.frames().at(0), R"("code":"invalid_frame")"));
    CHECK(peer.closed);
  }
  for (const char* bad : {"[]", "{", R"({"id":1,"id":2,"op":"ping"})", R"({"id":1,"op":"ping"} x)",
                          "{\"id\":1,\"op\":\"\xff\"}"}) {
    Peer& peer = host.greeted();
    peer.send(bad);
    CHECK(has(peer.frames().at(0), R"("code":"invalid_frame")"));
    CHECK(peer.closed);
  }
  good.send(R"({"id":5,"op":"ping"})");
  CHECK(has(good.frames().at(0), R"("code":"pong")"));
}

TEST_CASE("requests are pipelined and one byte at a time is the same") {
  Host host;
  Peer& peer = host.greeted();
  std::string bytes = ipc::encode_frame(acquire(1)) + ipc::encode_frame(R"({"id":2,"op":"ping"})");
  for (const char byte : bytes) peer.send_bytes({&byte, 1});
  host.world.advance(1ms);
  REQUIRE(peer.frames().size() == 2);
  CHECK(has(peer.frames()[0], R"("id":2)"));  // ping needs no store
  CHECK(has(peer.frames()[1], R"("id":1)"));
  CHECK(has(peer.frames()[1], R"("code":"lease_acquired")"));
  CHECK(peer.watched);
}

TEST_CASE("a loss is the first frame after a stall, before the answer that was under way") {
  Host host;
  Peer& peer = host.greeted();
  peer.send(acquire(1));
  host.world.advance(1ms);
  peer.received.clear();
  peer.send(acquire(2, "target-2"));
  host.world.stall(5s);
  REQUIRE(peer.frames().size() == 1);
  CHECK(has(peer.frames()[0], R"("event":"lease_lost")"));
}

TEST_CASE("too many requests under way pause reading until half are answered") {
  Host host;
  host.world.store.stall(true);
  Peer& peer = host.greeted();
  for (int i = 0; i < 128; ++i) peer.send(acquire(i + 10, "t" + std::to_string(i)));
  CHECK(peer.paused);
  host.world.advance(6s);
  CHECK(!peer.paused);
  CHECK(peer.frames().size() == 128);
}

TEST_CASE("a peer that does not read is closed, and its leases stay until they expire") {
  Host host;
  Peer& slow = host.greeted();
  slow.send(acquire(1));
  host.world.advance(1ms);
  slow.outbound_max = slow.received.size();
  slow.send(R"({"id":2,"op":"ping"})");
  CHECK(slow.closed);
  host.world.advance(5ms);
  Peer& next = host.greeted();
  next.send(acquire(3));
  host.world.advance(1900ms);
  CHECK(has(next.frames().at(0), R"("code":"lease_conflict")"));
  next.send(acquire(4));
  host.world.advance(200ms);
  next.send(acquire(5));
  host.world.advance(5ms);
  CHECK(has(next.frames().at(1), R"("code":"lease_conflict")"));
  CHECK(has(next.frames().at(2), R"("code":"lease_acquired")"));
}

TEST_CASE("a broken frame does not take the lease from a worker that may still rely on it") {
  Host host;
  Peer& broken = host.greeted();
  broken.send(acquire(1));
  host.world.advance(1ms);
  broken.send("[]");
  CHECK(broken.closed);
  host.world.advance(5ms);
  Peer& next = host.greeted();
  next.send(acquire(3));
  host.world.advance(5ms);
  CHECK(has(next.frames().at(0), R"("code":"lease_conflict")"));
}

TEST_CASE("at the end of a drain the worker is told all, and what it still says is not handled") {
  Host host;
  Peer& peer = host.greeted();
  peer.send(acquire(1));
  host.world.advance(1ms);
  bool drained = false;
  host.world.service->drain([&] { drained = true; });
  host.world.advance(600ms);
  CHECK(has(peer.frames().back(), R"("event":"lease_lost")"));
  CHECK(peer.ended);
  CHECK(!drained);
  const auto told = peer.frames().size();
  peer.send(R"({"id":2,"op":"ping"})");
  CHECK(peer.frames().size() == told);
  peer.handler->on_closed();
  host.world.advance(5ms);
  CHECK(drained);
}

TEST_CASE("goodbye is answered, releases, and closes") {
  Host host;
  Peer& peer = host.greeted();
  peer.send(acquire(1));
  host.world.advance(1ms);
  peer.received.clear();
  peer.send(R"({"id":2,"op":"goodbye"})");
  CHECK(has(peer.frames().at(0), R"("code":"goodbye")"));
  CHECK(peer.closed);
  host.world.advance(5ms);
  Peer& next = host.greeted();
  next.send(acquire(3));
  host.world.advance(5ms);
  CHECK(has(next.frames().at(0), R"("code":"lease_acquired")"));
}

TEST_CASE("a connection that never says hello is closed in time, others stay") {
  Host host;
  Peer& silent = host.connect();
  Peer& good = host.greeted();
  host.world.advance(9s);
  CHECK(!silent.closed);
  host.world.advance(2s);
  CHECK(silent.closed);
  CHECK(!good.closed);
}

TEST_CASE("admin operations are not for workers") {
  Host host;
  Peer& peer = host.greeted();
  peer.send(R"({"id":2,"op":"stats"})");
  CHECK(has(peer.frames().at(0), R"("field":"op")"));
}

TEST_CASE("one connection takes the instance of another over and the first is closed") {
  Host host;
  Peer& first = host.connect();
  first.send(hello);
  const std::string answer = first.frames().at(0);
  const auto member = [&answer](std::string_view name) {
    const std::string key = "\"" + std::string(name) + "\":\"";
    const auto at = answer.find(key) + key.size();
    return answer.substr(at, answer.find('"', at) - at);
  };
  Peer& second = host.connect();
  second.send(R"({"id":1,"op":"hello","protocol":1,"client":"test/1","service_instance_id":")" +
              member("service_instance_id") + R"(","resume":")" + member("resume") + "\"}");
  CHECK(has(second.frames().at(0), R"("code":"hello")"));
  CHECK(first.closed);
}

}  // namespace starlease::testing
