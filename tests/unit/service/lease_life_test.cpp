// A lease's life in one daemon: granted, renewed by itself, released, lost at its end.
#include "tests/unit/service/world.hpp"

namespace starlease::testing {

TEST_CASE("acquire grants and tells validity counted from before the store was asked") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  CHECK(lease.grant.ttl == 2s);
  CHECK(lease.valid_for <= 2s - core::drift_allowance(world.settings.policy, 2s));
  CHECK(lease.valid_for > 1900ms);
  CHECK(lease.envelope.lock_key == core::lock_key(digest_of(identity())));
  CHECK(worker.watched);
}

TEST_CASE("a held lease renews itself over many TTLs without a word from the worker") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  world.advance(20s);
  CHECK(worker.all<core::LeaseLost>().empty());
  auto inspected = world.now(worker, core::InspectCall{identity(), {}});
  REQUIRE(inspected);
  const auto& seen = std::get<core::InspectedAnswer>(*inspected);
  CHECK(seen.state == core::LeaseState::active);
  CHECK(seen.grant.token == lease.grant.token);
  CHECK(seen.grant.renewed_at > lease.grant.renewed_at + 18s);
}

TEST_CASE("release frees the lock and the next grant has a higher token") {
  World world;
  Worker& worker = world.worker();
  const auto first = world.acquire(worker);
  REQUIRE(world.now(worker, world.release_call(first)));
  const auto second = world.acquire(worker);
  CHECK(second.grant.token > first.grant.token);
  CHECK(second.grant.lease_id != first.grant.lease_id);
  CHECK(worker.all<core::LeaseLost>().empty());
}

TEST_CASE("a second acquire conflicts, names no owner and says when to retry") {
  World world;
  Worker& one = world.worker();
  Worker& two = world.worker();
  world.acquire(one);
  auto refused = world.now(two, world.acquire_call());
  CHECK(code_of(refused) == core::FailureCode::lease_conflict);
  CHECK(refused.error().retry_after.value() <= 2s);
  CHECK(!refused.error().held_by_caller);
  auto own = world.now(one, world.acquire_call());
  CHECK(code_of(own) == core::FailureCode::lease_conflict);
  CHECK(own.error().held_by_caller);
}

TEST_CASE("the maximum lifetime is announced once and then ends the lease with that reason") {
  auto settings = short_settings();
  settings.policy.maximum_lifetime = 10s;
  World world(settings);
  Worker& worker = world.worker();
  world.acquire(worker);
  world.advance(9s);
  REQUIRE(worker.all<core::LeaseExpiring>().size() == 1);
  CHECK(worker.all<core::LeaseExpiring>()[0].remaining <= 2s);
  CHECK(worker.all<core::LeaseLost>().empty());
  world.advance(2s);
  const auto lost = worker.all<core::LeaseLost>();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].reason == core::LossReason::maximum_lifetime);
  CHECK(lost[0].valid_for >= 0ms);
}

TEST_CASE("a manual lease is not renewed and is lost as expired") {
  World world;
  Worker& worker = world.worker();
  auto call = world.acquire_call();
  call.renew = core::RenewMode::manual;
  REQUIRE(world.now(worker, call));
  world.advance(3s);
  const auto lost = worker.all<core::LeaseLost>();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].reason == core::LossReason::expired);
}

TEST_CASE("a worker that goes silent loses its lease by heartbeat, one that speaks keeps it") {
  World world;
  Worker& worker = world.worker();
  auto call = world.acquire_call();
  call.heartbeat = 3s;
  REQUIRE(world.now(worker, call));
  for (int i = 0; i < 5; ++i) {
    world.advance(2s);
    world.service->heard(worker.session);
  }
  CHECK(worker.all<core::LeaseLost>().empty());
  world.advance(4s);
  const auto lost = worker.all<core::LeaseLost>();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].reason == core::LossReason::heartbeat_missed);
}

TEST_CASE("after lease_lost every operation on that lease answers lease_lost") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  world.stall(5s);
  REQUIRE(worker.all<core::LeaseLost>().size() == 1);
  CHECK(code_of(world.now(worker, world.renew_call(lease))) == core::FailureCode::lease_lost);
  CHECK(code_of(world.now(worker, world.release_call(lease))) == core::FailureCode::lease_lost);
}

TEST_CASE("a daemon stopped for longer than the TTL tells the loss before anything else") {
  World world;
  Worker& worker = world.worker();
  world.acquire(worker);
  world.advance(100ms);
  const Answered pending = world.ask(worker, core::InspectCall{identity(), {}});
  world.stall(4s);
  REQUIRE(worker.events.size() == 1);
  const auto lost = worker.all<core::LeaseLost>();
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].valid_for < 0ms);
  CHECK(!pending->has_value());
}

TEST_CASE("a wrong token or a lease of another session is lost, and the holder keeps his") {
  World world;
  Worker& one = world.worker();
  Worker& two = world.worker();
  const auto lease = world.acquire(one);
  auto renew = world.renew_call(lease);
  renew.token.value += 1;
  CHECK(code_of(world.now(one, renew)) == core::FailureCode::lease_lost);
  CHECK(code_of(world.now(two, world.renew_call(lease))) == core::FailureCode::lease_lost);
  CHECK(code_of(world.now(two, world.release_call(lease))) == core::FailureCode::lease_lost);
  world.advance(5s);
  CHECK(one.all<core::LeaseLost>().empty());
}

TEST_CASE("every request leaves one audit event with its code") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  (void)world.now(worker, world.acquire_call());
  (void)world.now(worker, world.release_call(lease));
  REQUIRE(world.audit.events.size() == 3);
  CHECK(world.audit.events[0].code == "lease_acquired");
  CHECK(world.audit.events[1].code == "lease_conflict");
  CHECK(world.audit.events[1].retryable);
  CHECK(world.audit.events[2].code == "lease_released");
  CHECK(world.audit.events[0].correlation_id != world.audit.events[1].correlation_id);
}

TEST_CASE("after a stall losses are told before anything else of other leases") {
  World world;
  Worker& worker = world.worker();
  auto hasty = world.acquire_call("hasty");  // its lifetime ends soon: that is told too
  hasty.maximum_lifetime = 4s;
  hasty.ttl = 4s;
  REQUIRE(world.now(worker, hasty));
  world.advance(2s);
  auto manual = world.acquire_call("manual");
  manual.renew = core::RenewMode::manual;
  manual.ttl = 1500ms;
  REQUIRE(world.now(worker, manual));
  const std::size_t told = worker.events.size();
  world.stall(1390ms);
  REQUIRE(worker.events.size() == told + 2);
  CHECK(std::holds_alternative<core::LeaseLost>(worker.events[told]));
  CHECK(std::holds_alternative<core::LeaseExpiring>(worker.events[told + 1]));
}

}  // namespace starlease::testing
