// resolve; see the header.
#include "lib/service/ops/resolve.hpp"

#include "lib/service/ops/answers.hpp"
#include "lib/service/ops/submission.hpp"

namespace starlease::service {
namespace {

using core::FailureCode;
using store::Status;

/// The stored outcome of one operation as the worker would have got it.
struct OriginalAnswer {
  const core::LockDigest& digest;
  const core::LockIdentity& identity;
  core::Operation operation;
  core::LeaseState current_state;
  BootTime now;
  using Original = std::variant<core::GrantAnswer, core::ReleasedAnswer, core::CommittedAnswer,
                                core::InvalidatedAnswer, core::Failure>;

  [[nodiscard]] Original granted(const store::Head& head, const core::Grant& grant,
                                 bool renewed) const {
    if (head.status != Status::ok) return failure_of(head);
    const GrantContext context{digest, identity, {}, renewed};
    return answer_for_past(context, grant, current_state, now);
  }
  Original operator()(const store::AcquireResult& r) const {
    return granted(r.head, r.grant, false);
  }
  Original operator()(const store::RenewResult& r) const { return granted(r.head, r.grant, true); }
  Original operator()(const store::ReleaseResult& r) const {
    if (r.head.status != Status::ok) return failure_of(r.head);
    core::ReleasedAnswer answer;
    answer.released_at = r.released_at;
    answer.lease_id = r.lease_id;
    answer.token = r.token;
    answer.replay = core::Replay{core::LeaseState::released};
    return answer;
  }
  Original operator()(const store::InvalidateResult& r) const {
    if (r.head.status != Status::ok) return failure_of(r.head);
    core::InvalidatedAnswer answer = answer_for_invalidation(r, operation);
    answer.replay = core::Replay{current_state};
    return answer;
  }
  Original operator()(const store::CommitResult& r) const {
    if (r.head.status != Status::ok) return commit_failure(r);
    core::CommittedAnswer answer = answer_for_commit(r);
    answer.replay = core::Replay{current_state};
    return answer;
  }
};

}  // namespace

void resolve(Kernel& kernel, Session& session, const CallContext& context, core::ResolveCall call,
             AnswerDone done) {
  const auto identity = core::normalize(call.identity, kernel.settings.identities);
  if (!identity) return done(base::failed(identity.error()));
  if (!core::has_capability(*session.principal, core::Capability::targets_lease) ||
      !core::in_scope(*session.principal, *identity)) {
    return done(base::failed(core::failure(FailureCode::access_denied)));
  }
  const core::LockDigest digest = core::lock_digest(*identity);
  store::ResolveCommand command{
      digest, call.operation,
      core::idempotency_scope(call.operation, digest, session.owner.principal, call.request_id)};
  auto finish = [&kernel, digest, operation = call.operation, identity = *identity,
                 done = std::move(done)](Session*, store::ResolveResult& result) mutable {
    core::ResolvedAnswer answer;
    if (result.head.status == Status::unknown) result.head.status = Status::unavailable;
    if (result.head.status == Status::ok) {
      answer.committed = true;
      answer.current_state = result.current_state;
      answer.result = std::visit(
          OriginalAnswer{digest, identity, operation, result.current_state, kernel.now()},
          result.outcome);
    } else if (result.head.status != Status::not_found) {
      return done(base::failed(failure_of(result.head)));
    }
    done(std::move(answer));
  };
  const BootTime deadline = context.received_at + kernel.settings.policy.default_timeout;
  Submission<store::ResolveCommand, store::ResolveResult>::start(
      kernel, {session.id, kernel.partition(digest), deadline, &store::LeaseStore::resolve,
               std::move(command), std::move(finish)});
}

}  // namespace starlease::service
