// The operations one by one: what is asked, what is made of the answer.
#include "tests/unit/client/fixture.hpp"

namespace starlease::testing {
namespace {

core::InspectedAnswer ended_lease() {
  core::InspectedAnswer answer;
  const auto grant = granted({}, Milliseconds(0), 6);
  answer.identity = grant.identity;
  answer.grant = grant.grant;
  answer.state = core::LeaseState::revoked;
  answer.ended_at = core::backend_time(1'786'000'002'000);
  answer.end_reason = "recovered";
  return answer;
}

}  // namespace

TEST_CASE("acquire asks for all that its options say") {
  core::AcquireCall asked;
  ScriptedDaemon daemon({[&](Peer& peer) {
    peer.greet();
    asked = peer.expect<core::AcquireCall>();
    peer.answer(granted(asked, Milliseconds(5000)));
    peer.await_close();
  }});
  Client client = connected(daemon);
  AcquireOptions options = some_lease();
  options.identity.operation_class = "scan";
  options.ttl = 3s;
  options.maximum_lifetime = 60s;
  options.wait = 1s;
  options.heartbeat = 500ms;
  options.request_id = "r-1";
  options.execution_id = "e-1";
  options.job_id = "j-1";
  options.trace_id = "t-1";
  options.metadata_json = R"({"a":[1,2]})";
  options.auto_renew = false;
  auto lease = client.acquire(options);
  REQUIRE(lease.ok());
  CHECK(*asked.identity.components[6] == "scan");
  CHECK(*asked.ttl == 3s);
  CHECK(*asked.maximum_lifetime == 60s);
  CHECK(asked.wait == 1s);
  CHECK(asked.heartbeat == 500ms);
  CHECK(asked.request_id.value == "r-1");
  CHECK(asked.work.execution.value == "e-1");
  CHECK(asked.work.job.value == "j-1");
  CHECK(asked.work.trace.value == "t-1");
  CHECK(asked.metadata == R"({"a":[1,2]})");
  CHECK(asked.renew == core::RenewMode::manual);
  CHECK(asked.on_disconnect == core::OnDisconnect::release);
}

TEST_CASE("list and history ask for a page and give it with its cursor") {
  core::ListCall listing;
  core::HistoryCall ending;
  ScriptedDaemon daemon({[&](Peer& peer) {
    peer.greet();
    listing = peer.expect<core::ListCall>();
    peer.answer(core::ListedAnswer{{ended_lease()}, "cursor-2"});
    ending = peer.expect<core::HistoryCall>();
    peer.answer(core::HistoryAnswer{{ended_lease(), ended_lease()}, ""});
    peer.await_close();
  }});
  Client client = connected(daemon);
  ListFilter filter;
  filter.by = ListBy::program;
  filter.tenant_id = "t";
  filter.program_id = "p";
  const auto leases = client.list(filter, {20, "cursor-1"});
  REQUIRE(leases.ok());
  CHECK(leases->leases.size() == 1);
  CHECK(leases->next_cursor == "cursor-2");
  CHECK(listing.by == core::ListBy::program);
  CHECK(*listing.target.components[1] == "p");
  CHECK_FALSE(listing.target.components[2]);
  CHECK(listing.page.size == 20);
  CHECK(listing.page.cursor == "cursor-1");
  const auto endings = client.history(some_lease().identity);
  REQUIRE(endings.ok());
  CHECK(endings->history.size() == 2);
  CHECK(endings->history[0].end_reason == "recovered");
  CHECK(endings->next_cursor.empty());
  CHECK_FALSE(ending.page.size);
  CHECK_FALSE(ending.page.cursor);
}

TEST_CASE("renew extends the lease") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.grant_first(Milliseconds(2000));
    for (int i = 0; i < 2; ++i) {
      const auto call = peer.expect<core::RenewCall>();
      CHECK(call.token.value == 1);
      peer.answer(renewed(call, Milliseconds(8000 + 1000 * i)));
    }
    peer.await_close();
  }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  std::int64_t before = lease->valid_until_boottime_ns();
  REQUIRE(client.renew(*lease, 8s).ok());
  CHECK(lease->valid_until_boottime_ns() > before);
  CHECK(lease->grant().lease.ttl == 8s);
  before = lease->valid_until_boottime_ns();
  bool done = false;
  client.start_renew(*lease, {}, {}, [&](const Result<Grant>& grant) { done = grant.ok(); });
  REQUIRE(work_until(client, [&] { return done; }));
  CHECK(lease->valid_until_boottime_ns() > before);
}

