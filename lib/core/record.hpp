// The lease record of the contract as values, with the invariants that every read checks.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/core/fencing_token.hpp"
#include "lib/core/identity.hpp"
#include "lib/core/ids.hpp"
#include "lib/core/lock_key.hpp"
#include "lib/core/state.hpp"
#include "lib/core/times.hpp"

namespace starlease::core {

/// Who holds a lease: principal and instance are compared, the others are told. A process address
/// is never an owner.
struct Owner {
  PrincipalId principal;
  ClientId client;
  CredentialId credential;
  ServiceInstanceId instance;
  friend bool operator==(const Owner&, const Owner&) = default;
};

/// What a grant or renewal tells.
struct Grant {
  LeaseId lease_id;
  FencingToken token;
  BackendTime acquired_at;
  BackendTime renewed_at;
  BackendTime expires_at;
  Milliseconds ttl{};
  friend bool operator==(const Grant&, const Grant&) = default;
};

/// Identifiers of the work that a lease covers; each may be empty.
struct WorkIds {
  ExecutionId execution;
  JobId job;
  TraceId trace;
  friend bool operator==(const WorkIds&, const WorkIds&) = default;
};

struct LeaseRecord {
  LockIdentity identity;
  Owner owner;
  Grant grant;
  Milliseconds maximum_lifetime{};
  WorkIds work;
  RequestId request_id;
  /// A JSON object as compact text.
  std::string metadata = "{}";
  Epoch epoch;
  LeaseState state = LeaseState::active;
  /// When a terminal state was reached, and why; meaningless while active.
  BackendTime ended_at;
  std::string end_reason;
};

/// Checks what must hold in every record: bounds, order of times, lifetime, token. The error is a
/// sentence for an operator. REQUIRES: identity came from normalize() or is compared with one.
[[nodiscard]] base::Result<void, std::string> check_record(const LeaseRecord& record);

}  // namespace starlease::core
