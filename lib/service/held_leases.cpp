// Held leases and their heap; see the header.
#include "lib/service/held_leases.hpp"

#include <algorithm>
#include <cstring>

#include "lib/base/assert.hpp"

namespace starlease::service {

PackedTexts::PackedTexts(const core::LockIdentity& identity, const core::LeaseId& id,
                         const core::ExecutionId& execution, const core::TraceId& trace) {
  std::array<std::string_view, count> texts;
  std::ranges::copy(identity.components, texts.begin());
  texts[lease_id] = id.value;
  texts[execution_id] = execution.value;
  texts[trace_id] = trace.value;
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    total += texts[i].size();
    SL_ASSERT(total <= UINT16_MAX);
    ends_[i] = static_cast<std::uint16_t>(total);
  }
  bytes_ = std::make_unique_for_overwrite<char[]>(total);
  char* at = bytes_.get();
  for (std::string_view text : texts) at = std::ranges::copy(text, at).out;
}

std::string_view PackedTexts::at(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return {bytes_.get() + begin, ends_[index] - begin};
}

core::LockIdentity PackedTexts::identity() const {
  core::LockIdentity identity;
  for (std::size_t i = 0; i < core::component_count; ++i) identity.components[i] = at(i);
  return identity;
}

HeldLeases::~HeldLeases() = default;

HeldLease& HeldLeases::add(const HoldRequest& request, Session& session) {
  const core::Grant& grant = request.grant;
  auto owned = std::make_unique<HeldLease>(
      request.digest,
      PackedTexts(request.identity, grant.lease_id, request.work.execution, request.work.trace));
  HeldLease& lease = *owned;
  lease.token = grant.token;
  lease.epoch = request.epoch;
  lease.acquired_at_ms = core::unix_ms(grant.acquired_at);
  lease.renewed_at_ms = core::unix_ms(grant.renewed_at);
  lease.expires_at_ms = core::unix_ms(grant.expires_at);
  lease.serial = ++last_serial_;
  lease.sequence = request.sequence;
  lease.ttl_ms = static_cast<std::uint32_t>(grant.ttl.count());
  lease.lifetime_ms = static_cast<std::uint32_t>(request.maximum_lifetime.count());
  lease.heartbeat_ms = static_cast<std::uint32_t>(request.heartbeat.count());
  lease.automatic = request.automatic;
  lease.keep_on_disconnect = request.keep_on_disconnect;

  lease.session = &session;
  lease.next = session.leases;
  if (session.leases != nullptr) session.leases->previous = &lease;
  session.leases = &lease;
  ++session.lease_count;

  const bool inserted = leases_.insert(std::move(owned)).second;
  SL_ASSERT(inserted);
  heap_.emplace_back();
  place(heap_.size() - 1, {BootTime::max(), &lease});
  return lease;
}

HeldLease* HeldLeases::find(const core::LockDigest& digest) {
  const auto found = leases_.find(digest);
  return found == leases_.end() ? nullptr : found->get();
}

void HeldLeases::remove(HeldLease& lease) {
  const std::size_t index = lease.heap_index;
  SL_ASSERT(index < heap_.size() && heap_[index].lease == &lease);
  const Due last = heap_.back();
  heap_.pop_back();
  if (last.lease != &lease) {
    place(index, last);
    settle(index);
  }
  Session& session = *lease.session;
  if (lease.previous != nullptr) lease.previous->next = lease.next;
  if (lease.next != nullptr) lease.next->previous = lease.previous;
  if (session.leases == &lease) session.leases = lease.next;
  --session.lease_count;
  leases_.erase(leases_.find(lease.digest));
  tell_earliest();
}

void HeldLeases::schedule(HeldLease& lease, BootTime due) {
  heap_[lease.heap_index].at = due;
  settle(lease.heap_index);
  tell_earliest();
}

void HeldLeases::tell_earliest() {
  const BootTime due = earliest();
  if (std::exchange(told_, due) != due && changed_) changed_(due);
}

void HeldLeases::place(std::size_t index, const Due& due) {
  heap_[index] = due;
  due.lease->heap_index = static_cast<std::uint32_t>(index);
}

/// Moves the entry at `index` up or down to where its time belongs.
void HeldLeases::settle(std::size_t index) {
  const Due moving = heap_[index];
  for (; index > 0; index = (index - 1) / children) {
    const Due& parent = heap_[(index - 1) / children];
    if (parent.at <= moving.at) break;
    place(index, parent);
  }
  while (true) {
    const std::size_t child = soonest_child(index);
    if (child == index || moving.at <= heap_[child].at) break;
    place(index, heap_[child]);
    index = child;
  }
  place(index, moving);
}

/// The child of `index` that is due first; `index` itself where it has none.
std::size_t HeldLeases::soonest_child(std::size_t index) const {
  const std::size_t first = children * index + 1;
  const std::size_t end = std::min(first + children, heap_.size());
  std::size_t soonest = index;
  for (std::size_t child = first; child < end; ++child) {
    if (soonest == index || heap_[child].at < heap_[soonest].at) soonest = child;
  }
  return soonest;
}

}  // namespace starlease::service
