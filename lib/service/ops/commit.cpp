// commit and document; see the header.
#include "lib/service/ops/commit.hpp"

#include "lib/service/ops/answers.hpp"
#include "lib/service/ops/submission.hpp"

namespace starlease::service {
namespace {

using core::FailureCode;
using store::Status;

/// What can be refused without the store; nothing if it has to decide.
std::optional<core::Failure> refusal(Kernel& kernel, Session& session, const core::Envelope& given,
                                     const core::LockDigest& digest) {
  if (!core::has_capability(*session.principal, core::Capability::targets_commit)) {
    return core::failure(FailureCode::access_denied);
  }
  if (given.lock_key != core::lock_key(digest) || session.told_lost(given.lease_id)) {
    return core::failure(FailureCode::lease_lost);
  }
  const HeldLease* lease = kernel.held_by(session, given.lease_id);
  if (lease != nullptr && !core::in_scope(*session.principal, lease->texts.identity())) {
    return core::failure(FailureCode::access_denied);
  }
  return std::nullopt;
}

store::CommitCommand command_of(const Kernel& kernel, const Session& session,
                                const CallContext& context, core::CommitCall call,
                                const core::LockDigest& digest) {
  store::CommitCommand command;
  command.digest = digest;
  command.writer = session.owner;
  command.idempotency = {core::idempotency_scope(core::Operation::commit, digest,
                                                 session.owner.principal, call.request_id),
                         core::request_digest(call, session.owner),
                         core::replay_retention(kernel.settings.policy),
                         kernel.settings.policy.retry_window};
  command.audit = {call.request_id, context.correlation, context.decision,
                   session.principal->principal_class};
  command.lease_id = std::move(call.envelope.lease_id);
  command.token = call.envelope.token;
  command.envelope_expires_at = call.envelope.expires_at;
  command.execution = std::move(call.envelope.execution);
  command.trace = std::move(call.envelope.trace);
  command.write = std::move(call.write);
  return command;
}

}  // namespace

void commit(Kernel& kernel, Session& session, const CallContext& context, core::CommitCall call,
            AnswerDone done) {
  const auto digest = core::lock_of(call.envelope.lease_id);
  if (!digest) {
    return done(
        core::invalid("envelope.lease_id", "Send the envelope exactly as acquire answered it"));
  }
  if (auto refused = refusal(kernel, session, call.envelope, *digest)) {
    return done(base::failed(std::move(*refused)));
  }
  const auto deadline = deadline_of(call.deadline, kernel.settings.policy, context.received_at,
                                    kernel.seams.clock.wall_now());
  if (!deadline) return done(base::failed(core::failure(FailureCode::deadline_exceeded)));
  auto finish = [done = std::move(done)](Session*, store::CommitResult& result) mutable {
    if (result.head.status != Status::ok) return done(base::failed(commit_failure(result)));
    done(answer_for_commit(result));
  };
  store::CommitCommand command = command_of(kernel, session, context, std::move(call), *digest);
  Submission<store::CommitCommand, store::CommitResult>::start(
      kernel, {session.id, kernel.partition(*digest), *deadline, &store::LeaseStore::commit,
               std::move(command), std::move(finish)});
}

void read_document(Kernel& kernel, Session& session, const CallContext& context,
                   const core::DocumentCall& call, AnswerDone done) {
  const auto identity = core::normalize(call.identity, kernel.settings.identities);
  if (!identity) return done(base::failed(identity.error()));
  if (!core::has_capability(*session.principal, core::Capability::targets_read) ||
      !core::in_scope(*session.principal, *identity)) {
    return done(base::failed(core::failure(FailureCode::access_denied)));
  }
  const core::LockDigest digest = core::lock_digest(*identity);
  auto finish = [done = std::move(done)](Session*, store::DocumentResult& result) mutable {
    if (result.head.status == Status::unknown) result.head.status = Status::unavailable;
    if (result.head.status != Status::ok) return done(base::failed(failure_of(result.head)));
    done(core::DocumentAnswer{std::move(result.document)});
  };
  const BootTime deadline = context.received_at + kernel.settings.policy.default_timeout;
  Submission<store::DocumentCommand, store::DocumentResult>::start(
      kernel, {session.id, kernel.partition(digest), deadline, &store::LeaseStore::document,
               store::DocumentCommand{digest, call.name}, std::move(finish)});
}

}  // namespace starlease::service
