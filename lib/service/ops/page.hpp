// Pages of long answers: how large one is, and the cursor that says where the next begins. A cursor
// is opaque, and sealed with the daemon's own key: it serves only whoever got it, for the question
// that it belongs to.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lib/service/kernel.hpp"

namespace starlease::service {

/// Seals and opens the cursors of one question.
class CursorSeal {
 public:
  /// `filter`: every value that the answer depends on. `key` must outlive the seal.
  CursorSeal(const base::MacKey& key, std::string_view operation, const core::PrincipalId& caller,
             std::span<const std::string> filter);

  /// base64url of the position and 16 bytes of its MAC.
  [[nodiscard]] std::string seal(std::string_view position) const;
  /// The position; empty where there is no cursor. invalid_lease_request for one that is not ours,
  /// or of another question or principal.
  [[nodiscard]] core::Outcome<std::string> open(const std::optional<std::string>& cursor) const;

 private:
  [[nodiscard]] std::string mac(std::string_view position) const;

  const base::MacKey* key_;
  std::string question_;
};

/// How many leases an answer tells: as asked, within what is allowed and what fits into a frame.
[[nodiscard]] std::size_t page_size(const Settings& settings, const core::PageRequest& page);

/// When a long search tells what it has, so that its answer is not too late for who waits for it.
[[nodiscard]] BootTime enough_at(const Settings& settings, BootTime received_at);

}  // namespace starlease::service
