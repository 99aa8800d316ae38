// A worker's session; see the header.
#include "lib/service/session.hpp"

#include <algorithm>

namespace starlease::service {

void Session::tell(const core::Event& event) {
  if (sink != nullptr) {
    sink->deliver(event);
  } else if (std::holds_alternative<core::LeaseLost>(event)) {
    missed.push_back(event);
  }
}

bool Session::done(BootTime now) const {
  const auto passed = [now](const auto& entry) { return entry.second.until <= now; };
  return !online() && lease_count == 0 && missed.empty() && std::ranges::all_of(lost, passed);
}

void Session::remember_lost(const core::LeaseId& lease_id, const LostLease& loss, BootTime now) {
  // Clean up only when the table has doubled since nothing was in it, so that this stays cheap.
  if (lost.size() >= 64 && (lost.size() & (lost.size() - 1)) == 0) {
    std::erase_if(lost, [now](const auto& entry) { return entry.second.until <= now; });
  }
  lost.insert_or_assign(lease_id, loss);
}

}  // namespace starlease::service
