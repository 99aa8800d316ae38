// Working backwards from the end of validity; see the header.
#include "lib/cli/kill_plan.hpp"

#include <algorithm>

#include "lib/base/assert.hpp"

namespace starlease::cli {

KillPlan plan_kill(BootTime valid_until, Milliseconds ttl, std::optional<Milliseconds> kill_after) {
  const Milliseconds kill_lead = std::clamp(ttl / 10, Milliseconds(20), longest_kill_lead);
  const Milliseconds silence = std::min(longest_silence_lead, ttl * 9 / 50);
  KillPlan plan;
  plan.kill_at = valid_until - kill_lead;
  plan.term_at = kill_after ? plan.kill_at - std::min(*kill_after, ttl / 2)
                            : valid_until - std::max(silence, kill_lead);
  return plan;
}

bool may_be_granted_now(LossReason reason) {
  switch (reason) {
    case LossReason::renewal_rejected:
    case LossReason::released:
    case LossReason::force_released:
    case LossReason::revoked:
    case LossReason::shutdown:
    case LossReason::connection_lost:
      return true;
    case LossReason::expired:
    case LossReason::backend_unavailable:
    case LossReason::maximum_lifetime:
    case LossReason::heartbeat_missed:
    case LossReason::recovered:
      return false;
  }
  SL_UNREACHABLE();
}

}  // namespace starlease::cli
