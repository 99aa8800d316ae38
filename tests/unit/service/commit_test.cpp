// Fenced writes as a worker asks for them: what the daemon decides itself, and what the store.
#include "tests/unit/service/world.hpp"

namespace starlease::testing {
namespace {

core::CommitCall commit_call(World& world, const core::GrantAnswer& lease) {
  core::CommitCall call;
  call.envelope = lease.envelope;
  call.request_id = core::RequestId("req-" + std::to_string(++world.last_request));
  return call;
}

core::CommitCall write_call(World& world, const core::GrantAnswer& lease, std::int64_t expect) {
  core::CommitCall call = commit_call(world, lease);
  call.write = core::DocumentWrite{{"report", core::DocumentType::result, "{}", 0, {}, {}}, expect};
  return call;
}

core::CommittedAnswer committed(const core::Outcome<core::Answer>& outcome) {
  REQUIRE(outcome);
  return std::get<core::CommittedAnswer>(*outcome);
}

}  // namespace

TEST_CASE("commit: the holder writes, and reads what it wrote") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  CHECK(committed(world.now(worker, commit_call(world, lease))).revision == 0);
  const auto written = committed(world.now(worker, write_call(world, lease, 0)));
  CHECK(written.revision == 1);
  CHECK(written.token == lease.grant.token);
  const auto conflict = world.now(worker, write_call(world, lease, 0));
  CHECK(code_of(conflict) == core::FailureCode::commit_conflict);
  CHECK(conflict.error().revision == 1);
  const auto read = world.now(worker, core::DocumentCall{identity(), "report"});
  REQUIRE(read);
  const core::Document& document = std::get<core::DocumentAnswer>(*read).document;
  CHECK(document.revision == 1);
  CHECK(document.lease_id == lease.grant.lease_id);
  CHECK(code_of(world.now(worker, core::DocumentCall{identity(), "other"})) ==
        core::FailureCode::lease_not_found);
}

TEST_CASE("commit: a lease that was told lost is refused without asking the store") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  world.store.stall(true);
  world.advance(2s);
  REQUIRE(worker.all<core::LeaseLost>().size() == 1);
  world.store.stall(false);
  const auto calls = world.store.calls();
  CHECK(code_of(world.now(worker, write_call(world, lease, 0))) == core::FailureCode::lease_lost);
  CHECK(world.store.calls() == calls);
}

TEST_CASE("commit: another session of the principal may, another lock's key may not") {
  World world;
  Worker& holder = world.worker();
  Worker& writer = world.worker();
  const auto lease = world.acquire(holder);
  CHECK(committed(world.now(writer, write_call(world, lease, 0))).revision == 1);
  auto altered = write_call(world, lease, 1);
  altered.envelope.lock_key = core::lock_key(digest_of(identity("target-2")));
  CHECK(code_of(world.now(writer, altered)) == core::FailureCode::lease_lost);
  altered = write_call(world, lease, 1);
  altered.envelope.lease_id = core::LeaseId("lease_1");
  const auto refused = world.now(writer, altered);
  CHECK(code_of(refused) == core::FailureCode::invalid_lease_request);
  CHECK(refused.error().field == "envelope.lease_id");
}

TEST_CASE("commit: a lost answer is asked again and written once") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  world.store.lose_next_reply();
  const Answered answered = world.ask(worker, write_call(world, lease, 0));
  world.advance(200ms);
  REQUIRE(answered->has_value());
  const auto written = committed(**answered);
  CHECK(written.revision == 1);
  CHECK(written.replay.has_value());
  CHECK(committed(world.now(worker, write_call(world, lease, 1))).revision == 2);
}

TEST_CASE("commit: a write that is never answered is unknown, and resolved by its request id") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  world.store.lose_next_reply();
  auto call = write_call(world, lease, 0);
  call.deadline.timeout = 500ms;
  const Answered answered = world.ask(worker, call);
  world.advance(1ms);
  world.store.stall(true);
  world.advance(600ms);
  REQUIRE(answered->has_value());
  CHECK(code_of(**answered) == core::FailureCode::lease_outcome_unknown);
  world.store.stall(false);
  const auto resolved =
      world.now(worker, core::ResolveCall{call.request_id, core::Operation::commit, identity()});
  REQUIRE(resolved);
  const auto& answer = std::get<core::ResolvedAnswer>(*resolved);
  CHECK(answer.committed);
  CHECK(std::get<core::CommittedAnswer>(*answer.result).revision == 1);
}

TEST_CASE("commit: without the capability nothing is asked of the store") {
  World world;
  Worker& worker = world.worker();
  const auto lease = world.acquire(worker);
  Worker& poor = world.worker(1001);
  const auto calls = world.store.calls();
  CHECK(code_of(world.now(poor, write_call(world, lease, 0))) == core::FailureCode::access_denied);
  CHECK(code_of(world.now(poor, core::DocumentCall{identity(), "report"})) ==
        core::FailureCode::access_denied);
  CHECK(world.store.calls() == calls);
}

}  // namespace starlease::testing
