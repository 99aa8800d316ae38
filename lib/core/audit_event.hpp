// One audit event of the daemon's local trail: the contract's closed event types and the fields
// that may be in it. Mutations are also audited in the store by the same call that makes them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/core/lock_key.hpp"
#include "lib/core/outcome.hpp"
#include "lib/core/record.hpp"

namespace starlease::core {

enum class AuditType : std::uint8_t {
  target_lease_acquire,
  target_lease_renew,
  target_lease_release,
  target_lease_inspect,
  target_lease_resolve,
  target_lease_recover,
  target_lease_authenticate,
  target_lease_commit,
  target_lease_commit_rejected,
  target_lease_document,
  target_lease_list,
  target_lease_history,
  target_lease_force_release,
  target_lease_revoke,
};
inline constexpr std::array<std::string_view, 14> audit_type_names = {
    "target_lease_acquire",       "target_lease_renew",   "target_lease_release",
    "target_lease_inspect",       "target_lease_resolve", "target_lease_recover",
    "target_lease_authenticate",  "target_lease_commit",  "target_lease_commit_rejected",
    "target_lease_document",      "target_lease_list",    "target_lease_history",
    "target_lease_force_release", "target_lease_revoke"};

/// No credentials, metadata, request bodies, lock keys or backend text have a place here.
struct AuditEvent {
  AuditType type{};
  WallTime at;
  Nanoseconds latency{};
  RequestId request_id;
  CorrelationId correlation_id;
  DecisionId decision_id;
  WorkIds work;
  std::string principal_class;
  Owner owner;
  std::optional<LockIdentity> identity;
  std::optional<LeaseId> lease_id;
  std::optional<FencingToken> token;
  std::optional<Milliseconds> requested_ttl;
  std::optional<Milliseconds> effective_ttl;
  std::optional<LeaseState> resulting_state;
  /// Of force-release and revoke: why, and whose key has signed.
  std::string reason;
  std::string key_id;
  /// The stable result code, and whether a retry may help.
  std::string_view code;
  bool retryable = false;
};

}  // namespace starlease::core
