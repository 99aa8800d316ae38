// The model's rules, each at its edge: exclusion, tokens through every loss, replays, recovery.
#include "lib/store/memory_backend.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace starlease::store {
namespace {

using namespace std::chrono_literals;

/// One partition on a clock in the test's hand, and commands with fresh request ids.
struct World {
  World() { CHECK(backend.init_gate({}).head.status == Status::ok); }

  AcquireCommand acquire_command(const char* instance, Milliseconds ttl = 2s) {
    AcquireCommand command;
    core::RawIdentity raw;
    raw.components = {"t", "p", "n", "target", "a", std::nullopt, std::nullopt};
    command.identity = *core::normalize(raw, {});
    command.digest = digest = core::lock_digest(command.identity);
    command.owner = {core::PrincipalId("p"), core::ClientId("c"), core::CredentialId("k"),
                     core::ServiceInstanceId(instance)};
    command.candidate = core::LeaseId("lease-" + std::to_string(++last));
    command.ttl = ttl;
    command.maximum_lifetime = 10s;
    command.idempotency = key();
    return command;
  }
  Idempotency key() {
    Idempotency key;
    key.scope.value = "scope-" + std::to_string(++last);
    key.retention = 60s;
    key.refusal_retention = 60s;
    return key;
  }
  AcquireResult acquire(const char* instance = "one") {
    return backend.acquire(acquire_command(instance));
  }
  Holder holder(const AcquireResult& granted, const char* instance = "one") {
    return {digest, granted.grant.lease_id, granted.grant.token, acquire_command(instance).owner};
  }
  TimedRenewalResult renew_timed(const Holder& holder, std::int64_t sequence) {
    return backend.renew_timed({{holder, 2s, sequence}}).results.at(0);
  }
  RenewResult renew(const Holder& holder) {
    RenewCommand command;
    command.holder = holder;
    command.ttl = 2s;
    command.idempotency = key();
    return backend.renew(command);
  }
  ReleaseResult release(const Holder& holder) {
    ReleaseCommand command;
    command.holder = holder;
    command.idempotency = key();
    return backend.release(command);
  }
  RecoverResult recover(RecoverCommand command = {}) {
    command.observed = backend.read_gate(0).gate.observed;
    command.clock_tolerance = 500ms;
    return backend.recover(command, now);
  }

