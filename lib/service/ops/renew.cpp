// renew; see the header.
#include "lib/service/ops/renew.hpp"

#include "lib/service/ops/answers.hpp"
#include "lib/service/ops/submission.hpp"

namespace starlease::service {
namespace {

using core::FailureCode;
using store::Status;

/// A lease that this session holds by the store's word but this daemon did not know: it was held
/// through a daemon that is gone. It is renewed by the daemon from now on.
HeldLease& adopt(Kernel& kernel, Session& session, const store::RenewResult& result) {
  const core::LeaseRecord& record = *result.record;
  HoldRequest request;
  request.digest = core::lock_digest(record.identity);
  request.identity = record.identity;
  request.grant = result.grant;
  request.work = record.work;
  request.epoch = result.head.epoch;
  request.maximum_lifetime = record.maximum_lifetime;
  request.sequence = kernel.seams.clock.wall_now().time_since_epoch().count();
  return kernel.hold(request, result.head, session);
}

core::Outcome<core::Answer> on_renewed(Kernel& kernel, Session& session,
                                       const core::RenewCall& call,
                                       const store::RenewResult& result) {
  const auto lost = [] { return base::failed(core::failure(FailureCode::lease_lost)); };
  // It was told lost while the store was asked: a late answer gives nothing back.
  if (session.told_lost(call.lease_id)) return lost();
  if (kernel.releaser.giving_up(call.lease_id)) return lost();
  HeldLease* lease = kernel.held_by(session, call.lease_id);
  const bool active = result.current_state == core::LeaseState::active;
  if (lease == nullptr && active && result.record) lease = &adopt(kernel, session, result);
  if (lease == nullptr) {
    if (!result.head.replayed) return lost();
    const GrantContext context{*core::lock_of(call.lease_id), {}, {}, true};
    auto past = answer_for_past(context, result.grant, result.current_state, kernel.now());
    return past;
  }
  if (!result.head.replayed) {
    lease->ttl_ms = static_cast<std::uint32_t>(result.grant.ttl.count());
    kernel.renewer.confirmed(*lease, result.head, result.grant.expires_at);
  }
  auto answer = answer_for_held(*lease, kernel.now(), true);
  if (result.head.replayed) {
    answer.replay = core::Replay{result.current_state};
    answer.grant = result.grant;
  }
  return answer;
}

}  // namespace

void renew(Kernel& kernel, Session& session, const CallContext& context, core::RenewCall call,
           AnswerDone done) {
  const auto digest = core::lock_of(call.lease_id);
  if (!digest) {
    return done(core::invalid("lease_id", "Send the lease_id exactly as acquire answered it"));
  }
  if (!core::has_capability(*session.principal, core::Capability::targets_lease)) {
    return done(base::failed(core::failure(FailureCode::access_denied)));
  }
  const auto terms = core::effective_terms(kernel.settings.policy, call.ttl, std::nullopt);
  if (!terms) return done(base::failed(terms.error()));
  const auto deadline = deadline_of(call.deadline, kernel.settings.policy, context.received_at,
                                    kernel.seams.clock.wall_now());
  if (!deadline) return done(base::failed(core::failure(FailureCode::deadline_exceeded)));
  if (session.told_lost(call.lease_id) || kernel.releaser.giving_up(call.lease_id)) {
    return done(base::failed(core::failure(FailureCode::lease_lost)));
  }
  const HeldLease* lease = kernel.held_by(session, call.lease_id);

  store::RenewCommand command;
  command.holder = {*digest, call.lease_id, call.token, session.owner};
  command.ttl = call.ttl ? terms->ttl : lease != nullptr ? lease->ttl() : terms->ttl;
  command.idempotency = {core::idempotency_scope(core::Operation::renew, *digest,
                                                 session.owner.principal, call.request_id),
                         core::request_digest(call, session.owner),
                         core::replay_retention(kernel.settings.policy),
                         kernel.settings.policy.retry_window};
  command.audit = {call.request_id, context.correlation, context.decision,
                   session.principal->principal_class};
  auto finish = [&kernel, call, done = std::move(done)](Session* owner,
                                                        store::RenewResult& result) mutable {
    if (owner == nullptr) return done(base::failed(core::failure(FailureCode::lease_lost)));
    if (result.head.status == Status::ok) return done(on_renewed(kernel, *owner, call, result));
    core::Failure failure = failure_of(result.head);
    failure.replayed = result.head.replayed;
    HeldLease* held = kernel.held_by(*owner, call.lease_id);
    // The store says that it is gone, so the session is told before it reads this answer.
    if (result.head.status == Status::lost && held != nullptr && held->token == call.token) {
      kernel.loss.lose(*held, core::LossReason::renewal_rejected, std::nullopt);
    }
    done(base::failed(std::move(failure)));
  };
  Submission<store::RenewCommand, store::RenewResult>::start(
      kernel, {session.id, kernel.partition(*digest), *deadline, &store::LeaseStore::renew,
               std::move(command), std::move(finish)});
}

}  // namespace starlease::service
