// What an administrator signs to end another's lease. Contract "force-release" and "revoke";
// design.md 12.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/signing.hpp"
#include "lib/core/calls.hpp"

namespace starlease::core {

/// An administrator's key as the daemon knows it: its public half only.
struct AdministratorKey {
  std::string id;
  base::PublicKey key{};
};

/// The canonical statement of a call on a normalized identity: one compact JSON object, the same
/// bytes wherever it is made.
[[nodiscard]] std::string statement_of(const InvalidateCall& call, const LockIdentity& identity);

/// A reason or an incident's identifier: 1 to 512 bytes of UTF-8 without control characters.
[[nodiscard]] bool is_reason(std::string_view text);

}  // namespace starlease::core
