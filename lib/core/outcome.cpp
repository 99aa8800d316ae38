// Names, sentences and retryability of the failure codes; see the header.
#include "lib/core/outcome.hpp"

#include "lib/base/assert.hpp"

namespace starlease::core {
namespace {

std::string_view sentence(FailureCode code) {
  switch (code) {
    case FailureCode::invalid_lease_request:
      return "The request is not valid";
    case FailureCode::invalid_credential:
      return "The peer is not a configured principal";
    case FailureCode::access_denied:
      return "The principal may not do this";
    case FailureCode::lease_conflict:
      return "Target lease is unavailable";
    case FailureCode::lease_lost:
      return "The lease is no longer held; stop the work it covers";
    case FailureCode::idempotency_conflict:
      return "This request_id was used with other inputs; use a new request_id";
    case FailureCode::deadline_exceeded:
      return "The deadline passed before the operation began; nothing was changed";
    case FailureCode::lease_rate_limited:
      return "Too much at once; retry later";
    case FailureCode::lease_backend_unavailable:
      return "The lease store cannot give a safe answer now; nothing was granted";
    case FailureCode::lease_outcome_unknown:
      return "The operation may have been done; repeat it with the same request_id";
    case FailureCode::lease_not_found:
      return "There is no such lease or document";
    case FailureCode::commit_conflict:
      return "What stands there does not allow this write; read it and decide again";
  }
  SL_UNREACHABLE();
}

}  // namespace

Failure failure(FailureCode code) {
  Failure result;
  result.code = code;
  result.message = sentence(code);
  return result;
}

Failure failure(FailureCode code, Milliseconds retry_after) {
  Failure result = failure(code);
  result.retry_after = retry_after;
  return result;
}

bool retryable(FailureCode code) {
  switch (code) {
    case FailureCode::lease_conflict:
    case FailureCode::deadline_exceeded:
    case FailureCode::lease_rate_limited:
    case FailureCode::lease_backend_unavailable:
    case FailureCode::lease_outcome_unknown:
      return true;
    case FailureCode::invalid_lease_request:
    case FailureCode::invalid_credential:
    case FailureCode::access_denied:
    case FailureCode::lease_lost:
    case FailureCode::idempotency_conflict:
    case FailureCode::lease_not_found:
    case FailureCode::commit_conflict:
      return false;
  }
  SL_UNREACHABLE();
}

std::string_view name(FailureCode code) {
  switch (code) {
    case FailureCode::invalid_lease_request:
      return "invalid_lease_request";
    case FailureCode::invalid_credential:
      return "invalid_credential";
    case FailureCode::access_denied:
      return "access_denied";
    case FailureCode::lease_conflict:
      return "lease_conflict";
    case FailureCode::lease_lost:
      return "lease_lost";
    case FailureCode::idempotency_conflict:
      return "idempotency_conflict";
    case FailureCode::deadline_exceeded:
      return "deadline_exceeded";
    case FailureCode::lease_rate_limited:
      return "lease_rate_limited";
    case FailureCode::lease_backend_unavailable:
      return "lease_backend_unavailable";
    case FailureCode::lease_outcome_unknown:
      return "lease_outcome_unknown";
    case FailureCode::lease_not_found:
      return "lease_not_found";
    case FailureCode::commit_conflict:
      return "commit_conflict";
  }
  SL_UNREACHABLE();
}

}  // namespace starlease::core
