// release; see the header.
#include "lib/service/ops/release.hpp"

#include "lib/service/ops/answers.hpp"
#include "lib/service/ops/submission.hpp"

namespace starlease::service {
namespace {

using core::FailureCode;
using store::Status;

/// What the store's answer means for the lease as this daemon holds it.
void settle(Kernel& kernel, HeldLease& lease, const store::ReleaseCommand& command,
            const store::Head& head) {
  switch (head.status) {
    case Status::ok:
      return kernel.held.remove(lease);
    case Status::lost:
      return kernel.loss.lose(lease, core::LossReason::renewal_rejected, std::nullopt);
    case Status::unknown:
      // The worker wants it gone: make sure of that, whatever became of this attempt.
      kernel.releaser.release(command.holder, command.audit.principal_class,
                              lease.valid_until + lease.ttl());
      return kernel.held.remove(lease);
    case Status::conflict:
    case Status::idempotency_conflict:
    case Status::not_found:
    case Status::deadline_exceeded:
    case Status::grace:
    case Status::recovering:
    case Status::quarantined:
    case Status::exhausted:
    case Status::commit_conflict:
    case Status::full:
    case Status::unavailable: {
      // Nothing was done: the worker still holds it.
      lease.releasing = false;
      if (lease.session->online() && lease.automatic) kernel.renewer.hurry(lease, kernel.now());
      return;
    }
  }
}

}  // namespace

void release(Kernel& kernel, Session& session, const CallContext& context, core::ReleaseCall call,
             AnswerDone done) {
  const auto digest = core::lock_of(call.lease_id);
  if (!digest) {
    return done(core::invalid("lease_id", "Send the lease_id exactly as acquire answered it"));
  }
  if (!core::has_capability(*session.principal, core::Capability::targets_lease)) {
    return done(base::failed(core::failure(FailureCode::access_denied)));
  }
  const auto deadline = deadline_of(call.deadline, kernel.settings.policy, context.received_at,
                                    kernel.seams.clock.wall_now());
  if (!deadline) return done(base::failed(core::failure(FailureCode::deadline_exceeded)));
  if (session.told_lost(call.lease_id)) {
    return done(base::failed(core::failure(FailureCode::lease_lost)));
  }
  HeldLease* lease = kernel.held_by(session, call.lease_id);
  if (lease != nullptr && lease->token == call.token) {
    lease->releasing = true;
    lease->renew_due = BootTime::max();
    kernel.renewer.reschedule(*lease);
  }

  store::ReleaseCommand command;
  command.holder = {*digest, call.lease_id, call.token, session.owner};
  command.idempotency = {core::idempotency_scope(core::Operation::release, *digest,
                                                 session.owner.principal, call.request_id),
                         core::request_digest(call, session.owner),
                         core::replay_retention(kernel.settings.policy),
                         kernel.settings.policy.retry_window};
  command.terminal_retention = core::replay_retention(kernel.settings.policy);
  command.audit = {call.request_id, context.correlation, context.decision,
                   session.principal->principal_class};
  auto finish = [&kernel, call, command, done = std::move(done)](
                    Session*, store::ReleaseResult& result) mutable {
    // Also when the connection has gone meanwhile: the session may be back, or keep the lease.
    Session* owner = kernel.sessions.find(command.holder.owner.instance);
    HeldLease* held = owner == nullptr ? nullptr : kernel.held_by(*owner, call.lease_id);
    if (held != nullptr && held->token == call.token && held->releasing) {
      settle(kernel, *held, command, result.head);
      kernel.drop_if_done(*owner);
    }
    kernel.waiters.lock_may_be_free(command.holder.digest);
    if (result.head.status == Status::ok) {
      return done(answer_for_release(call.lease_id, call.token, result));
    }
    core::Failure failure = failure_of(result.head);
    failure.replayed = result.head.replayed;
    done(base::failed(std::move(failure)));
  };
  Submission<store::ReleaseCommand, store::ReleaseResult>::start(
      kernel, {session.id, kernel.partition(*digest), *deadline, &store::LeaseStore::release,
               std::move(command), std::move(finish)});
}

}  // namespace starlease::service
