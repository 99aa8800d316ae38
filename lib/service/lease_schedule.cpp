// Schedule of a held lease; see the header.
#include "lib/service/lease_schedule.hpp"

#include <algorithm>

namespace starlease::service {
namespace {

constexpr Milliseconds shortest_retry{20};
constexpr Milliseconds shortest_attempt{50};
constexpr Milliseconds longest_attempt{2000};
/// A TTL of fewer ticks than this is renewed at its own time, not at a tick's.
constexpr std::int64_t ticks_that_blur = 12;

}  // namespace

BootTime loss_due(const core::LeasePolicy& policy, const HeldLease& lease) {
  return lease.valid_until - core::margin(policy, lease.ttl());
}

BootTime expiring_due(const HeldLease& lease) {
  if (lease.expiring_told) return BootTime::max();
  return lease.lifetime_end - Milliseconds(lease.lifetime_ms) / 5;
}

BootTime heartbeat_due(const HeldLease& lease) {
  if (lease.heartbeat_ms == 0) return BootTime::max();
  return lease.session->last_frame + Milliseconds(lease.heartbeat_ms);
}

BootTime next_due(const core::LeasePolicy& policy, const HeldLease& lease) {
  const BootTime renew = lease.renewing ? BootTime::max() : lease.renew_due;
  return std::min({loss_due(policy, lease), renew, expiring_due(lease), heartbeat_due(lease)});
}

bool extendable(const HeldLease& lease) {
  return lease.expires_at_ms < lease.acquired_at_ms + static_cast<std::int64_t>(lease.lifetime_ms);
}

BootTime renewal_due(BootTime sent_at, Milliseconds ttl, Milliseconds tick,
                     std::int64_t jitter_ppm) {
  const Nanoseconds third = Nanoseconds(ttl) / 3;
  const BootTime due = sent_at + third + Nanoseconds(third.count() / 10'000'000 * jitter_ppm);
  if (ttl < ticks_that_blur * tick) return due;
  const Nanoseconds grid = tick;
  const Nanoseconds since_boot = due.time_since_epoch();
  return BootTime((since_boot + grid - Nanoseconds(1)) / grid * grid);
}

Milliseconds retry_delay(Milliseconds ttl, unsigned failures) {
  const Milliseconds longest = std::max(ttl / 10, shortest_retry);
  return std::min(longest, shortest_retry * (1U << std::min(failures, 10U)));
}

Milliseconds attempt_timeout(Milliseconds ttl) {
  return std::clamp(ttl / 4, shortest_attempt, longest_attempt);
}

}  // namespace starlease::service
