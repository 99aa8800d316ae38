// Conversions; see the header.
#include "lib/client/convert.hpp"

#include "lib/base/assert.hpp"
#include "proto-ipc/lease_json.hpp"

namespace starlease::client {
namespace {

LeaseInfo lease_info(const core::LockIdentity& identity, const core::Grant& grant,
                     core::LeaseState state) {
  LeaseInfo info;
  info.identity = public_identity(identity);
  info.lease_id = grant.lease_id.value;
  info.fencing_token = grant.token.value;
  info.acquired_at = public_time(grant.acquired_at);
  info.renewed_at = public_time(grant.renewed_at);
  info.expires_at = public_time(grant.expires_at);
  info.ttl = grant.ttl;
  info.state = public_state(state);
  return info;
}

ErrorCode public_code(core::FailureCode code) {
  switch (code) {
    case core::FailureCode::invalid_lease_request:
      return ErrorCode::invalid_lease_request;
    case core::FailureCode::invalid_credential:
      return ErrorCode::invalid_credential;
    case core::FailureCode::access_denied:
      return ErrorCode::access_denied;
    case core::FailureCode::lease_conflict:
      return ErrorCode::lease_conflict;
    case core::FailureCode::lease_lost:
      return ErrorCode::lease_lost;
    case core::FailureCode::idempotency_conflict:
      return ErrorCode::idempotency_conflict;
    case core::FailureCode::deadline_exceeded:
      return ErrorCode::deadline_exceeded;
    case core::FailureCode::lease_rate_limited:
      return ErrorCode::lease_rate_limited;
    case core::FailureCode::lease_backend_unavailable:
      return ErrorCode::lease_backend_unavailable;
    case core::FailureCode::lease_outcome_unknown:
      return ErrorCode::lease_outcome_unknown;
    case core::FailureCode::lease_not_found:
      return ErrorCode::lease_not_found;
    case core::FailureCode::commit_conflict:
      return ErrorCode::commit_conflict;
  }
  SL_UNREACHABLE();
}

}  // namespace

LeaseState public_state(core::LeaseState state) {
  switch (state) {
    case core::LeaseState::active:
      return LeaseState::active;
    case core::LeaseState::expired:
      return LeaseState::expired;
    case core::LeaseState::released:
      return LeaseState::released;
    case core::LeaseState::revoked:
      return LeaseState::revoked;
  }
  SL_UNREACHABLE();
}

std::optional<LeaseState> public_state(std::optional<core::LeaseState> state) {
  if (!state) return std::nullopt;
  return public_state(*state);
}

LossReason public_reason(core::LossReason reason) {
  switch (reason) {
    case core::LossReason::expired:
      return LossReason::expired;
    case core::LossReason::renewal_rejected:
      return LossReason::renewal_rejected;
    case core::LossReason::backend_unavailable:
      return LossReason::backend_unavailable;
    case core::LossReason::maximum_lifetime:
      return LossReason::maximum_lifetime;
    case core::LossReason::heartbeat_missed:
      return LossReason::heartbeat_missed;
    case core::LossReason::released:
      return LossReason::released;
    case core::LossReason::force_released:
      return LossReason::force_released;
    case core::LossReason::revoked:
      return LossReason::revoked;
    case core::LossReason::recovered:
      return LossReason::recovered;
    case core::LossReason::shutdown:
      return LossReason::shutdown;
  }
  SL_UNREACHABLE();
}

BackendState public_backend(core::BackendState state) {
  switch (state) {
    case core::BackendState::ready:
      return BackendState::ready;
    case core::BackendState::recovering:
      return BackendState::recovering;
    case core::BackendState::unavailable:
      return BackendState::unavailable;
  }
  SL_UNREACHABLE();
}

Identity public_identity(const core::LockIdentity& identity) {
  const auto& c = identity.components;
  return {c[0], c[1], c[2], c[3], c[4], c[5], c[6]};
}

Error public_error(const core::Failure& failure, std::string correlation_id) {
  Error error;
  error.code = public_code(failure.code);
  error.message = failure.message;
  error.field = failure.field;
  error.retry_after = failure.retry_after;
  error.revision = failure.revision;
  error.correlation_id = std::move(correlation_id);
  return error;
}

Grant public_grant(const core::GrantAnswer& answer) {
  Grant grant;
  grant.lease = lease_info(answer.identity, answer.grant, answer.state);
  grant.envelope_json = envelope_json(answer.envelope);
  grant.valid_until_boottime_ns = answer.valid_until.time_since_epoch().count();
  grant.replayed = answer.replay.has_value();
  if (answer.replay) grant.current_state = public_state(answer.replay->current_state);
  return grant;
}

Invalidated public_invalidated(const core::InvalidatedAnswer& answer) {
  return {answer.lease_id.value, answer.token.value, public_time(answer.ended_at),
          answer.replay.has_value()};
}

Released public_released(const core::ReleasedAnswer& answer) {
  return {answer.lease_id.value, answer.token.value, public_time(answer.released_at),
          answer.replay.has_value()};
}

Inspection public_inspection(const core::InspectedAnswer& answer) {
  Inspection inspection;
  inspection.lease = lease_info(answer.identity, answer.grant, answer.state);
  if (answer.ended_at) inspection.ended_at = public_time(*answer.ended_at);
  inspection.end_reason = answer.end_reason;
  return inspection;
}

Resolution public_resolution(const core::ResolvedAnswer& answer) {
  struct Visitor {
    Resolution& resolution;
    void operator()(const core::GrantAnswer& a) const { resolution.result = public_grant(a); }
    void operator()(const core::ReleasedAnswer& a) const { resolution.result = public_released(a); }
    void operator()(const core::CommittedAnswer& a) const { resolution.result = public_commit(a); }
    void operator()(const core::InvalidatedAnswer& a) const {
      resolution.result = public_invalidated(a);
    }
    void operator()(const core::Failure& f) const { resolution.result = public_error(f, {}); }
  };
  Resolution resolution;
  resolution.committed = answer.committed;
  if (answer.result) std::visit(Visitor{resolution}, *answer.result);
  resolution.current_state = public_state(answer.current_state);
  return resolution;
}

SessionInfo session_info(const core::HelloAnswer& answer) {
  SessionInfo info;
  info.server = answer.server;
  info.principal_id = answer.owner.principal.value;
  info.client_id = answer.owner.client.value;
  info.credential_id = answer.owner.credential.value;
  info.service_instance_id = answer.owner.instance.value;
  info.resume = answer.resume;
  info.max_frame_bytes = answer.limits.max_frame_bytes;
  info.minimum_ttl = answer.limits.minimum_ttl;
  info.maximum_ttl = answer.limits.maximum_ttl;
  info.default_ttl = answer.limits.default_ttl;
  info.maximum_lifetime = answer.limits.maximum_lifetime;
  info.maximum_wait = answer.limits.maximum_wait;
  info.max_leases = answer.limits.max_leases;
  info.backend = public_backend(answer.backend);
  return info;
}

std::string envelope_json(const core::Envelope& envelope) {
  constexpr std::string_view before = R"({"e":)";
  ipc::JsonWriter writer;
  ipc::write_envelope(writer, "e", envelope);
  const std::string text = writer.finish();
  return text.substr(before.size(), text.size() - before.size() - 1);
}

core::RawIdentity raw_identity(const Identity& identity) {
  core::RawIdentity raw;
  raw.components = {identity.tenant_id,      identity.program_id, identity.target_namespace,
                    identity.target_id,      identity.actor_name, identity.workflow_name,
                    identity.operation_class};
  return raw;
}

core::AcquireCall acquire_call(const AcquireOptions& options) {
  core::AcquireCall call;
  call.identity = raw_identity(options.identity);
  call.request_id = core::RequestId(options.request_id);
  call.ttl = options.ttl;
  call.maximum_lifetime = options.maximum_lifetime;
  call.wait = options.wait;
  call.heartbeat = options.heartbeat;
  call.work.execution = core::ExecutionId(options.execution_id);
  call.work.job = core::JobId(options.job_id);
  call.work.trace = core::TraceId(options.trace_id);
  call.metadata = options.metadata_json;
  call.renew = options.auto_renew ? core::RenewMode::automatic : core::RenewMode::manual;
  call.on_disconnect =
      options.keep_on_disconnect ? core::OnDisconnect::keep : core::OnDisconnect::release;
  return call;
}

core::Operation core_operation(Operation operation) {
  switch (operation) {
    case Operation::acquire:
      return core::Operation::acquire;
    case Operation::renew:
      return core::Operation::renew;
    case Operation::release:
      return core::Operation::release;
    case Operation::commit:
      return core::Operation::commit;
    case Operation::force_release:
      return core::Operation::force_release;
    case Operation::revoke:
      return core::Operation::revoke;
  }
  SL_UNREACHABLE();
}

}  // namespace starlease::client
