// The one place where a lease is declared lost: tells it exactly once, with its reason, and makes
// every later operation on it answer lease_lost. Contract "local lease-loss detection".
#pragma once

#include <optional>

#include "lib/service/held_leases.hpp"
#include "lib/service/seams.hpp"
#include "lib/service/settings.hpp"

namespace starlease::service {

class LossTeller {
 public:
  LossTeller(const Settings& settings, const Seams& seams, HeldLeases& held)
      : settings_(settings), seams_(seams), held_(held) {}

  /// Tells the session and forgets the lease; `lease` is gone afterwards.
  void lose(HeldLease& lease, core::LossReason reason, std::optional<core::LeaseState> state);
  /// The reason that a lease whose time is up is lost for.
  [[nodiscard]] core::LossReason reason_when_due(const HeldLease& lease) const;
  [[nodiscard]] std::uint64_t told() const { return told_; }

 private:
  const Settings& settings_;
  const Seams& seams_;
  HeldLeases& held_;
  std::uint64_t told_ = 0;
};

}  // namespace starlease::service
