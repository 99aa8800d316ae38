// What the service does when the store hangs, breaks, loses answers, restarts or loses its data.
#include "tests/unit/service/world.hpp"

namespace starlease::testing {

TEST_CASE("a store that hangs costs the lease at validity less the margin, not later") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  world.store.stall(true);
  const auto last = lease.valid_until - core::margin(world.settings.policy, 2s);
  world.advance(last - world.clock.boot - 1ms);
  CHECK(worker.all<core::LeaseLost>().empty());
  world.advance(1ms);
  const auto lost = worker.all<core::LeaseLost>();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].reason == core::LossReason::backend_unavailable);
  CHECK(lost[0].valid_for >= 250ms);
}

TEST_CASE("a store that hangs for less than the validity costs nothing") {
  World world;
  Worker& worker = world.worker();
  world.acquire(worker);
  world.advance(500ms);
  world.store.stall(true);
  world.advance(700ms);
  world.store.stall(false);
  world.advance(20s);
  CHECK(worker.all<core::LeaseLost>().empty());
}

TEST_CASE("a lost answer to acquire is asked again under the same key: one token, one lease") {
  World world;
  Worker& worker = world.worker();
  world.store.lose_next_reply();
  const auto call = world.acquire_call();
  const Answered answered = world.ask(worker, call);
  world.advance(200ms);
  REQUIRE(answered->has_value());
  REQUIRE(**answered);
  const auto lease = std::get<core::GrantAnswer>(***answered);
  CHECK(world.store.counter(digest_of(identity())) == lease.grant.token.value);
  auto again = world.now(worker, call);
  REQUIRE(again);
  const auto& replay = std::get<core::GrantAnswer>(*again);
  CHECK(replay.grant.lease_id == lease.grant.lease_id);
  CHECK(replay.grant.token == lease.grant.token);
  REQUIRE(replay.replay);
  CHECK(replay.replay->current_state == core::LeaseState::active);
  CHECK(world.store.counter(digest_of(identity())) == lease.grant.token.value);
}

TEST_CASE("an acquire that is never answered is unknown at its deadline, and resolves on retry") {
  World world;
  Worker& worker = world.worker();
  world.store.stall(true);
  auto call = world.acquire_call();
  call.deadline.timeout = 300ms;
  const Answered answered = world.ask(worker, call);
  world.advance(299ms);
  CHECK(!answered->has_value());
  world.advance(2ms);
  REQUIRE(answered->has_value());
  CHECK(code_of(**answered) == core::FailureCode::lease_outcome_unknown);
  world.store.stall(false);
  CHECK(world.now(worker, call));
}

TEST_CASE("an unknown acquire of a worker that left is found and released") {
  World world;
  Worker& worker = world.worker();
  Worker& other = world.worker();
  world.store.lose_next_reply();
  auto call = world.acquire_call();
  call.deadline.timeout = 20ms;
  const Answered answered = world.ask(worker, call);
  world.advance(5ms);
  world.store.stall(true);
  world.advance(30ms);
  REQUIRE(answered->has_value());
  CHECK(code_of(**answered) == core::FailureCode::lease_outcome_unknown);
  world.service->disconnected(worker.session, worker, service::Departure::left);
  world.store.stall(false);
  world.advance(600ms);
  CHECK(world.now(other, world.acquire_call()));
}

TEST_CASE("a lease that is being given up is not renewed for a worker that came back") {
  World world;
  Worker& worker = world.worker();
  const auto call = world.acquire_call();
  auto outcome = world.now(worker, call);
  REQUIRE(outcome);
  const auto lease = std::get<core::GrantAnswer>(*outcome);
  world.store.stall(true);
  world.service->disconnected(worker.session, worker, service::Departure::left);
  world.advance(10ms);
  Worker& back = world.workers.emplace_back();
  world.greet(back, worker.hello);
  // The release may be done at any time from now on, so nothing may make the lease valid again.
  CHECK(code_of(world.now(back, world.renew_call(lease))) == core::FailureCode::lease_lost);
  const Answered replayed = world.ask(back, call);
  world.store.disconnect();
  world.store.stall(false);
  world.store.connect();
  world.advance(300ms);
  REQUIRE(replayed->has_value());
  REQUIRE(**replayed);
  const auto& past = std::get<core::GrantAnswer>(***replayed);
  REQUIRE(past.replay);
  CHECK(past.replay->current_state == core::LeaseState::released);
  CHECK(past.valid_for <= 0ms);
  CHECK(!world.store.held(digest_of(identity())));
}

