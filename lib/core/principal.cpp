// Evaluation of capabilities and scopes; see the header.
#include "lib/core/principal.hpp"

#include <algorithm>

namespace starlease::core {
namespace {

bool allows(const ScopeList& list, std::string_view value) {
  return std::ranges::any_of(list, [value](std::string_view pattern) {
    if (!pattern.ends_with('*')) return pattern == value;
    return value.starts_with(pattern.substr(0, pattern.size() - 1));
  });
}

}  // namespace

bool has_capability(const Principal& principal, Capability capability) {
  return std::ranges::find(principal.capabilities, capability) != principal.capabilities.end();
}

bool in_scope(const Principal& principal, const LockIdentity& identity) {
  for (std::size_t i = 0; i < component_count; ++i) {
    if (!allows(principal.scope[i], identity.components[i])) return false;
  }
  return true;
}

}  // namespace starlease::core
