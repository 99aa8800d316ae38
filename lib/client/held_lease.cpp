// The table of leases; see the header.
#include "lib/client/held_lease.hpp"

#include "lib/base/assert.hpp"
#include "lib/client/convert.hpp"

namespace starlease::client {

void HeldLease::expires_at(core::BackendTime time) {
  grant.lease.expires_at = public_time(time);
  envelope.expires_at = time;
  grant.envelope_json = envelope_json(envelope);
}

void LeaseTable::add(HeldLease& lease) {
  lease.serial = ++last_serial_;
  by_serial_.emplace(lease.serial, &lease);
  // Should one lease ever be adopted twice, the newer handle hears of it.
  held_by_id_.insert_or_assign(lease.grant.lease.lease_id, &lease);
  ends_.add(lease.valid_until(), lease.serial);
}

void LeaseTable::remove(HeldLease& lease) {
  by_serial_.erase(lease.serial);
  const auto found = held_by_id_.find(lease.grant.lease.lease_id);
  if (found != held_by_id_.end() && found->second == &lease) held_by_id_.erase(found);
  ends_.remove(lease.valid_until(), lease.serial);
}

HeldLease* LeaseTable::find(std::string_view lease_id, std::int64_t token) {
  const auto found = held_by_id_.find(std::string(lease_id));
  if (found == held_by_id_.end()) return nullptr;
  return found->second->grant.lease.fencing_token == token ? found->second : nullptr;
}

HeldLease* LeaseTable::find(std::uint64_t serial) {
  const auto found = by_serial_.find(serial);
  return found == by_serial_.end() ? nullptr : found->second;
}

void LeaseTable::renewed(HeldLease& lease, BootTime valid_until) {
  SL_ASSERT(!lease.loss);
  // Answers and notices may pass each other; validity that was confirmed once stays.
  if (valid_until <= lease.valid_until()) return;
  ends_.remove(lease.valid_until(), lease.serial);
  lease.grant.valid_until_boottime_ns = nanoseconds_of(valid_until);
  ends_.add(valid_until, lease.serial);
}

void LeaseTable::lose(HeldLease& lease, Loss loss) {
  SL_ASSERT(!lease.loss);
  ends_.remove(lease.valid_until(), lease.serial);
  const auto found = held_by_id_.find(lease.grant.lease.lease_id);
  if (found != held_by_id_.end() && found->second == &lease) held_by_id_.erase(found);
  lease.loss = std::move(loss);
}

std::vector<HeldLease*> LeaseTable::ended(BootTime now) {
  std::vector<HeldLease*> ended;
  for (const std::uint64_t serial : ends_.take(now)) {
    if (HeldLease* lease = find(serial)) ended.push_back(lease);
  }
  return ended;
}

std::vector<std::uint64_t> LeaseTable::held() const {
  std::vector<std::uint64_t> serials;
  for (const auto& [id, lease] : held_by_id_) serials.push_back(lease->serial);
  return serials;
}

std::vector<HeldLease*> LeaseTable::all() const {
  std::vector<HeldLease*> leases;
  for (const auto& [serial, lease] : by_serial_) leases.push_back(lease);
  return leases;
}

}  // namespace starlease::client
