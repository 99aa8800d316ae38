// The leases that this daemon holds for its sessions, and the heap of what has to be done for them
// when. Plain values: the loss, renewal and operation objects decide, this only keeps and orders.
//
// Memory matters here (100,000 leases in one daemon): the texts of a lease share one allocation.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lib/core/calls.hpp"
#include "lib/service/session.hpp"

namespace starlease::service {

/// Several short strings in one allocation.
class PackedTexts {
 public:
  static constexpr std::size_t count = core::component_count + 3;
  static constexpr std::size_t lease_id = core::component_count;
  static constexpr std::size_t execution_id = lease_id + 1;
  static constexpr std::size_t trace_id = lease_id + 2;

  PackedTexts(const core::LockIdentity& identity, const core::LeaseId& id,
              const core::ExecutionId& execution, const core::TraceId& trace);
  [[nodiscard]] std::string_view at(std::size_t index) const;
  [[nodiscard]] core::LockIdentity identity() const;

 private:
  std::unique_ptr<char[]> bytes_;
  std::array<std::uint16_t, count> ends_{};
};

struct HeldLease {
  HeldLease(const core::LockDigest& lock, PackedTexts packed)
      : digest(lock), texts(std::move(packed)) {}

  core::LockDigest digest;
  PackedTexts texts;
  Session* session = nullptr;
  HeldLease* next = nullptr;  // in its session's list
  HeldLease* previous = nullptr;

  core::FencingToken token;
  core::Epoch epoch;
  std::int64_t acquired_at_ms = 0;  // backend time
  std::int64_t expires_at_ms = 0;
  std::int64_t renewed_at_ms = 0;
  /// Up to here the holder may rely on it.
  BootTime valid_until;
  /// When the maximum lifetime ends, by local reckoning.
  BootTime lifetime_end;
  BootTime renew_due = BootTime::max();
  std::uint64_t serial = 0;   // tells a successor on the same lock from this one
  std::int64_t sequence = 0;  // of timed renewals
  std::uint32_t ttl_ms = 0;
  std::uint32_t lifetime_ms = 0;
  std::uint32_t heartbeat_ms = 0;
  std::uint32_t heap_index = 0;
  std::uint8_t failures = 0;  // of renewal, in a row
  bool automatic : 1 = true;
  bool keep_on_disconnect : 1 = false;
  bool renewing : 1 = false;   // a timed renewal is under way
  bool releasing : 1 = false;  // a release is under way
  bool expiring_told : 1 = false;
  bool check_again : 1 = false;  // a notice came while a renewal was under way

  [[nodiscard]] core::LeaseId lease_id() const {
    return core::LeaseId(texts.at(PackedTexts::lease_id));
  }
  [[nodiscard]] Milliseconds ttl() const { return Milliseconds(ttl_ms); }
};

/// What a new entry is made of.
struct HoldRequest {
  core::LockDigest digest;
  core::LockIdentity identity;
  core::Grant grant;
  core::WorkIds work;
  core::Epoch epoch;
  Milliseconds maximum_lifetime{};
  Milliseconds heartbeat{};
  bool automatic = true;
  bool keep_on_disconnect = false;
  std::int64_t sequence = 0;
};

class HeldLeases {
 public:
  ~HeldLeases();
  /// Adds a lease to a session. REQUIRES: nothing is held on that lock.
  HeldLease& add(const HoldRequest& request, Session& session);
  [[nodiscard]] HeldLease* find(const core::LockDigest& digest);
  [[nodiscard]] bool is_held(const core::LockDigest& digest, const core::LeaseId& lease_id) {
    const HeldLease* lease = find(digest);
    return lease != nullptr && lease->texts.at(PackedTexts::lease_id) == lease_id.value;
  }
  /// Takes it out of the heap and its session's list, and frees it.
  void remove(HeldLease& lease);

  /// Puts `lease` where `due` belongs in the heap.
  void schedule(HeldLease& lease, BootTime due);
  /// Called whenever earliest() has changed. Set once.
  void when_earliest_changes(std::function<void(BootTime)> changed) {
    changed_ = std::move(changed);
  }
  /// The one to act on first, if that is to be done by `now`; else null.
  [[nodiscard]] HeldLease* due_by(BootTime now) const {
    return heap_.empty() || heap_.front().at > now ? nullptr : heap_.front().lease;
  }
  /// When that is; never, if nothing is held.
  [[nodiscard]] BootTime earliest() const {
    return heap_.empty() ? BootTime::max() : heap_.front().at;
  }
  [[nodiscard]] std::size_t size() const { return leases_.size(); }

  /// Collects first, so that `visit` may remove leases.
  template <class Visit>
  void for_each(Visit&& visit) {
    std::vector<core::LockDigest> digests;
    digests.reserve(leases_.size());
    for (const auto& lease : leases_) digests.push_back(lease->digest);
    for (const auto& digest : digests) {
      if (HeldLease* lease = find(digest)) visit(*lease);
    }
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const core::LockDigest& digest) const {
      return std::hash<core::LockDigest>{}(digest);
    }
    std::size_t operator()(const std::unique_ptr<HeldLease>& lease) const {
      return (*this)(lease->digest);
    }
  };
  struct Equal {
    using is_transparent = void;
    using Owned = std::unique_ptr<HeldLease>;
    bool operator()(const Owned& a, const Owned& b) const { return a->digest == b->digest; }
    bool operator()(const Owned& a, const core::LockDigest& b) const { return a->digest == b; }
    bool operator()(const core::LockDigest& a, const Owned& b) const { return a == b->digest; }
  };

  /// The times stand in the heap itself: ordering a hundred thousand leases must not touch them.
  struct Due {
    BootTime at;
    HeldLease* lease = nullptr;
  };
  void place(std::size_t index, const Due& due);
  void settle(std::size_t index);
  [[nodiscard]] std::size_t soonest_child(std::size_t index) const;
  void tell_earliest();

  /// Of an entry in the heap: four stand in one line of the cache.
  static constexpr std::size_t children = 4;
  std::unordered_set<std::unique_ptr<HeldLease>, Hash, Equal> leases_;

  std::vector<Due> heap_;
  BootTime told_ = BootTime::max();
  std::function<void(BootTime)> changed_;
  std::uint64_t last_serial_ = 0;
};

}  // namespace starlease::service