  BackendTime now = core::backend_time(1'790'000'000'000);
  core::LockDigest digest;
  int last = 0;
  MemoryBackend backend{1, [this] { return now; }};
};

TEST_CASE("one holder at a time, and each new one has a higher token") {
  World world;
  const auto first = world.acquire("one");
  CHECK(first.head.status == Status::ok);
  const auto refused = world.acquire("two");
  CHECK(refused.head.status == Status::conflict);
  CHECK(refused.head.retry_after == 2s);
  CHECK(!refused.own_lease_id);
  CHECK(world.acquire("one").own_lease_id == first.grant.lease_id);
  CHECK(world.release(world.holder(first)).head.status == Status::ok);
  const auto second = world.acquire("two");
  CHECK(second.head.status == Status::ok);
  CHECK(second.grant.token > first.grant.token);
}

TEST_CASE("a lease ends at its expiry, to the millisecond, and not before") {
  World world;
  const auto first = world.acquire("one");
  world.now += 1999ms;
  CHECK(world.acquire("two").head.status == Status::conflict);
  world.now += 1ms;
  CHECK(world.backend.active(world.digest) == nullptr);
  CHECK(world.acquire("two").head.status == Status::ok);
  CHECK(world.renew(world.holder(first)).head.status == Status::lost);
}

TEST_CASE("renewal moves the expiry, never past the maximum lifetime, for the exact holder only") {
  World world;
  const auto granted = world.acquire();
  const Holder holder = world.holder(granted);
  for (int i = 1; i <= 9; ++i) {
    world.now += 1s;
    const auto renewed = world.renew_timed(holder, i);
    REQUIRE(renewed.status == Status::ok);
    CHECK(renewed.expires_at ==
          std::min(world.now + 2s, granted.grant.acquired_at + Milliseconds(10s)));
  }
  Holder wrong = holder;
  wrong.token.value += 1;
  CHECK(world.renew_timed(wrong, 100).status == Status::lost);
  CHECK(world.renew(wrong).head.status == Status::lost);
  wrong = holder;
  wrong.owner.instance = core::ServiceInstanceId("two");
  CHECK(world.renew(wrong).head.status == Status::lost);
  CHECK(world.release(wrong).head.status == Status::lost);
  world.now += 1s;
  const auto over = world.renew_timed(holder, 101);
  CHECK(over.status == Status::lost);
  CHECK(over.state == core::LeaseState::expired);
}

TEST_CASE("a timed renewal with an old sequence is a replay: it is answered and moves nothing") {
  World world;
  const Holder holder = world.holder(world.acquire());
  world.now += 1s;
  const auto first = world.renew_timed(holder, 5);
  world.now += 500ms;
  CHECK(world.renew_timed(holder, 5).expires_at == first.expires_at);
  CHECK(world.renew_timed(holder, 4).expires_at == first.expires_at);
  CHECK(world.renew_timed(holder, 6).expires_at > first.expires_at);
}

TEST_CASE("a replay gives the first answer and the state of now, and changes nothing") {
  World world;
  const AcquireCommand command = world.acquire_command("one");
  const auto first = world.backend.acquire(command);
  AcquireCommand again = command;
  again.candidate = core::LeaseId("another");
  world.now += 1s;
  const auto replayed = world.backend.acquire(again);
  CHECK(replayed.head.replayed);
  CHECK(replayed.grant == first.grant);
  CHECK(replayed.current_state == core::LeaseState::active);
  CHECK(world.backend.counter(world.digest) == first.grant.token.value);
  world.now += 1s;
  CHECK(world.backend.acquire(again).current_state == core::LeaseState::expired);
  AcquireCommand changed = command;
  changed.idempotency.digest[0] ^= std::byte{1};
  CHECK(world.backend.acquire(changed).head.status == Status::idempotency_conflict);
  world.now += 60s;
  const auto forgotten = world.backend.acquire(again);
  CHECK(!forgotten.head.replayed);
  CHECK(forgotten.grant.lease_id.value == "another");
}

TEST_CASE("a refusal is kept for its own time; with none, the next attempt is new") {
  World world;
  const auto first = world.acquire("one");
  AcquireCommand kept = world.acquire_command("two");
  AcquireCommand fleeting = world.acquire_command("two");
  fleeting.idempotency.refusal_retention = 0ms;
  CHECK(world.backend.acquire(kept).head.status == Status::conflict);
  CHECK(world.backend.acquire(fleeting).head.status == Status::conflict);
  CHECK(world.release(world.holder(first)).head.status == Status::ok);
  const auto replayed = world.backend.acquire(kept);
  CHECK(replayed.head.status == Status::conflict);
  CHECK(replayed.head.replayed);
  CHECK(world.backend.acquire(fleeting).head.status == Status::ok);
}

TEST_CASE(
    "a restart closes the partition until one recovery; the leases are revoked, tokens rise") {
  World world;
  const auto before = world.acquire();
  world.backend.restart();
  CHECK(world.acquire("two").head.status == Status::recovering);
  const auto observed = world.backend.read_gate(0).gate.observed;
  CHECK(world.recover().head.status == Status::ok);
  RecoverCommand late;
  late.observed = observed;
  late.clock_tolerance = 500ms;
  CHECK(world.backend.recover(late, world.now).head.status == Status::conflict);
  CHECK(world.acquire("two").head.status == Status::grace);
  CHECK(world.renew_timed(world.holder(before), 1).state == core::LeaseState::revoked);
  world.now += 2s;
  const auto after = world.acquire("two");
  CHECK(after.head.status == Status::ok);
  CHECK(after.grant.token > before.grant.token);
}

TEST_CASE("tokens rise through wipes and older data, whatever was lost") {
  World world;
  const auto backup = world.backend.data();
  core::FencingToken highest;
  for (int round = 0; round < 10; ++round) {
    const auto granted = world.acquire();
    REQUIRE(granted.head.status == Status::ok);
    CHECK(granted.grant.token > highest);
    highest = granted.grant.token;
    if (round % 2 == 0) {
      world.backend.wipe();
    } else {
      world.backend.restart_with(backup);
    }
    world.now += 1s;
    RecoverCommand command;
    command.grace = RecoveryGrace::none;
    CHECK(world.recover(command).head.status == Status::ok);
  }
}

TEST_CASE("a clock that stepped back closes the partition, and recovery waits for the clock") {
  World world;
  REQUIRE(world.acquire().head.status == Status::ok);
  world.now -= 10s;
  CHECK(world.acquire("two").head.status == Status::recovering);
  CHECK(world.recover().head.status == Status::unavailable);
  world.now += 10s;
  CHECK(world.acquire("two").head.status == Status::recovering);
  CHECK(world.recover().head.status == Status::ok);
}

TEST_CASE("recovery is refused while the clocks differ by more than the tolerance") {
  World world;
  world.backend.restart();
  RecoverCommand command;
  command.observed = world.backend.read_gate(0).gate.observed;
  command.clock_tolerance = 500ms;
  CHECK(world.backend.recover(command, world.now + 501ms).head.status == Status::unavailable);
  CHECK(world.backend.recover(command, world.now - 501ms).head.status == Status::unavailable);
  CHECK(world.backend.recover(command, world.now - 500ms).head.status == Status::ok);
}

TEST_CASE("a corrupt record closes its lock only, to every operation") {
  World world;
  const auto granted = world.acquire();
  const Holder holder = world.holder(granted);
  world.backend.corrupt(world.digest);
  world.now += 60s;
  CHECK(world.acquire("two").head.status == Status::quarantined);
  CHECK(world.renew(holder).head.status == Status::quarantined);
  CHECK(world.release(holder).head.status == Status::quarantined);
  CHECK(world.renew_timed(holder, 9).status == Status::quarantined);
  CHECK(world.backend.inspect({world.digest, std::nullopt}).head.status == Status::quarantined);
}

}  // namespace
}  // namespace starlease::store
