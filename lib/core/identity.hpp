// The canonical lock identity: seven normalized components. Contract "canonical lock identity";
// rules of normalization in ipc.md "Lock identity".
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/outcome.hpp"

namespace starlease::core {

enum class Component : std::uint8_t {
  tenant_id,
  program_id,
  target_namespace,
  target_id,
  actor_name,
  workflow_name,
  operation_class,
};
inline constexpr std::size_t component_count = 7;
/// Names as on the wire, in canonical order.
inline constexpr std::array<std::string_view, component_count> component_names = {
    "tenant_id",  "program_id",    "target_namespace", "target_id",
    "actor_name", "workflow_name", "operation_class"};

/// What a caller sent: not trusted, not normalized; an absent component is empty optional.
struct RawIdentity {
  std::array<std::optional<std::string>, component_count> components;
};

/// A normalized identity. Only normalize() makes one from input; equal identities have equal bytes.
struct LockIdentity {
  std::array<std::string, component_count> components;

  [[nodiscard]] const std::string& at(Component c) const {
    return components[static_cast<std::size_t>(c)];
  }
  friend bool operator==(const LockIdentity&, const LockIdentity&) = default;
};

/// What the operator configured about identities.
struct IdentityPolicy {
  /// The closed list of operation classes, normalized.
  std::vector<std::string> operation_classes = {"default"};
  /// Target namespaces (normalized) whose target_id keeps its case.
  std::vector<std::string> case_sensitive_namespaces;
};

/// Normalizes and validates all seven. Fails with invalid_lease_request whose field is
/// "identity.<component>". workflow_name and operation_class default to "default".
[[nodiscard]] Outcome<LockIdentity> normalize(const RawIdentity& raw, const IdentityPolicy& policy);

}  // namespace starlease::core