TEST_CASE("release gives the lease back once, and waits for the answer") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    for (std::int64_t token = 1; token <= 2; ++token) {
      peer.answer(granted(peer.expect<core::AcquireCall>(), Milliseconds(5000), token));
      peer.answer(released(peer.expect<core::ReleaseCall>()));
    }
    CHECK_THROWS_AS(peer.next(), ScriptError);
  }});
  {
    Client client = connected(daemon);
    auto lease = client.acquire(some_lease());
    REQUIRE(lease.ok());
    const auto answer = client.release(std::move(*lease));
    REQUIRE(answer.ok());
    CHECK(answer->lease_id == "lease_1");
    CHECK(to_rfc3339(answer->released_at).ends_with("Z"));
    auto second = client.acquire(some_lease());
    REQUIRE(second.ok());
    bool done = false;
    client.start_release(std::move(*second), {},
                         [&](const Result<Released>& result) { done = result.ok(); });
    CHECK(work_until(client, [&] { return done; }));
    CHECK(client.release(Lease()).error().code == ErrorCode::lease_lost);
  }
  CHECK(daemon.finish() == "");
}

TEST_CASE("leases of another session are renewed and released by id") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    const auto renewal = peer.expect<core::RenewCall>();
    CHECK(renewal.request_id.value == "r-2");
    peer.answer(renewed(renewal, Milliseconds(5000)));
    peer.answer(released(peer.expect<core::ReleaseCall>()));
    peer.await_close();
  }});
  Client client = connected(daemon);
  const auto grant = client.renew_by_id("lease_9", 9, {}, {5s, "r-2"});
  REQUIRE(grant.ok());
  CHECK(grant->lease.fencing_token == 9);
  CHECK(client.release_by_id("lease_9", 9).ok());
}

TEST_CASE("inspect and resolve tell what the daemon knows") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    CHECK(peer.expect<core::InspectCall>().identity.has_value());
    peer.answer(ended_lease());
    CHECK(peer.expect<core::InspectCall>().lease_id->value == "lease_6");
    peer.refuse(core::FailureCode::lease_not_found);
    const auto resolve = peer.expect<core::ResolveCall>();
    CHECK(resolve.operation == core::Operation::acquire);
    core::ResolvedAnswer answer;
    answer.committed = true;
    answer.result = granted({}, Milliseconds(100), 6);
    answer.current_state = core::LeaseState::expired;
    peer.answer(answer);
    peer.expect<core::ResolveCall>();
    peer.answer(core::ResolvedAnswer{});
    peer.await_close();
  }});
  Client client = connected(daemon);
  const Identity identity = some_lease().identity;
  const auto found = client.inspect(identity);
  REQUIRE(found.ok());
  CHECK(found->lease.state == LeaseState::revoked);
  CHECK(found->end_reason == "recovered");
  CHECK(found->ended_at.has_value());
  CHECK(client.inspect_lease("lease_6").error().code == ErrorCode::lease_not_found);
  const auto resolved = client.resolve("r-1", Operation::acquire, identity);
  REQUIRE(resolved.ok());
  CHECK(resolved->committed);
  CHECK(std::get<Grant>(resolved->result).lease.fencing_token == 6);
  CHECK(*resolved->current_state == LeaseState::expired);
  CHECK(!client.resolve("r-2", Operation::release, identity)->committed);
}

TEST_CASE("goodbye ends the session and what it holds") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.grant_first(Milliseconds(5000));
    peer.expect<core::GoodbyeCall>();
    peer.answer(core::GoodbyeAnswer{});
    peer.await_close();
  }});
  Client client = connected(daemon);
  auto lease = client.acquire(some_lease());
  REQUIRE(lease.ok());
  CHECK(client.goodbye().ok());
  CHECK(lease->lost());
  CHECK(lease->loss()->reason == LossReason::released);
  CHECK(!client.ping().ok());
}

TEST_CASE("what would break the connection is refused before it is sent") {
  ScriptedDaemon daemon({[](Peer& peer) {
    peer.greet();
    peer.expect<core::PingCall>();
    peer.answer(core::PongAnswer{core::BackendState::ready, {}});
    peer.await_close();
  }});
  Client client = connected(daemon);
  AcquireOptions options = some_lease();
  options.metadata_json = R"({"a":1,"a":2})";
  auto error = client.acquire(options).error();
  CHECK(error.code == ErrorCode::invalid_lease_request);
  CHECK(error.field == "metadata");
  options = some_lease();
  options.identity.target_id = "\xff";
  CHECK(client.acquire(options).error().field == "identity.target_id");
  options = some_lease();
  options.metadata_json = "{\"a\":\"" + std::string(300'000, 'x') + "\"}";
  CHECK(client.acquire(options).error().code == ErrorCode::invalid_lease_request);
  CHECK(client.renew_by_id("\xff", 1).error().field == "lease_id");
  CHECK(client.resolve("\xff", Operation::renew, some_lease().identity).error().field ==
        "request_id");
  CHECK(client.ping().ok());
}

}  // namespace starlease::testing
