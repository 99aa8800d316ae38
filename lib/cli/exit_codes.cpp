// From failures to exit codes and advice; see the header.
#include "lib/cli/exit_codes.hpp"

#include "lib/base/assert.hpp"

namespace starlease::cli {

ExitCode exit_code(ErrorCode code, bool waited) {
  switch (code) {
    case ErrorCode::invalid_lease_request:
      return ExitCode::usage;
    case ErrorCode::invalid_credential:
    case ErrorCode::access_denied:
      return ExitCode::denied;
    case ErrorCode::lease_conflict:
      return waited ? ExitCode::timed_out : ExitCode::conflict;
    case ErrorCode::lease_lost:
      return ExitCode::lost;
    case ErrorCode::idempotency_conflict:
      return ExitCode::request_id_reused;
    case ErrorCode::deadline_exceeded:
      return ExitCode::timed_out;
    case ErrorCode::lease_rate_limited:
      return ExitCode::rate_limited;
    case ErrorCode::lease_backend_unavailable:
      return ExitCode::unavailable;
    case ErrorCode::lease_outcome_unknown:
    case ErrorCode::connection_lost:
    case ErrorCode::local_deadline:
      return ExitCode::outcome_unknown;
    case ErrorCode::lease_not_found:
      return ExitCode::no_such_lease;
    case ErrorCode::commit_conflict:
      return ExitCode::commit_conflict;
    case ErrorCode::no_daemon:
      return ExitCode::no_daemon;
    case ErrorCode::protocol_violation:
      return ExitCode::internal;
  }
  SL_UNREACHABLE();
}

std::string_view advice(ErrorCode code, bool waited) {
  switch (code) {
    case ErrorCode::invalid_credential:
      return "ask the operator to add this user to the daemon's principals";
    case ErrorCode::access_denied:
      return "ask the operator for the capability and scope that this needs";
    case ErrorCode::lease_conflict:
      return waited ? "wait longer with --wait, or see its state with starlease inspect"
                    : "wait for it with --wait, or see its state with starlease inspect";
    case ErrorCode::lease_backend_unavailable:
      return "retry, or look at starlease ping and starlease admin namespace status";
    case ErrorCode::deadline_exceeded:
      return "give it more time with --timeout";
    case ErrorCode::commit_conflict:
      return "starlease document shows what stands there";
    case ErrorCode::no_daemon:
      return "--socket or STARLEASE_SOCKET names it, for admin --admin-socket or "
             "STARLEASE_ADMIN_SOCKET";
    case ErrorCode::local_deadline:
    case ErrorCode::connection_lost:
    case ErrorCode::lease_outcome_unknown:
    case ErrorCode::invalid_lease_request:
    case ErrorCode::lease_lost:
    case ErrorCode::idempotency_conflict:
    case ErrorCode::lease_rate_limited:
    case ErrorCode::lease_not_found:
    case ErrorCode::protocol_violation:
      return {};
  }
  SL_UNREACHABLE();
}

}  // namespace starlease::cli
