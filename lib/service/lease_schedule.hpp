// When something has to be done for a held lease. Pure functions of the lease, the policy and a
// jitter; loss comes before renewal comes before anything else.
#pragma once

#include "lib/core/ttl_policy.hpp"
#include "lib/service/held_leases.hpp"

namespace starlease::service {

/// The latest instant at which loss must be told: validity less the safety margin. design.md 2.
[[nodiscard]] BootTime loss_due(const core::LeasePolicy& policy, const HeldLease& lease);

/// When to tell that the maximum lifetime will end the lease: at 20 % of it left.
[[nodiscard]] BootTime expiring_due(const HeldLease& lease);

/// When the session's silence ends renewal; never, if the lease asked for no heartbeat.
[[nodiscard]] BootTime heartbeat_due(const HeldLease& lease);

/// The next instant at which anything is due.
[[nodiscard]] BootTime next_due(const core::LeasePolicy& policy, const HeldLease& lease);

/// True if a renewal could still move the expiry: the maximum lifetime has not been reached.
[[nodiscard]] bool extendable(const HeldLease& lease);

/// A third of the TTL after `sent_at`, spread by `jitter_ppm` (-1,000,000 .. 1,000,000 means
/// -10 % .. +10 %), rounded up to a tick where the TTL is long enough not to care.
[[nodiscard]] BootTime renewal_due(BootTime sent_at, Milliseconds ttl, Milliseconds tick,
                                   std::int64_t jitter_ppm);

/// How long to wait after the n-th failed attempt: doubling, at most a tenth of the TTL.
[[nodiscard]] Milliseconds retry_delay(Milliseconds ttl, unsigned failures);

/// How long one renewal call may take before the next attempt: a quarter of the TTL, 50 ms to 2 s.
[[nodiscard]] Milliseconds attempt_timeout(Milliseconds ttl);

}  // namespace starlease::service
