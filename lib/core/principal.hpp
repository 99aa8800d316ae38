// Who may do what: principals, capabilities and scopes as values. Default deny: an empty scope list
// grants nothing. Contract, the authorization boundary.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/identity.hpp"
#include "lib/core/ids.hpp"

namespace starlease::core {

enum class Capability : std::uint8_t {
  targets_read,
  targets_lease,
  targets_commit,
  targets_force_release,
  targets_revoke,
  audit_read,
  namespace_admin,
};
inline constexpr std::array<std::string_view, 7> capability_names = {
    "targets:read",   "targets:lease", "targets:commit", "targets:force-release",
    "targets:revoke", "audit:read",    "namespace:admin"};

/// What a scope list of one component allows: exact normalized values, prefixes written "abc*", or
/// "*" for everything, which has to be written out.
using ScopeList = std::vector<std::string>;

struct Principal {
  PrincipalId id;
  ClientId client;
  CredentialId credential;
  std::string principal_class = "actor_component";
  std::vector<Capability> capabilities;
  /// One list per identity component, in canonical order.
  std::array<ScopeList, component_count> scope;
};

[[nodiscard]] bool has_capability(const Principal& principal, Capability capability);
/// True if every component of the identity is within the principal's scope.
[[nodiscard]] bool in_scope(const Principal& principal, const LockIdentity& identity);

}  // namespace starlease::core
