// What a lease backend does, over plain maps: the rules of the contract in their plainest form, one
// method per atomic operation, carried out at once. No time passes in here and nothing is lost; the
// stores around it see to that. The Valkey functions must equal it. Not for production: nothing is
// durable.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/store/commands.hpp"
#include "lib/store/store_events.hpp"

namespace starlease::store {

class MemoryBackend {
 public:
  /// The backend's own clock, which may step; read once per operation.
  using Clock = std::function<BackendTime()>;

 private:
  using Stored =
      std::variant<AcquireResult, RenewResult, ReleaseResult, CommitResult, InvalidateResult>;
  struct Remembered {
    core::RequestDigest digest{};
    Stored result;
    BackendTime until;
    core::LeaseId lease_id;
    core::Epoch epoch;
    BackendTime expires_at;
    core::LeaseState ended = core::LeaseState::active;  // terminal once it is known
    std::string acquire_scope;  // of the lease that a renewal or commit is about
  };
  struct Slot {
    std::optional<core::LeaseRecord> record;
    std::string acquire_scope;
    std::int64_t sequence = 0;
    std::int64_t counter = 0;
    std::int64_t committed = 0;  // the highest token that has written
    std::map<std::string, core::Document> documents;
    bool corrupt = false;
  };
  /// A record as it ended, under a number that no other has: what is older has a lower one.
  struct Evidence {
    std::uint64_t number = 0;
    core::LockDigest digest;
    core::LeaseRecord record;
  };
  struct Partition {
    Gate gate;
    std::uint64_t server = 0;  // where the gate was attested
    Milliseconds largest_ttl{};
    BackendTime recovered_at;
    std::unordered_map<core::LockDigest, Slot> slots;
    std::unordered_map<std::string, Remembered> remembered;
    std::vector<Evidence> history;
  };

 public:
  MemoryBackend(std::uint32_t partitions, Clock clock);

  // --- what may happen to a server ---
  /// All that it holds; copied for a backup or a replica.
  using Data = std::vector<Partition>;
  [[nodiscard]] const Data& data() const { return data_; }
  /// A new process with the same data: the gate no longer fits the server.
  void restart() { ++server_; }
  /// A new process with older data: restored, or a replica that lagged.
  void restart_with(Data data) {
    data_ = std::move(data);
    restart();
  }
  /// All data is gone, and the process is new.
  void wipe();
  void corrupt(const core::LockDigest& digest);

  // --- what may be asked of it ---
  /// Hears of every release and recovery.
  void on_notice(std::function<void(const Notice&)> listener) { on_notice_ = std::move(listener); }
  [[nodiscard]] std::uint32_t partition_count() const;
  [[nodiscard]] std::int64_t counter(const core::LockDigest& digest) const;
  /// The active lease on a lock, or null.
  [[nodiscard]] const core::LeaseRecord* active(const core::LockDigest& digest) const;
  [[nodiscard]] AcquireResult acquire(const AcquireCommand& command);
  [[nodiscard]] TimedRenewalsResult renew_timed(const std::vector<TimedRenewal>& renewals);
  [[nodiscard]] RenewResult renew(const RenewCommand& command);
  [[nodiscard]] ReleaseResult release(const ReleaseCommand& command);
  [[nodiscard]] CommitResult commit(const CommitCommand& command);
  [[nodiscard]] InvalidateResult invalidate(const InvalidateCommand& command);
  [[nodiscard]] DocumentResult document(const DocumentCommand& command);
  [[nodiscard]] InspectResult inspect(const InspectCommand& command);
  [[nodiscard]] ResolveResult resolve(const ResolveCommand& command);
  [[nodiscard]] ListResult list(const ListCommand& command);
  [[nodiscard]] HistoryResult history(const HistoryCommand& command);
  [[nodiscard]] SweepResult sweep(const SweepCommand& command);
  [[nodiscard]] GateResult read_gate(std::uint32_t index);
  [[nodiscard]] GateResult init_gate(const InitGateCommand& command);
  /// `daemon_time`: the wall time of the daemon that asks.
  [[nodiscard]] RecoverResult recover(const RecoverCommand& command, BackendTime daemon_time);

 private:
  Partition& of(const core::LockDigest& digest);
  /// `writes`: a call that only reads closes nothing, as it may not write.
  [[nodiscard]] Head begin(Partition& partition, bool writes = true);
  [[nodiscard]] static core::LeaseState effective(const Partition& partition,
                                                  const core::LeaseRecord& record, BackendTime now);
  [[nodiscard]] static core::LeaseState state_of(const Partition& partition, const Slot* slot,
                                                 const Remembered& remembered, BackendTime now);
  [[nodiscard]] static bool holds(const core::LeaseRecord& record, const Holder& holder);
  template <class Result>
  bool replay(Partition& partition, const Idempotency& key, Slot* slot, Head& head, Result& result);
  template <class Result>
  static Remembered* remember(Partition& partition, const Idempotency& key, const Head& head,
                              Result result, const core::LeaseRecord* record);
  /// Not the active holder: refused, and remembered with the state that can be told.
  template <class Result>
  static Result lost(Partition& partition, const Slot& slot, const Holder& holder,
                     const Idempotency& key, const Head& head);
  /// How long an identity stays closed yet after its lease has ended by time or with its epoch.
  [[nodiscard]] static Milliseconds delay_left(const Partition& partition, const Slot& slot,
                                               Milliseconds lock_delay, BackendTime now);
  [[nodiscard]] static CommitResult refuse_commit(Partition& partition,
                                                  const CommitCommand& command, const Head& head,
                                                  Status status, core::LeaseState state,
                                                  std::int64_t revision);
  void end(Partition& partition, const core::LockDigest& digest, core::LeaseState state,
           BackendTime now, std::string reason);
  /// The end of a lease that nobody ended: by its time, or with its epoch.
  void end_overdue(Partition& partition, const core::LockDigest& digest);
  void notify(NoticeKind kind, std::uint32_t partition, const core::LockDigest& digest,
              const core::LeaseId& lease_id);

  Clock clock_;
  std::function<void(const Notice&)> on_notice_;
  Data data_;
  std::uint64_t server_ = 1;
  std::uint64_t last_evidence_ = 0;
};

}  // namespace starlease::store
