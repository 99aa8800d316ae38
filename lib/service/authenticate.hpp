// From a peer that the kernel vouches for to a configured principal. Nothing in a request creates
// authority: a peer that no row matches is nobody.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lib/base/stream.hpp"
#include "lib/core/principal.hpp"

namespace starlease::service {

/// How one principal is recognized.
struct PrincipalRow {
  std::uint32_t uid = 0;
  std::optional<std::uint32_t> gid;
  core::Principal principal;
};

class PrincipalTable {
 public:
  explicit PrincipalTable(std::vector<PrincipalRow> rows) : rows_(std::move(rows)) {}

  /// The first row that matches the peer, or null. The pointer lives as long as the table.
  [[nodiscard]] const core::Principal* find(const base::PeerIdentity& peer) const;

 private:
  std::vector<PrincipalRow> rows_;
};

}  // namespace starlease::service
