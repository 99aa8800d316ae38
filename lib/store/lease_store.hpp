// LeaseStore: the seam between the service and whatever keeps leases. Valkey in production
// (daemon/valkey), a model in the simulator. Contract "operations"; one method per atomic
// operation.
//
// For every method: asynchronous, `done` is called exactly once, never from inside the call, never
// after the store is destroyed. A command whose deadline passes before it was written completes as
// deadline_exceeded (nothing was done); one that was written and not answered by then, or whose
// connection broke, completes as unknown. One call's deadline never fails another call.
// Commands are written in the order of the calls.
#pragma once

#include <vector>

#include "lib/base/completion.hpp"
#include "lib/store/commands.hpp"
#include "lib/store/store_events.hpp"

namespace starlease::store {

template <class T>
using Done = base::Completion<T>;

class LeaseStore {
 public:
  virtual ~LeaseStore() = default;

  /// Starts connecting; `listener` must outlive the store. REQUIRES: called once.
  virtual void start(StoreListener& listener) = 0;
  /// Partitions of the namespace; fixed.
  [[nodiscard]] virtual std::uint32_t partition_count() const = 0;
  /// Commands written or queued and not completed.
  [[nodiscard]] virtual std::size_t pending() const = 0;

  virtual void acquire(AcquireCommand command, BootTime deadline, Done<AcquireResult> done) = 0;
  /// Many leases of one partition in one call. REQUIRES: 1..limits::renewals_per_call, one
  /// partition.
  virtual void renew_timed(std::vector<TimedRenewal> renewals, BootTime deadline,
                           Done<TimedRenewalsResult> done) = 0;
  virtual void renew(RenewCommand command, BootTime deadline, Done<RenewResult> done) = 0;
  virtual void release(ReleaseCommand command, BootTime deadline, Done<ReleaseResult> done) = 0;
  virtual void commit(CommitCommand command, BootTime deadline, Done<CommitResult> done) = 0;
  virtual void invalidate(InvalidateCommand command, BootTime deadline,
                          Done<InvalidateResult> done) = 0;
  virtual void document(DocumentCommand command, BootTime deadline, Done<DocumentResult> done) = 0;
  virtual void inspect(InspectCommand command, BootTime deadline, Done<InspectResult> done) = 0;
  virtual void resolve(ResolveCommand command, BootTime deadline, Done<ResolveResult> done) = 0;
  /// REQUIRES: command.limit in 1..limits::leases_per_list.
  virtual void list(ListCommand command, BootTime deadline, Done<ListResult> done) = 0;
  /// REQUIRES: command.limit in 1..limits::endings_per_call.
  virtual void history(HistoryCommand command, BootTime deadline, Done<HistoryResult> done) = 0;

  /// REQUIRES: command.limit in 1..limits::leases_per_sweep.
  virtual void sweep(SweepCommand command, BootTime deadline, Done<SweepResult> done) = 0;

  virtual void read_gate(std::uint32_t partition, BootTime deadline, Done<GateResult> done) = 0;
  virtual void init_gate(InitGateCommand command, BootTime deadline, Done<GateResult> done) = 0;
  virtual void recover(RecoverCommand command, BootTime deadline, Done<RecoverResult> done) = 0;
};

}  // namespace starlease::store
