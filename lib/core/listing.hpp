// Lists of active leases: by what they can be asked for, and the stable order in which they are
// told. ipc.md `list`; lua/index.lua keeps the same order in the store.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/core/identity.hpp"
#include "lib/core/ids.hpp"
#include "lib/core/lock_key.hpp"

namespace starlease::core {

enum class ListBy : std::uint8_t { owner, target, program };

[[nodiscard]] constexpr std::string_view name(ListBy by) {
  constexpr std::array<std::string_view, 3> names = {"owner", "target", "program"};
  return names[static_cast<std::size_t>(by)];
}

/// Which leases are meant, by normalized values; what `by` does not name is empty.
struct ListFilter {
  ListBy by{};
  PrincipalId owner;
  std::string tenant_id, program_id, target_namespace, target_id;
};

/// True if a lease of this owner on this identity is meant.
[[nodiscard]] bool is_meant(const ListFilter& filter, const LockIdentity& identity,
                            const PrincipalId& owner);

/// The eight bytes by which the store's indexes tell a text, or a pair of texts, from others.
[[nodiscard]] std::string index_hash(std::string_view text);
[[nodiscard]] std::string index_hash(const std::string& first, const std::string& second);

/// Where a lease stands: lists are in the order of these bytes, and a walk goes on behind one.
[[nodiscard]] std::string list_position(ListBy by, const LockIdentity& identity,
                                        const LockDigest& digest);

}  // namespace starlease::core
