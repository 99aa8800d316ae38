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
HeldLease& adopt(Kernel& kernel, Session& session, const core::LeaseRecord& record,
                 const store::Head& head) {
  HoldRequest request;
  request.digest = core::lock_digest(record.identity);
  request.identity = record.identity;
  request.grant = record.grant;
  request.work = record.work;
  request.epoch = head.epoch;
  request.maximum_lifetime = record.maximum_lifetime;
  // Only such a lease outlives the connection to the daemon that is gone (PROTOCOL.md, rule 3).
  request.keep_on_disconnect = true;
  request.sequence = kernel.seams.clock.wall_now().time_since_epoch().count();
  return kernel.hold(request, head, session);
}

/// A late answer gives nothing back of what was told lost or given up while the store was asked.
bool is_over(const Kernel& kernel, const Session& session, const core::LeaseId& lease_id) {
  return session.told_lost(lease_id) || kernel.releaser.giving_up(lease_id);
}

core::Failure lost(bool replayed) {
  core::Failure failure = core::failure(FailureCode::lease_lost);
  failure.replayed = replayed;
  return failure;
}

core::GrantAnswer renewed_answer(const Kernel& kernel, const HeldLease& lease,
                                 const store::RenewResult& result) {
  auto answer = answer_for_held(lease, kernel.now(), true);
  if (result.head.replayed) {
    answer.replay = core::Replay{core::LeaseState::active};
    answer.grant = result.grant;
  }
  return answer;
}

/// The repetition of a renewal whose lease is not held here: the store knows what became of it.
core::Outcome<core::Answer> on_repeated(Kernel& kernel, Session& session,
                                        const core::RenewCall& call,
                                        const store::RenewResult& original,
                                        const store::InspectResult& found) {
  if (found.head.status != Status::ok || !found.record || is_over(kernel, session, call.lease_id)) {
    return base::failed(lost(true));
  }
  const core::LeaseRecord& record = *found.record;
  if (record.state == core::LeaseState::active) {
    return renewed_answer(kernel, adopt(kernel, session, record, found.head), original);
  }
  const GrantContext context{core::lock_digest(record.identity), record.identity, record.work,
                             true};
  return answer_for_past(context, original.grant, record.state, kernel.now());
}

void repeat(Kernel& kernel, const Session& session, const core::RenewCall& call,
            const store::RenewResult& original, AnswerDone done) {
  const core::LockDigest digest = *core::lock_of(call.lease_id);
  auto finish = [&kernel, call, original, done = std::move(done)](
                    Session* owner, store::InspectResult& result) mutable {
    if (owner == nullptr) return done(base::failed(lost(true)));
    done(on_repeated(kernel, *owner, call, original, result));
  };
  const BootTime deadline = kernel.now() + kernel.settings.policy.default_timeout;
  Submission<store::InspectCommand, store::InspectResult>::start(
      kernel, {session.id, kernel.partition(digest), deadline, &store::LeaseStore::inspect,
               store::InspectCommand{digest, call.lease_id}, std::move(finish)});
}

void on_renewed(Kernel& kernel, Session& session, const core::RenewCall& call,
                const store::RenewResult& result, AnswerDone done) {
  if (is_over(kernel, session, call.lease_id)) return done(base::failed(lost(false)));
  HeldLease* lease = kernel.held_by(session, call.lease_id);
  if (lease == nullptr && result.head.replayed) {
    return repeat(kernel, session, call, result, std::move(done));
  }
  if (lease == nullptr) {
    core::LeaseRecord record = *result.record;
    record.grant = result.grant;
    lease = &adopt(kernel, session, record, result.head);
  } else if (!result.head.replayed) {
    lease->ttl_ms = static_cast<std::uint32_t>(result.grant.ttl.count());
    kernel.renewer.confirmed(*lease, result.head, result.grant.expires_at);
  }
  done(renewed_answer(kernel, *lease, result));
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
  if (is_over(kernel, session, call.lease_id)) return done(base::failed(lost(false)));
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
    if (result.head.status == Status::ok) {
      return on_renewed(kernel, *owner, call, result, std::move(done));
    }
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
