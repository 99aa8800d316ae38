// What is answered: the closed set of codes, and an outcome that is either a value or a failure.
// Contract, table of HTTP and typed codes; ipc.md "Common fields".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/core/ids.hpp"
#include "lib/core/times.hpp"

namespace starlease::core {

/// Refusals. Success codes belong to the answers (calls.hpp).
enum class FailureCode : std::uint8_t {
  invalid_lease_request,
  invalid_credential,
  access_denied,
  lease_conflict,
  lease_lost,
  idempotency_conflict,
  deadline_exceeded,
  lease_rate_limited,
  lease_backend_unavailable,
  lease_outcome_unknown,
  lease_not_found,
  commit_conflict,
};

/// A refusal as the worker sees it. `message` is a stable sentence that says what to do; it carries
/// no other owner's identity, lock key, backend name or backend error.
struct Failure {
  FailureCode code{};
  std::string message;
  /// The offending input, for invalid_lease_request.
  std::string field;
  std::optional<Milliseconds> retry_after;
  /// Set for a stored refusal that is answered again (ipc.md, last paragraph of the operations).
  bool replayed = false;
  /// lease_conflict only: the caller's own instance holds it, under this lease id.
  std::optional<LeaseId> held_by_caller;
  /// commit_conflict only: the revision that stands there; 0 if there is none.
  std::optional<std::int64_t> revision;
};

template <class T>
using Outcome = base::Result<T, Failure>;

/// A refusal of bad input: names the field and says what is allowed.
[[nodiscard]] inline auto invalid(std::string_view field, std::string message) {
  Failure failure;
  failure.code = FailureCode::invalid_lease_request;
  failure.message = std::move(message);
  failure.field = field;
  return base::failed(std::move(failure));
}

/// A refusal with the code's standing sentence.
[[nodiscard]] Failure failure(FailureCode code);
[[nodiscard]] Failure failure(FailureCode code, Milliseconds retry_after);

/// True for exactly the five codes that ipc.md names.
[[nodiscard]] bool retryable(FailureCode code);
/// The code's name on the wire.
[[nodiscard]] std::string_view name(FailureCode code);

}  // namespace starlease::core
