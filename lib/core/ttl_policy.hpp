// What the operator allows a lease to be, and the arithmetic of local validity. Contract "time";
// design.md 2. Pure functions.
#pragma once

#include <optional>

#include "lib/core/outcome.hpp"
#include "lib/core/times.hpp"

namespace starlease::core {

struct LeasePolicy {
  Milliseconds minimum_ttl{1000};
  Milliseconds maximum_ttl{60'000};
  Milliseconds default_ttl{30'000};
  Milliseconds maximum_lifetime{300'000};
  Milliseconds maximum_wait{60'000};
  Milliseconds default_timeout{5000};
  Milliseconds maximum_timeout{120'000};
  /// A lease is told lost this long before its local validity ends (at most a fifth of its TTL).
  Milliseconds safety_margin{250};
  /// Kept for replays after the maximum lifetime or this, whichever is longer.
  Milliseconds retry_window{600'000};
  /// How long an identity stays closed after an expiry or a recovery, for downstreams that cannot
  /// check tokens; zero: not at all.
  Milliseconds lock_delay{0};
  /// Clocks drift: this share of the TTL (parts per million), plus two milliseconds for rounding.
  std::int64_t drift_ppm = 2000;
};

struct LeaseTerms {
  Milliseconds ttl;
  Milliseconds maximum_lifetime;
};

/// Checks minimum <= ttl <= maximum (both inclusive) and a positive lifetime; a lifetime beyond the
/// policy's is cut to it, and a TTL beyond the lifetime is cut to that.
[[nodiscard]] Outcome<LeaseTerms> effective_terms(const LeasePolicy& policy,
                                                  std::optional<Milliseconds> ttl,
                                                  std::optional<Milliseconds> maximum_lifetime);

/// How much earlier than the backend a holder must stop relying on `ttl`.
[[nodiscard]] Milliseconds drift_allowance(const LeasePolicy& policy, Milliseconds ttl);

/// The instant up to which a holder may rely on a lease that was confirmed to last `remaining` by a
/// call sent at `sent_at`. REQUIRES: sent_at was read before the command was written.
[[nodiscard]] BootTime valid_until(const LeasePolicy& policy, BootTime sent_at,
                                   Milliseconds remaining);

/// The margin that applies to a lease of this TTL.
[[nodiscard]] Milliseconds margin(const LeasePolicy& policy, Milliseconds ttl);

/// How long an idempotency record is kept.
[[nodiscard]] Milliseconds replay_retention(const LeasePolicy& policy);

}  // namespace starlease::core
