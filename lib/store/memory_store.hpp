// LeaseStore in memory: the rules of the contract in their plainest form, one method per atomic
// operation. The service's tests and the simulator drive it; the Valkey functions must equal it.
// Not for production: nothing is durable.
#pragma once

#include <functional>
#include <map>
#include <unordered_map>

#include "lib/base/timers.hpp"
#include "lib/store/lease_store.hpp"

namespace starlease::store {

class MemoryStore final : public LeaseStore {
 public:
  /// The backend's own clock, which may step; read once per operation.
  using BackendClock = std::function<BackendTime()>;

  /// All must outlive the store. Answers come through `timers`, never from inside a call.
  MemoryStore(std::uint32_t partitions, const base::Clock& clock, base::Timers& timers,
              BackendClock backend_clock);
  ~MemoryStore() override;

  // --- what a test may do to it ---
  /// The process starts again with its data: the gate no longer fits the server.
  void restart();
  /// All data is gone, and the process is new.
  void wipe();
  /// While stalled, commands are taken and not answered: they complete as unknown at their
  /// deadline.
  void stall(bool stalled) { stalled_ = stalled; }
  /// The link breaks: pending commands are unknown, new ones unavailable, until connect().
  void disconnect();
  void connect();
  /// The next command is carried out and its answer lost: it completes as unknown.
  void lose_next_reply() { lose_reply_ = true; }
  [[nodiscard]] std::int64_t counter(const core::LockDigest& digest) const;
  void corrupt(const core::LockDigest& digest);
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

  // --- LeaseStore ---
  void start(StoreListener& listener) override;
  [[nodiscard]] std::uint32_t partition_count() const override;
  [[nodiscard]] std::size_t pending() const override { return pending_.size(); }
  void acquire(AcquireCommand command, BootTime deadline, Done<AcquireResult> done) override;
  void renew_timed(std::vector<TimedRenewal> renewals, BootTime deadline,
                   Done<TimedRenewalsResult> done) override;
  void renew(RenewCommand command, BootTime deadline, Done<RenewResult> done) override;
  void release(ReleaseCommand command, BootTime deadline, Done<ReleaseResult> done) override;
  void inspect(InspectCommand command, BootTime deadline, Done<InspectResult> done) override;
  void resolve(ResolveCommand command, BootTime deadline, Done<ResolveResult> done) override;
  void read_gate(std::uint32_t partition, BootTime deadline, Done<GateResult> done) override;
  void init_gate(InitGateCommand command, BootTime deadline, Done<GateResult> done) override;
  void recover(RecoverCommand command, BootTime deadline, Done<RecoverResult> done) override;

 private:
  using Stored = std::variant<AcquireResult, RenewResult, ReleaseResult>;
  struct Remembered {
    core::RequestDigest digest{};
    Stored result;
    BackendTime until;
    core::LeaseId lease_id;
    core::Epoch epoch;
    BackendTime expires_at;
    core::LeaseState ended = core::LeaseState::active;  // terminal once it was told
  };
  struct Slot {
    std::optional<core::LeaseRecord> record;
    std::string acquire_scope;
    std::int64_t sequence = 0;
    std::int64_t counter = 0;
    bool corrupt = false;
  };
  struct Partition {
    Gate gate;
    std::uint64_t server = 0;  // where the gate was attested
    Milliseconds largest_ttl{};
    std::unordered_map<core::LockDigest, Slot> slots;
    std::unordered_map<std::string, Remembered> remembered;
  };
  struct Pending {
    base::Timer timer;
    /// Carries the command out and answers, or answers with this status only.
    std::move_only_function<void(std::optional<Status>)> complete;
  };

  template <class Result>
  void run(BootTime deadline, Done<Result> done, std::move_only_function<Result()> operation);
  Partition& of(const core::LockDigest& digest);
  [[nodiscard]] Head begin(Partition& partition);
  [[nodiscard]] static core::LeaseState effective(const Partition& partition,
                                                  const core::LeaseRecord& record, BackendTime now);
  [[nodiscard]] static core::LeaseState state_of(const Partition& partition, const Slot* slot,
                                                 const Remembered& remembered, BackendTime now);
  [[nodiscard]] static bool holds(const core::LeaseRecord& record, const Holder& holder);
  template <class Result>
  bool replay(Partition& partition, const Idempotency& key, Slot* slot, Head& head, Result& result);
  template <class Result>
  void remember(Partition& partition, const Idempotency& key, const Head& head, Result result,
                const core::LeaseRecord* record);
  static void end(Partition& partition, Slot& slot, core::LeaseState state, BackendTime now,
                  std::string reason);
  void notify(NoticeKind kind, std::uint32_t partition, const core::LockDigest& digest,
              const core::LeaseId& lease_id);

  const base::Clock& clock_;
  base::Timers& timers_;
  BackendClock backend_clock_;
  StoreListener* listener_ = nullptr;
  std::vector<Partition> partitions_;
  std::uint64_t server_ = 1;
  bool up_ = false;
  bool stalled_ = false;
  bool lose_reply_ = false;
  std::uint64_t calls_ = 0;
  std::uint64_t last_number_ = 0;
  std::map<std::uint64_t, Pending> pending_;
  std::map<std::uint64_t, base::Timer> notices_;
};

}  // namespace starlease::store