TEST_CASE("an unknown acquire that its worker claims after a reconnect is not released") {
  World world;
  Worker& worker = world.worker();
  world.store.lose_next_reply();
  auto call = world.acquire_call();
  call.deadline.timeout = 20ms;
  const Answered answered = world.ask(worker, call);
  world.advance(5ms);
  world.store.stall(true);
  world.advance(30ms);
  REQUIRE(answered->has_value());
  world.service->disconnected(worker.session, worker, service::Departure::left);
  world.store.stall(false);
  Worker& back = world.workers.emplace_back();
  world.greet(back, worker.hello);
  call.deadline.timeout = 1s;
  REQUIRE(world.now(back, call));
  world.advance(20s);
  CHECK(back.all<core::LeaseLost>().empty());
  CHECK(world.store.held(digest_of(identity())));
}

TEST_CASE("an unknown acquire that was claimed and told lost since is not released by itself") {
  World world;
  Worker& worker = world.worker();
  world.store.lose_next_reply();
  auto call = world.acquire_call();
  call.heartbeat = 300ms;
  call.deadline.timeout = 20ms;
  const Answered answered = world.ask(worker, call);
  world.advance(5ms);
  world.store.stall(true);
  world.advance(30ms);
  REQUIRE(answered->has_value());
  world.service->disconnected(worker.session, worker, service::Departure::left);
  world.store.stall(false);
  Worker& back = world.workers.emplace_back();
  world.greet(back, worker.hello);
  call.deadline.timeout = 1s;
  REQUIRE(world.now(back, call));
  world.advance(700ms);
  CHECK(back.all<core::LeaseLost>().size() == 1);
  // Its validity has not ended, and a worker that does not listen may rely on it as long as that.
  CHECK(world.store.held(digest_of(identity())));
}

TEST_CASE("without a link nothing is submitted and the answer says so at once") {
  World world;
  Worker& worker = world.worker();
  world.store.disconnect();
  auto refused = world.now(worker, world.acquire_call());
  CHECK(code_of(refused) == core::FailureCode::lease_backend_unavailable);
  CHECK(refused.error().retry_after.has_value());
  CHECK(std::get<core::BackendStateChanged>(worker.events.back()).state ==
        core::BackendState::unavailable);
}

TEST_CASE("a lease that was told lost is given back once its worker has gone") {
  World world;
  Worker& worker = world.worker();
  auto call = world.acquire_call();
  call.heartbeat = 500ms;
  REQUIRE(world.now(worker, call));
  world.advance(600ms);
  REQUIRE(worker.all<core::LeaseLost>().size() == 1);
  CHECK(world.store.held(digest_of(identity())));
  world.service->disconnected(worker.session, worker, service::Departure::left);
  world.advance(2ms);
  CHECK(!world.store.held(digest_of(identity())));
}

TEST_CASE("data that went back may lack the longest TTL: the grace is the policy's maximum") {
  for (const bool writes_survive : {true, false}) {
    auto settings = short_settings();
    settings.recovery.writes_survive = writes_survive;
    World world(settings);
    Worker& worker = world.worker();
    const auto older = world.store.data();
    world.acquire(worker);
    world.store.disconnect();
    // Where writes survive, only data that is provably older asks for the longer grace.
    if (writes_survive) {
      world.store.restart_with(older);
    } else {
      world.store.restart();
    }
    world.store.connect();
    world.advance(8s);
    CHECK(code_of(world.now(worker, world.acquire_call())) ==
          core::FailureCode::lease_backend_unavailable);
    world.advance(3500ms);
    CHECK(world.now(worker, world.acquire_call()));
  }
}

