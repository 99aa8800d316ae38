// inspect; see the header.
#include "lib/service/ops/inspect.hpp"

#include "lib/service/ops/submission.hpp"

namespace starlease::service {
namespace {

using core::FailureCode;
using store::Status;

core::Outcome<core::Answer> answer_for(const Session& session, store::InspectResult& result) {
  if (result.head.status == Status::unknown) result.head.status = Status::unavailable;
  if (result.head.status != Status::ok) return base::failed(failure_of(result.head));
  const core::LeaseRecord& record = *result.record;
  if (!core::in_scope(*session.principal, record.identity)) {
    return base::failed(core::failure(FailureCode::lease_not_found));
  }
  core::InspectedAnswer answer;
  answer.identity = record.identity;
  answer.grant = record.grant;
  answer.state = record.state;
  if (record.state != core::LeaseState::active) {
    answer.ended_at = record.ended_at;
    answer.end_reason = record.end_reason;
  }
  return answer;
}

}  // namespace

void inspect(Kernel& kernel, Session& session, const CallContext& context, core::InspectCall call,
             AnswerDone done) {
  if (!core::has_capability(*session.principal, core::Capability::targets_read)) {
    return done(base::failed(core::failure(FailureCode::access_denied)));
  }
  store::InspectCommand command;
  if (call.identity) {
    const auto identity = core::normalize(*call.identity, kernel.settings.identities);
    if (!identity) return done(base::failed(identity.error()));
    if (!core::in_scope(*session.principal, *identity)) {
      return done(base::failed(core::failure(FailureCode::access_denied)));
    }
    command.digest = core::lock_digest(*identity);
  } else {
    const auto digest = core::lock_of(*call.lease_id);
    if (!digest) return done(base::failed(core::failure(FailureCode::lease_not_found)));
    command.digest = *digest;
    command.lease_id = call.lease_id;
  }
  const std::uint32_t partition = kernel.partition(command.digest);
  auto finish = [done = std::move(done)](Session* owner, store::InspectResult& result) mutable {
    if (owner == nullptr) return done(base::failed(core::failure(FailureCode::lease_not_found)));
    done(answer_for(*owner, result));
  };
  const BootTime deadline = context.received_at + kernel.settings.policy.default_timeout;
  Submission<store::InspectCommand, store::InspectResult>::start(
      kernel, {session.id, partition, deadline, &store::LeaseStore::inspect, std::move(command),
               std::move(finish)});
}

}  // namespace starlease::service
