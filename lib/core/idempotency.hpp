// What makes a retry the same request. Contract "idempotency"; design.md 9. Pure functions.
#pragma once

#include <string>

#include "lib/core/calls.hpp"
#include "lib/core/lock_key.hpp"

namespace starlease::core {

/// Names an idempotency record: 43 characters of base64url over operation, lock key, owner
/// principal and request id.
struct IdempotencyScope {
  std::string value;
  friend bool operator==(const IdempotencyScope&, const IdempotencyScope&) = default;
};

[[nodiscard]] IdempotencyScope idempotency_scope(Operation operation, const LockDigest& digest,
                                                 const PrincipalId& principal,
                                                 const RequestId& request_id);

/// SHA-256 over every input that affects behaviour. Deadlines are not among them: a retry has a new
/// one.
using RequestDigest = base::Sha256;
[[nodiscard]] RequestDigest request_digest(const AcquireCall& call, const LockDigest& digest,
                                           const Owner& owner);
[[nodiscard]] RequestDigest request_digest(const RenewCall& call, const Owner& owner);
[[nodiscard]] RequestDigest request_digest(const ReleaseCall& call, const Owner& owner);
[[nodiscard]] RequestDigest request_digest(const CommitCall& call, const Owner& owner);
/// Over the statement, which says everything, and who asks.
[[nodiscard]] RequestDigest request_digest(const InvalidateCall& call, std::string_view statement,
                                           const Owner& owner);

}  // namespace starlease::core
