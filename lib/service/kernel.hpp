// The parts of the service that its operations share, wired once. Owned by LeaseService; operations
// (lib/service/ops) get a reference and know nothing of connections.
#pragma once

#include <memory>
#include <unordered_map>

#include "lib/service/call_context.hpp"
#include "lib/service/held_leases.hpp"
#include "lib/service/loss.hpp"
#include "lib/service/recovery.hpp"
#include "lib/service/releaser.hpp"
#include "lib/service/renewal.hpp"
#include "lib/service/session_table.hpp"
#include "lib/service/sweeper.hpp"
#include "lib/service/waiters.hpp"

namespace starlease::service {

/// A request that waits for the store. Owned by the kernel until it has answered.
class PendingOperation {
 public:
  virtual ~PendingOperation() = default;
  /// Its worker's connection ended: nobody hears the answer; what it may have acquired is released.
  virtual void session_gone() = 0;
  virtual void store_may_serve() = 0;
  [[nodiscard]] virtual SessionId session() const = 0;
};

class Kernel {
 public:
  Kernel(const Settings& s, const Seams& e);

  const Settings& settings;
  const Seams& seams;
  core::IdFactory ids;
  SessionTable sessions;
  HeldLeases held;
  LossTeller loss;
  Recovery recovery;
  Renewer renewer;
  Releaser releaser;
  Waiters waiters;
  Sweeper sweeper;
  bool draining = false;

  [[nodiscard]] BootTime now() const { return seams.clock.boot_now(); }
  [[nodiscard]] std::uint32_t partition(const core::LockDigest& digest) const {
    return core::partition_of(digest, seams.store.partition_count());
  }
  /// A number for a new operation.
  [[nodiscard]] std::uint64_t next_number() { return ++last_operation_; }
  /// Keeps an operation until finished().
  void keep(std::uint64_t number, std::unique_ptr<PendingOperation> operation);
  [[nodiscard]] PendingOperation* pending(std::uint64_t number);
  /// Takes it out; it is freed by sweep_finished(), so that it may be called from inside the
  /// operation.
  void finished(std::uint64_t number);
  /// REQUIRES: no operation is on the stack; turn() calls it first at every wake-up.
  void sweep_finished() { finished_.clear(); }
  [[nodiscard]] std::size_t pending_count() const { return operations_.size(); }
  /// Tells every waiting operation that the store may serve (again).
  void store_may_serve();
  /// Tells the session's operations that their worker went away.
  void session_gone(Session& session);

  /// The lease under this id in this session; null if it is not held there.
  [[nodiscard]] HeldLease* held_by(const Session& session, const core::LeaseId& lease_id);
  /// True if this owner's worker has had the lease, in whatever session: it is held, or its loss
  /// was told. What becomes of it is then decided there.
  [[nodiscard]] bool is_known(const core::Owner& owner, const core::LockDigest& digest,
                              const core::LeaseId& lease_id);
  /// Starts holding what the store granted; a stale entry on the same lock is told lost first.
  HeldLease& hold(const HoldRequest& request, const store::Head& head, Session& session);
  /// Ends a session that is offline and has nothing left.
  void drop_if_done(Session& session);

 private:
  std::unordered_map<std::uint64_t, std::unique_ptr<PendingOperation>> operations_;
  std::vector<std::unique_ptr<PendingOperation>> finished_;
  std::uint64_t last_operation_ = 0;
};

/// Maps a store status that is not the operation's own outcome to the worker's failure.
[[nodiscard]] core::Failure failure_of(const store::Head& head);

/// How long until trying again makes sense where the store does not say.
inline constexpr Milliseconds default_retry_after{250};

}  // namespace starlease::service
