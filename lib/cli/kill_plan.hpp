// When the executor must stop its command so that nothing of it is alive when local validity ends.
// Pure arithmetic on CLOCK_BOOTTIME, worked backwards from the end.
#pragma once

#include <optional>

#include <starlease/lease.hpp>

#include "lib/client/boot_clock.hpp"

namespace starlease::cli {

using client::BootTime;
using client::Milliseconds;

/// From TERM to KILL where nothing was asked for and validity leaves as much.
inline constexpr Milliseconds standard_kill_after{5000};
/// Killing and reaping a tree of a thousand processes takes well under this.
inline constexpr Milliseconds longest_kill_lead{100};
/// The daemon tells of a loss 250 ms before validity ends; somewhat later it must be hanging.
inline constexpr Milliseconds longest_silence_lead{200};
/// A draining daemon gives leases away 500 ms after it has said so.
inline constexpr Milliseconds drain_patience{350};

struct KillPlan {
  /// Without news of a renewal until then, TERM.
  BootTime term_at;
  /// KILL at the latest.
  BootTime kill_at;
};

/// The plan for a lease that may be relied on until `valid_until`.
/// `kill_after`: the caller's wish for the time from TERM to KILL; at most half the TTL is used, as
/// renewals come at a third of it.
[[nodiscard]] KillPlan plan_kill(BootTime valid_until, Milliseconds ttl,
                                 std::optional<Milliseconds> kill_after);

/// True where a lease lost for this reason may be granted to another already, whatever validity was
/// left: there is no time for TERM then.
[[nodiscard]] bool may_be_granted_now(LossReason reason);

}  // namespace starlease::cli
