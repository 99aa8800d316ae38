// What makes a retry the same request: each input that affects behaviour, and none that does not.
#include "lib/core/idempotency.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <vector>

#include "tests/unit/core/sample.hpp"

namespace starlease::core {
namespace {

const LockDigest lock = lock_digest(sample::identity());

AcquireCall acquire() {
  AcquireCall call;
  call.identity = sample::raw_identity();
  call.request_id = RequestId("request");
  return call;
}

TEST_CASE("the scope tells operation, lock, principal and request apart") {
  LockDigest other = lock;
  other.bytes[0] ^= std::byte{1};
  const auto scope = [](Operation operation, const LockDigest& digest, const char* principal,
                        const char* request) {
    return idempotency_scope(operation, digest, PrincipalId(principal), RequestId(request)).value;
  };
  const std::string one = scope(Operation::acquire, lock, "p", "r");
  CHECK(one.size() == 43);
  CHECK(scope(Operation::acquire, lock, "p", "r") == one);
  CHECK(scope(Operation::release, lock, "p", "r") != one);
  CHECK(scope(Operation::acquire, other, "p", "r") != one);
  CHECK(scope(Operation::acquire, lock, "q", "r") != one);
  CHECK(scope(Operation::acquire, lock, "p", "s") != one);
  // Parts do not flow into each other.
  CHECK(scope(Operation::acquire, lock, "p\",\"request_id\":\"x", "r") !=
        scope(Operation::acquire, lock, "p", "x\",\"request_id\":\"r"));
}

TEST_CASE("every input of acquire that affects behaviour changes its digest") {
  const Owner owner = sample::owner();
  const RequestDigest plain = request_digest(acquire(), lock, owner);
  CHECK(request_digest(acquire(), lock, owner) == plain);
  const std::vector<std::function<void(AcquireCall&)>> changes = {
      [](AcquireCall& call) { call.ttl = Milliseconds(0); },
      [](AcquireCall& call) { call.ttl = Milliseconds(5000); },
      [](AcquireCall& call) { call.maximum_lifetime = Milliseconds(5000); },
      [](AcquireCall& call) { call.wait = Milliseconds(1); },
      [](AcquireCall& call) { call.heartbeat = Milliseconds(1); },
      [](AcquireCall& call) { call.work.execution = ExecutionId("x"); },
      [](AcquireCall& call) { call.work.job = JobId("x"); },
      [](AcquireCall& call) { call.work.trace = TraceId("x"); },
      [](AcquireCall& call) { call.metadata = R"({"a":1})"; },
      [](AcquireCall& call) { call.renew = RenewMode::manual; },
      [](AcquireCall& call) { call.on_disconnect = OnDisconnect::keep; },
  };
  std::vector<RequestDigest> seen = {plain};
  for (const auto& change : changes) {
    AcquireCall call = acquire();
    change(call);
    const RequestDigest changed = request_digest(call, lock, owner);
    for (const RequestDigest& other : seen) CHECK(changed != other);
    seen.push_back(changed);
  }
  LockDigest other_lock = lock;
  other_lock.bytes[31] ^= std::byte{1};
  CHECK(request_digest(acquire(), other_lock, owner) != plain);
  AcquireCall later = acquire();
  later.deadline.timeout = Milliseconds(1);
  CHECK(request_digest(later, lock, owner) == plain);
}

TEST_CASE("each part of the owner changes every digest") {
  const RenewCall renew{LeaseId("l"), {1}, RequestId("r"), {}, {}};
  const ReleaseCall release{LeaseId("l"), {1}, RequestId("r"), {}};
  const Owner owner = sample::owner();
  for (int part = 0; part < 4; ++part) {
    Owner other = owner;
    if (part == 0) other.principal = PrincipalId("x");
    if (part == 1) other.client = ClientId("x");
    if (part == 2) other.credential = CredentialId("x");
    if (part == 3) other.instance = ServiceInstanceId("x");
    CHECK(request_digest(acquire(), lock, owner) != request_digest(acquire(), lock, other));
    CHECK(request_digest(renew, owner) != request_digest(renew, other));
    CHECK(request_digest(release, owner) != request_digest(release, other));
  }
}

TEST_CASE("renew and release depend on lease, token and ttl, and are not each other") {
  const Owner owner = sample::owner();
  const RenewCall renew{LeaseId("l"), {1}, RequestId("r"), {}, {}};
  const ReleaseCall release{LeaseId("l"), {1}, RequestId("r"), {}};
  CHECK(request_digest(renew, owner) != request_digest(release, owner));
  RenewCall other = renew;
  other.token = {2};
  CHECK(request_digest(other, owner) != request_digest(renew, owner));
  other = renew;
  other.lease_id = LeaseId("m");
  CHECK(request_digest(other, owner) != request_digest(renew, owner));
  other = renew;
  other.ttl = Milliseconds(2000);
  CHECK(request_digest(other, owner) != request_digest(renew, owner));
}

}  // namespace
}  // namespace starlease::core
