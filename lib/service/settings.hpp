// What the operator decides about the service, as plain values. daemon/config fills it from a
// checked configuration; tests and the simulator fill it by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/core/identity.hpp"
#include "lib/core/invalidation.hpp"
#include "lib/core/ttl_policy.hpp"
#include "lib/store/commands.hpp"

namespace starlease::service {

using core::BootTime;
using core::Milliseconds;
using core::Nanoseconds;

enum class OnRestart : std::uint8_t { new_epoch, trust_durable };

struct RecoverySettings {
  OnRestart on_restart = OnRestart::new_epoch;
  store::RecoveryGrace grace = store::RecoveryGrace::ttl;
  Milliseconds clock_tolerance{500};
  /// What the store acknowledged outlives its process: it stands alone and syncs every write.
  bool writes_survive = false;
  /// An operator's word that the namespace is new: an absent gate is then made, not recovered.
  bool init_namespace = false;
};

/// Bounds of what one daemon carries; past them new work is refused with lease_rate_limited.
struct AdmissionSettings {
  std::size_t max_sessions = 12'000;
  std::size_t max_leases = 200'000;
  std::size_t max_leases_per_session = 100'000;
  std::size_t max_waiters = 20'000;
  std::size_t max_waiters_per_lock = 1'000;
  /// Of one principal, besides ping and goodbye; 0: as many as come.
  std::size_t requests_per_second = 0;
};

struct Settings {
  std::string server_name = "starleased/0.0.0";
  std::string namespace_name = "default";
  std::int64_t max_frame_bytes = 262'144;
  core::LeasePolicy policy;
  core::IdentityPolicy identities;
  RecoverySettings recovery;
  /// Whose signatures end leases of others.
  std::vector<core::AdministratorKey> administrators;
  AdmissionSettings admission;
  /// Renewals that fall due within one tick go out together.
  Milliseconds renewal_tick{100};
};

}  // namespace starlease::service