TEST_CASE("a restarted store is recovered: leases lost, grace kept, tokens higher") {
  World world;
  Worker& worker = world.worker();
  const auto before = world.acquire(worker);
  world.store.disconnect();
  world.store.restart();
  world.store.connect();
  world.advance(1100ms);
  const auto lost = worker.all<core::LeaseLost>();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].reason == core::LossReason::recovered);
  CHECK(lost[0].state == core::LeaseState::revoked);
  auto refused = world.now(worker, world.acquire_call());
  CHECK(code_of(refused) == core::FailureCode::lease_backend_unavailable);
  CHECK(refused.error().retry_after.value() <= 2s);
  CHECK(refused.error().message.find("every earlier lease has ended") != std::string::npos);
  const auto gate = [&] {
    auto told = world.now(worker, core::NamespaceCall{core::NamespaceAction::status});
    return std::get<core::NamespaceAnswer>(*told).partitions.at(0).state;
  };
  CHECK(gate() == "grace");
  world.advance(2s);
  CHECK(gate() == "serving");
  const auto after = world.acquire(worker);
  CHECK(after.grant.token > before.grant.token);
}

TEST_CASE("a bounded wait waits through recovery and its grace") {
  World world;
  Worker& worker = world.worker();
  world.acquire(worker, "other");
  world.store.disconnect();
  auto call = world.acquire_call();
  call.wait = 20s;
  call.deadline.timeout = 30s;
  const Answered answered = world.ask(worker, call);
  world.store.wipe();
  world.store.connect();
  world.advance(2s);
  CHECK(!answered->has_value());
  world.advance(12s);
  REQUIRE(answered->has_value());
  CHECK(**answered);
}

TEST_CASE("tokens grow although the store lost everything") {
  World world;
  Worker& worker = world.worker();
  const auto before = world.acquire(worker);
  world.store.disconnect();
  world.store.wipe();
  world.store.connect();
  world.advance(13s);
  const auto after = world.acquire(worker);
  CHECK(after.grant.token > before.grant.token);
}

TEST_CASE("trust-durable keeps leases over a restart with its data, and not over lost data") {
  auto settings = short_settings();
  settings.recovery.on_restart = service::OnRestart::trust_durable;
  World world(settings);
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  world.store.disconnect();
  world.store.restart();
  world.store.connect();
  world.advance(4s);
  CHECK(worker.all<core::LeaseLost>().empty());
  CHECK(world.now(worker, world.renew_call(lease)));
  world.store.disconnect();
  world.store.wipe();
  world.store.connect();
  world.advance(2s);
  CHECK(worker.all<core::LeaseLost>().size() == 1);
}

TEST_CASE("trust-durable keeps no lease where nothing shows that the data survived") {
  for (const bool writes_survive : {true, false}) {
    auto settings = short_settings();
    settings.recovery.on_restart = service::OnRestart::trust_durable;
    settings.recovery.writes_survive = writes_survive;
    World world(settings);
    Worker& worker = world.worker();
    world.acquire(worker);
    world.store.disconnect();
    world.store.restart();
    if (writes_survive) {
      // A daemon that starts without a memory has nothing to compare the data with.
      world.service.reset();
      world.state.memory.clear();
      world.restart_daemon();
    } else {
      world.store.connect();
    }
    Worker& later = world.worker();
    world.advance(1100ms);
    CHECK(code_of(world.now(later, world.acquire_call())) ==
          core::FailureCode::lease_backend_unavailable);
    world.advance(12s);
    CHECK(world.now(later, world.acquire_call()));
  }
}

TEST_CASE("a release under way when its worker's connection breaks ends the lease all the same") {
  World world;
  Worker& worker = world.worker();
  auto call = world.acquire_call();
  call.on_disconnect = core::OnDisconnect::keep;
  const auto outcome = world.now(worker, call);
  REQUIRE(outcome);
  const auto lease = std::get<core::GrantAnswer>(*outcome);
  const Answered answered = world.ask(worker, world.release_call(lease));
  world.service->disconnected(worker.session, worker, service::Departure::left);
  world.advance(3s);
  CHECK(answered->has_value());
  CHECK(!world.store.held(digest_of(identity())));
  Worker& again = world.workers.emplace_back();
  world.greet(again, worker.hello);
  CHECK(again.events.empty());
}

TEST_CASE("a renewal that fails does not take up again what is left to expire") {
  World world;
  Worker& worker = world.worker();
  auto call = world.acquire_call();
  call.on_disconnect = core::OnDisconnect::keep;
  REQUIRE(world.now(worker, call));
  world.store.stall(true);
  world.advance(800ms);  // a renewal is under way
  world.service->disconnected(worker.session, worker, service::Departure::left);
  world.advance(600ms);
  world.store.stall(false);
  world.advance(1s);
  CHECK(!world.store.held(digest_of(identity())));
}

