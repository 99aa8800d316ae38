// Declaring a lease lost; see the header.
#include "lib/service/loss.hpp"

#include "lib/service/lease_schedule.hpp"

namespace starlease::service {

void LossTeller::lose(HeldLease& lease, core::LossReason reason,
                      std::optional<core::LeaseState> state) {
  const BootTime now = seams_.clock.boot_now();
  Session& session = *lease.session;
  core::LeaseLost event;
  event.lease_id = lease.lease_id();
  event.token = lease.token;
  event.identity = lease.texts.identity();
  event.reason = reason;
  event.state = state;
  event.detected_at = seams_.clock.wall_now();
  event.valid_for = base::floor_ms(lease.valid_until - now);
  // The store's clock may run slower than ours by the drift allowance, so remember for longer.
  const bool ended_there = state || reason == core::LossReason::renewal_rejected;
  const LostLease loss{lease.valid_until + lease.ttl(), lease.token,
                       !ended_there && session.online() && !lease.keep_on_disconnect};
  session.remember_lost(event.lease_id, loss, now);
  held_.remove(lease);
  ++told_;
  seams_.log.warning("lease lost", {{"lease_id", event.lease_id.value},
                                    {"token", event.token.value},
                                    {"reason", core::name(reason)},
                                    {"valid_for_ms", event.valid_for.count()}});
  session.tell(event);
}

core::LossReason LossTeller::reason_when_due(const HeldLease& lease) const {
  if (!extendable(lease)) return core::LossReason::maximum_lifetime;
  if (lease.failures > 0) return core::LossReason::backend_unavailable;
  return core::LossReason::expired;
}

}  // namespace starlease::service
