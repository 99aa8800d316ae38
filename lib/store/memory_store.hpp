// LeaseStore over a MemoryBackend of its own, for the service's tests: answers come on the next
// turn, unless a test stalls it, breaks the link or loses a reply. Not for production.
#pragma once

#include <functional>
#include <map>

#include "lib/base/timers.hpp"
#include "lib/store/lease_store.hpp"
#include "lib/store/memory_backend.hpp"

namespace starlease::store {

class MemoryStore final : public LeaseStore {
 public:
  /// The backend's own clock, which may step; read once per operation.
  using BackendClock = MemoryBackend::Clock;

  /// All must outlive the store. Answers come through `timers`, never from inside a call.
  MemoryStore(std::uint32_t partitions, const base::Clock& clock, base::Timers& timers,
              BackendClock backend_clock);
  ~MemoryStore() override;

  // --- what a test may do to it ---
  /// The process starts again with its data: the gate no longer fits the server.
  void restart() { backend_.restart(); }
  /// The process starts again with what it held when data() was copied.
  [[nodiscard]] const MemoryBackend::Data& data() const { return backend_.data(); }
  void restart_with(MemoryBackend::Data data) { backend_.restart_with(std::move(data)); }
  /// All data is gone, and the process is new.
  void wipe() { backend_.wipe(); }
  /// While stalled, commands are taken and not answered: they complete as unknown at their
  /// deadline.
  void stall(bool stalled) { stalled_ = stalled; }
  /// The link breaks: pending commands are unknown, new ones unavailable, until connect().
  void disconnect();
  void connect();
  /// The next command is carried out and its answer lost: it completes as unknown.
  void lose_next_reply() { lose_reply_ = true; }
  [[nodiscard]] std::int64_t counter(const core::LockDigest& digest) const {
    return backend_.counter(digest);
  }
  [[nodiscard]] bool held(const core::LockDigest& digest) const {
    return backend_.active(digest) != nullptr;
  }
  void corrupt(const core::LockDigest& digest) { backend_.corrupt(digest); }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

  // --- LeaseStore ---
  void start(StoreListener& listener) override;
  [[nodiscard]] std::uint32_t partition_count() const override {
    return backend_.partition_count();
  }
  [[nodiscard]] std::size_t pending() const override { return pending_.size(); }
  void acquire(AcquireCommand command, BootTime deadline, Done<AcquireResult> done) override;
  void renew_timed(std::vector<TimedRenewal> renewals, BootTime deadline,
                   Done<TimedRenewalsResult> done) override;
  void renew(RenewCommand command, BootTime deadline, Done<RenewResult> done) override;
  void release(ReleaseCommand command, BootTime deadline, Done<ReleaseResult> done) override;
  void commit(CommitCommand command, BootTime deadline, Done<CommitResult> done) override;
  void invalidate(InvalidateCommand command, BootTime deadline,
                  Done<InvalidateResult> done) override;
  void document(DocumentCommand command, BootTime deadline, Done<DocumentResult> done) override;
  void inspect(InspectCommand command, BootTime deadline, Done<InspectResult> done) override;
  void resolve(ResolveCommand command, BootTime deadline, Done<ResolveResult> done) override;
  void list(ListCommand command, BootTime deadline, Done<ListResult> done) override;
  void history(HistoryCommand command, BootTime deadline, Done<HistoryResult> done) override;
  void sweep(SweepCommand command, BootTime deadline, Done<SweepResult> done) override;
  void read_gate(std::uint32_t partition, BootTime deadline, Done<GateResult> done) override;
  void init_gate(InitGateCommand command, BootTime deadline, Done<GateResult> done) override;
  void recover(RecoverCommand command, BootTime deadline, Done<RecoverResult> done) override;

 private:
  struct Pending {
    base::Timer timer;
    /// Carries the command out and answers, or answers with this status only.
    std::move_only_function<void(std::optional<Status>)> complete;
  };

  template <class Result>
  void run(BootTime deadline, Done<Result> done, std::move_only_function<Result()> operation);
  void tell(const Notice& notice);

  const base::Clock& clock_;
  base::Timers& timers_;
  MemoryBackend backend_;
  StoreListener* listener_ = nullptr;
  bool up_ = false;
  bool stalled_ = false;
  bool lose_reply_ = false;
  std::uint64_t calls_ = 0;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, Pending> pending_;
  std::map<std::uint64_t, base::Timer> later_;
};

}  // namespace starlease::store
