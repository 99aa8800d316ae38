// Answers about leases; see the header.
#include "lib/service/ops/answers.hpp"

namespace starlease::service {

core::GrantAnswer answer_for_held(const HeldLease& lease, BootTime now, bool renewed) {
  core::GrantAnswer answer;
  answer.renewed = renewed;
  answer.identity = lease.texts.identity();
  answer.grant.lease_id = lease.lease_id();
  answer.grant.token = lease.token;
  answer.grant.acquired_at = core::backend_time(lease.acquired_at_ms);
  answer.grant.renewed_at = core::backend_time(lease.renewed_at_ms);
  answer.grant.expires_at = core::backend_time(lease.expires_at_ms);
  answer.grant.ttl = lease.ttl();
  answer.envelope.lock_key = core::lock_key(lease.digest);
  answer.envelope.lease_id = answer.grant.lease_id;
  answer.envelope.token = lease.token;
  answer.envelope.expires_at = answer.grant.expires_at;
  answer.envelope.execution = core::ExecutionId(lease.texts.at(PackedTexts::execution_id));
  answer.envelope.trace = core::TraceId(lease.texts.at(PackedTexts::trace_id));
  answer.valid_until = lease.valid_until;
  answer.valid_for = base::floor_ms(lease.valid_until - now);
  return answer;
}

core::GrantAnswer answer_for_past(const GrantContext& context, const core::Grant& grant,
                                  core::LeaseState state, BootTime now) {
  core::GrantAnswer answer;
  answer.renewed = context.renewed;
  answer.identity = context.identity;
  answer.grant = grant;
  answer.envelope.lock_key = core::lock_key(context.digest);
  answer.envelope.lease_id = grant.lease_id;
  answer.envelope.token = grant.token;
  answer.envelope.expires_at = grant.expires_at;
  answer.envelope.execution = context.work.execution;
  answer.envelope.trace = context.work.trace;
  // Nothing may be relied on: it is valid until now at the latest.
  answer.valid_until = now;
  answer.valid_for = Milliseconds(0);
  answer.replay = core::Replay{state};
  return answer;
}

core::ReleasedAnswer answer_for_release(const core::LeaseId& lease_id, core::FencingToken token,
                                        const store::ReleaseResult& result) {
  core::ReleasedAnswer answer;
  answer.lease_id = lease_id;
  answer.token = token;
  answer.released_at = result.released_at;
  if (result.head.replayed) answer.replay = core::Replay{core::LeaseState::released};
  return answer;
}

core::CommittedAnswer answer_for_commit(const store::CommitResult& result) {
  core::CommittedAnswer answer;
  answer.accepted_at = result.accepted_at;
  answer.token = result.token;
  answer.revision = result.revision;
  if (result.head.replayed) answer.replay = core::Replay{result.current_state};
  return answer;
}

core::InvalidatedAnswer answer_for_invalidation(const store::InvalidateResult& result,
                                                core::Operation operation) {
  core::InvalidatedAnswer answer;
  answer.operation = operation;
  answer.lease_id = result.lease_id;
  answer.token = result.token;
  answer.ended_at = result.ended_at;
  if (result.head.replayed) {
    answer.replay = core::Replay{operation == core::Operation::revoke ? core::LeaseState::revoked
                                                                      : core::LeaseState::released};
  }
  return answer;
}

core::Failure commit_failure(const store::CommitResult& result) {
  core::Failure failure = failure_of(result.head);
  failure.replayed = result.head.replayed;
  if (result.head.status == store::Status::commit_conflict) failure.revision = result.revision;
  return failure;
}

}  // namespace starlease::service
