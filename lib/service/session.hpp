// One worker's session: who it is, where its events go, what it holds. It survives a reconnect with
// `resume`; while no connection is attached it is offline and only keeps what was told to be kept.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lib/core/calls.hpp"
#include "lib/core/principal.hpp"
#include "lib/service/settings.hpp"

namespace starlease::service {

struct HeldLease;

/// How a connection ended, and so what its worker may still believe.
enum class Departure : std::uint8_t {
  left,     // the worker closed it, said goodbye or died
  cut_off,  // the daemon closed it: the worker may not know yet, and relies on what it was granted
};

/// Where a session's events go: its connection. Delivering never fails; a connection that cannot
/// take an event closes itself.
class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void deliver(const core::Event& event) = 0;
  /// The session was taken over by another connection; this one must close.
  virtual void superseded() = 0;
  /// Nothing more will be told; the worker's closing in answer shows that it has read it all.
  virtual void farewell() = 0;
  /// The session holds (or no longer holds) something, so the peer's process is worth watching.
  virtual void watch_peer() = 0;
};

/// Names a session within this daemon; never reused.
enum class SessionId : std::uint64_t { none = 0 };

/// A loss that was told.
struct LostLease {
  /// By then the store has ended it too.
  BootTime until;
  core::FencingToken token;
  /// The store may hold it still, and the worker relies on it no more once its connection has
  /// ended.
  bool may_be_released = false;
};

struct Session {
  SessionId id{};
  core::Owner owner;
  const core::Principal* principal = nullptr;
  EventSink* sink = nullptr;
  bool admin = false;
  bool notify_renewed = false;
  bool notify_backend = false;
  BootTime last_frame;
  /// Intrusive list of what it holds.
  HeldLease* leases = nullptr;
  std::size_t lease_count = 0;
  /// Leases told lost, until the store itself would answer so (bounded by what it held).
  std::unordered_map<core::LeaseId, LostLease> lost;
  /// Losses that happened while offline; told right after the resuming hello.
  std::vector<core::Event> missed;
  BootTime offline_since;
  /// Told all by a drain; its worker has not closed in answer yet.
  bool bidden_farewell = false;
  /// Numbers of its requests that wait for the store.
  std::unordered_set<std::uint64_t> pending;

  [[nodiscard]] bool online() const { return sink != nullptr; }
  /// Tells now, or keeps a loss for the next resume.
  void tell(const core::Event& event);
  /// True if `lease_id` was told lost in this session and the store may still think otherwise.
  [[nodiscard]] bool told_lost(const core::LeaseId& lease_id) const {
    return lost.contains(lease_id);
  }
  /// True if nobody could miss it: offline, nothing held, no loss left to tell or to stand by.
  [[nodiscard]] bool done(BootTime now) const;
  /// Remembers a told loss, and drops those that have passed by `now`.
  void remember_lost(const core::LeaseId& lease_id, const LostLease& loss, BootTime now);
};

}  // namespace starlease::service