TEST_CASE("requests under way count against the bounds on leases") {
  auto settings = short_settings();
  settings.admission.max_leases_per_session = 3;
  World world(settings);
  Worker& worker = world.worker();
  std::vector<Answered> asked;
  for (const char* target : {"a", "b", "c", "d", "e"}) {
    asked.push_back(world.ask(worker, world.acquire_call(target)));
  }
  world.advance(10ms);
  int granted = 0;
  for (const Answered& one : asked) {
    REQUIRE(one->has_value());
    granted += (**one).has_value() ? 1 : 0;
    if (!**one) CHECK(code_of(**one) == core::FailureCode::lease_rate_limited);
  }
  CHECK(granted == 3);
}

TEST_CASE("a principal that asks too often waits, and the others do not") {
  auto settings = short_settings();
  settings.admission.requests_per_second = 5;
  World world(settings);
  Worker& busy = world.worker();
  Worker& other = world.worker(1001);
  const core::InspectCall inspect{identity(), std::nullopt};
  for (int i = 0; i < 5; ++i) static_cast<void>(world.now(busy, inspect));
  const auto calls = world.store.calls();
  const auto refused = world.now(busy, inspect);
  CHECK(code_of(refused) == core::FailureCode::lease_rate_limited);
  CHECK(refused.error().retry_after.value() <= 200ms);
  CHECK(world.store.calls() == calls);
  CHECK(world.now(busy, core::PingCall{}));
  CHECK(world.now(other, world.acquire_call("target-2")));
  world.advance(200ms);
  CHECK(code_of(world.now(busy, inspect)) == core::FailureCode::lease_not_found);
}

TEST_CASE("a replayed acquisition answers the original times") {
  World world;
  Worker& worker = world.worker();
  const auto call = world.acquire_call();
  const auto first = world.now(worker, call);
  REQUIRE(first);
  world.advance(1500ms);  // renewed meanwhile
  const auto again = world.now(worker, call);
  REQUIRE(again);
  const auto& replayed = std::get<core::GrantAnswer>(*again);
  CHECK(replayed.grant == std::get<core::GrantAnswer>(*first).grant);
  CHECK(replayed.replay.has_value());
  CHECK(replayed.valid_until > std::get<core::GrantAnswer>(*first).valid_until);
}

TEST_CASE("a renewal with a shorter TTL does not bring the end nearer") {
  World world;
  Worker& worker = world.worker();
  auto call = world.acquire_call();
  call.ttl = 8s;
  call.renew = core::RenewMode::manual;
  const auto outcome = world.now(worker, call);
  REQUIRE(outcome);
  const auto lease = std::get<core::GrantAnswer>(*outcome);
  auto shorter = world.renew_call(lease);
  shorter.ttl = 1s;
  world.store.lose_next_reply();  // whoever relies on the first end never hears of this
  static_cast<void>(world.ask(worker, shorter));
  world.advance(3s);
  CHECK(world.store.held(digest_of(identity())));
  CHECK(worker.all<core::LeaseLost>().empty());
}

TEST_CASE("recovery is refused while the clocks of host and store differ too much") {
  World world;
  Worker& worker = world.worker();
  world.acquire(worker);
  world.store.disconnect();
  world.store.restart();
  world.backend_step = 2s;
  world.store.connect();
  world.advance(5s);
  CHECK(world.service->backend() == core::BackendState::recovering);
  world.backend_step = 0ms;
  world.advance(5s);
  CHECK(world.service->backend() == core::BackendState::ready);
}

TEST_CASE("a corrupt record is never acquired over") {
  World world;
  Worker& worker = world.worker();
  world.store.corrupt(digest_of(identity()));
  CHECK(code_of(world.now(worker, world.acquire_call())) ==
        core::FailureCode::lease_backend_unavailable);
}

TEST_CASE("a release whose answer was lost is repeated and ends the lease once") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  world.store.lose_next_reply();
  const Answered answered = world.ask(worker, world.release_call(lease));
  world.advance(200ms);
  REQUIRE(answered->has_value());
  REQUIRE(**answered);
  CHECK(std::get<core::ReleasedAnswer>(***answered).replay.has_value());
  CHECK(worker.all<core::LeaseLost>().empty());
  CHECK(world.now(worker, world.acquire_call()));
}

}  // namespace starlease::testing
