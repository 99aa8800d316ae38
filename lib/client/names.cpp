// The names and classes of the public codes; see the installed headers.
#include <starlease/client.hpp>

#include "lib/base/assert.hpp"
#include "lib/base/rfc3339.hpp"

namespace starlease {

std::string_view name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_lease_request:
      return "invalid_lease_request";
    case ErrorCode::invalid_credential:
      return "invalid_credential";
    case ErrorCode::access_denied:
      return "access_denied";
    case ErrorCode::lease_conflict:
      return "lease_conflict";
    case ErrorCode::lease_lost:
      return "lease_lost";
    case ErrorCode::idempotency_conflict:
      return "idempotency_conflict";
    case ErrorCode::deadline_exceeded:
      return "deadline_exceeded";
    case ErrorCode::lease_rate_limited:
      return "lease_rate_limited";
    case ErrorCode::lease_backend_unavailable:
      return "lease_backend_unavailable";
    case ErrorCode::lease_outcome_unknown:
      return "lease_outcome_unknown";
    case ErrorCode::lease_not_found:
      return "lease_not_found";
    case ErrorCode::commit_conflict:
      return "commit_conflict";
    case ErrorCode::no_daemon:
      return "no_daemon";
    case ErrorCode::connection_lost:
      return "connection_lost";
    case ErrorCode::local_deadline:
      return "local_deadline";
    case ErrorCode::protocol_violation:
      return "protocol_violation";
  }
  SL_UNREACHABLE();
}

bool retryable(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::lease_conflict:
    case ErrorCode::deadline_exceeded:
    case ErrorCode::lease_rate_limited:
    case ErrorCode::lease_backend_unavailable:
    case ErrorCode::lease_outcome_unknown:
    case ErrorCode::no_daemon:
    case ErrorCode::connection_lost:
    case ErrorCode::local_deadline:
      return true;
    case ErrorCode::invalid_lease_request:
    case ErrorCode::invalid_credential:
    case ErrorCode::access_denied:
    case ErrorCode::lease_lost:
    case ErrorCode::idempotency_conflict:
    case ErrorCode::lease_not_found:
    case ErrorCode::commit_conflict:
    case ErrorCode::protocol_violation:
      return false;
  }
  SL_UNREACHABLE();
}

bool outcome_unknown(ErrorCode code) noexcept {
  return code == ErrorCode::lease_outcome_unknown || code == ErrorCode::connection_lost ||
         code == ErrorCode::local_deadline;
}

std::string Error::describe() const {
  std::string text(name(code));
  if (!field.empty()) text += " (" + field + ")";
  return text + ": " + message;
}

std::string to_rfc3339(BackendTime time) {
  return base::rfc3339_format(time.time_since_epoch().count());
}

std::string_view name(LeaseState state) noexcept {
  switch (state) {
    case LeaseState::active:
      return "active";
    case LeaseState::expired:
      return "expired";
    case LeaseState::released:
      return "released";
    case LeaseState::revoked:
      return "revoked";
  }
  SL_UNREACHABLE();
}

std::string_view name(LossReason reason) noexcept {
  switch (reason) {
    case LossReason::expired:
      return "expired";
    case LossReason::renewal_rejected:
      return "renewal_rejected";
    case LossReason::backend_unavailable:
      return "backend_unavailable";
    case LossReason::maximum_lifetime:
      return "maximum_lifetime";
    case LossReason::heartbeat_missed:
      return "heartbeat_missed";
    case LossReason::released:
      return "released";
    case LossReason::force_released:
      return "force_released";
    case LossReason::revoked:
      return "revoked";
    case LossReason::recovered:
      return "recovered";
    case LossReason::shutdown:
      return "shutdown";
    case LossReason::connection_lost:
      return "connection_lost";
  }
  SL_UNREACHABLE();
}

std::string_view name(BackendState state) noexcept {
  switch (state) {
    case BackendState::ready:
      return "ready";
    case BackendState::recovering:
      return "recovering";
    case BackendState::unavailable:
      return "unavailable";
  }
  SL_UNREACHABLE();
}

std::string_view name(Operation operation) noexcept {
  switch (operation) {
    case Operation::acquire:
      return "acquire";
    case Operation::renew:
      return "renew";
    case Operation::release:
      return "release";
    case Operation::commit:
      return "commit";
    case Operation::force_release:
      return "force_release";
    case Operation::revoke:
      return "revoke";
  }
  SL_UNREACHABLE();
}

std::string_view name(DocumentType type) noexcept {
  switch (type) {
    case DocumentType::target_state:
      return "target_state";
    case DocumentType::result:
      return "result";
    case DocumentType::checkpoint:
      return "checkpoint";
    case DocumentType::terminal_state:
      return "terminal_state";
    case DocumentType::schedule:
      return "schedule";
  }
  SL_UNREACHABLE();
}

std::string_view name(EventKind kind) noexcept {
  switch (kind) {
    case EventKind::lease_lost:
      return "lease_lost";
    case EventKind::lease_expiring:
      return "lease_expiring";
    case EventKind::lease_renewed:
      return "lease_renewed";
    case EventKind::backend_state:
      return "backend_state";
    case EventKind::draining:
      return "draining";
    case EventKind::disconnected:
      return "disconnected";
    case EventKind::reconnected:
      return "reconnected";
  }
  SL_UNREACHABLE();
}

}  // namespace starlease
