// force_release and revoke; see the header.
#include "lib/service/ops/invalidate.hpp"

#include <algorithm>

#include "lib/core/invalidation.hpp"
#include "lib/service/ops/answers.hpp"
#include "lib/service/ops/submission.hpp"

namespace starlease::service {
namespace {

using core::FailureCode;
using store::Status;

/// The sentence says which of the three it is: an administrator has to mend it.
std::optional<core::Failure> signature_fault(const Settings& settings,
                                             const core::InvalidateCall& call,
                                             std::string_view statement) {
  core::Failure fault = core::failure(FailureCode::invalid_credential);
  const auto key =
      std::ranges::find(settings.administrators, call.key_id, &core::AdministratorKey::id);
  if (key == settings.administrators.end()) {
    fault.message = "No administrator's key of this id is configured";
    return fault;
  }
  const auto signature = base::parse_signature(call.signature);
  if (!signature) {
    fault.message = "The signature is not 64 bytes of base64url";
    return fault;
  }
  if (base::signature_fits(key->key, statement, *signature)) return std::nullopt;
  fault.message = "The signature was not made by this key over exactly these values";
  return fault;
}

bool may(const core::Principal& principal, core::Operation operation,
         const core::LockIdentity& identity) {
  const auto needed = operation == core::Operation::revoke
                          ? core::Capability::targets_revoke
                          : core::Capability::targets_force_release;
  return core::has_capability(principal, needed) && core::in_scope(principal, identity);
}

}  // namespace

void invalidate(Kernel& kernel, Session& session, const CallContext& context,
                core::InvalidateCall call, AnswerDone done) {
  const auto identity = core::normalize(call.identity, kernel.settings.identities);
  if (!identity) return done(base::failed(identity.error()));
  if (!may(*session.principal, call.operation, *identity)) {
    return done(base::failed(core::failure(FailureCode::access_denied)));
  }
  store::InvalidateCommand command;
  command.statement = core::statement_of(call, *identity);
  if (auto fault = signature_fault(kernel.settings, call, command.statement)) {
    return done(base::failed(std::move(*fault)));
  }
  core::DeadlineRequest signed_deadline;
  signed_deadline.at = call.deadline_at;
  const auto deadline = deadline_of(signed_deadline, kernel.settings.policy, context.received_at,
                                    kernel.seams.clock.wall_now());
  if (!deadline) return done(base::failed(core::failure(FailureCode::deadline_exceeded)));

  command.operation = call.operation;
  command.digest = core::lock_digest(*identity);
  command.administrator = session.owner;
  command.idempotency = {core::idempotency_scope(call.operation, command.digest,
                                                 session.owner.principal, call.request_id),
                         core::request_digest(call, command.statement, session.owner),
                         core::replay_retention(kernel.settings.policy),
                         kernel.settings.policy.retry_window};
  command.audit = {call.request_id, context.correlation, context.decision,
                   session.principal->principal_class};
  command.lease_id = std::move(call.lease_id);
  command.token = call.token;
  command.reason = std::move(call.reason);
  command.signature = std::move(call.signature);
  command.key_id = std::move(call.key_id);
  const std::uint32_t partition = kernel.partition(command.digest);
  auto finish = [operation = call.operation, done = std::move(done)](
                    Session*, store::InvalidateResult& result) mutable {
    if (result.head.status == Status::ok) return done(answer_for_invalidation(result, operation));
    core::Failure failure = failure_of(result.head);
    failure.replayed = result.head.replayed;
    done(base::failed(std::move(failure)));
  };
  Submission<store::InvalidateCommand, store::InvalidateResult>::start(
      kernel, {session.id, partition, *deadline, &store::LeaseStore::invalidate, std::move(command),
               std::move(finish)});
}

}  // namespace starlease::service
