// What stands behind a starlease::Lease, and the table of all of them that a client knows. The
// Lease owns its HeldLease; the table only points to it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include <starlease/lease.hpp>

#include "lib/client/due_set.hpp"
#include "lib/core/calls.hpp"

namespace starlease::client {

class Engine;

struct HeldLease {
  /// Null once the client is gone.
  Engine* engine = nullptr;
  /// Names it within its client; never reused.
  std::uint64_t serial = 0;
  Grant grant;
  core::Envelope envelope;
  /// False from a closed connection until a renewal in the resumed session has been confirmed: the
  /// daemon may have released the lease meanwhile.
  bool attached = true;
  std::optional<Loss> loss;
  bool loss_told = false;
  Lease::OnLost on_lost;

  [[nodiscard]] BootTime valid_until() const {
    return BootTime(Nanoseconds(grant.valid_until_boottime_ns));
  }
  /// Takes over a new expiry, in the envelope too.
  void expires_at(core::BackendTime time);
};

/// The leases of one client. Lost ones stay until their Lease is destroyed, but are not found by
/// id.
class LeaseTable {
 public:
  /// REQUIRES: `lease` stays where it is until remove(). Gives it its serial.
  void add(HeldLease& lease);
  void remove(HeldLease& lease);
  /// The lease that is held (not lost) under this id and token, or null.
  [[nodiscard]] HeldLease* find(std::string_view lease_id, std::int64_t token);
  [[nodiscard]] HeldLease* find(std::uint64_t serial);

  /// Takes over what a renewal told. Never shortens or revives: REQUIRES not lost.
  void renewed(HeldLease& lease, BootTime valid_until);
  /// Marks it lost; it expires no more. REQUIRES: not lost.
  void lose(HeldLease& lease, Loss loss);

  /// When the first of those held ends.
  [[nodiscard]] std::optional<BootTime> earliest_end() const { return ends_.earliest(); }
  /// Those whose validity has ended by `now` and that are not lost yet.
  [[nodiscard]] std::vector<HeldLease*> ended(BootTime now);
  /// The serials of those that are held; a copy, as callbacks change the table.
  [[nodiscard]] std::vector<std::uint64_t> held() const;
  /// All that are in the table, lost or not.
  [[nodiscard]] std::vector<HeldLease*> all() const;

 private:
  std::uint64_t last_serial_ = 0;
  std::unordered_map<std::uint64_t, HeldLease*> by_serial_;
  std::unordered_map<std::string, HeldLease*> held_by_id_;
  DueSet ends_;
};

}  // namespace starlease::client
