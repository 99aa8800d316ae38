// LeaseStore on a Valkey server: one connection for commands and one for notices. Up only while the
// server is the right one, durable as configured, and has the function library. The one place where
// a Fault or an error answer of the server becomes a store::Status.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemon/valkey/deadline_map.hpp"
#include "daemon/valkey/decode.hpp"
#include "daemon/valkey/link.hpp"
#include "daemon/valkey/notices.hpp"
#include "daemon/valkey/partition_keys.hpp"
#include "daemon/valkey/readiness.hpp"
#include "daemon/valkey/throttled_log.hpp"
#include "lib/store/lease_store.hpp"

namespace starlease::valkey {

using store::Done;

class ValkeyStore final : public store::LeaseStore, private LinkOwner {
 public:
  /// The references outlive this. REQUIRES: check_store_config() accepts `config`. Destroying it at
  /// any time is clean; calls under way are then not answered.
  ValkeyStore(uv::Loop& loop, const base::Clock& clock, base::Timers& timers, base::Random& random,
              base::Log& log, StoreConfig config);
  ~ValkeyStore() override;

  void start(store::StoreListener& listener) override;
  [[nodiscard]] std::uint32_t partition_count() const override { return keys_.count(); }
  [[nodiscard]] std::size_t pending() const override { return link_.pending(); }

  void acquire(store::AcquireCommand command, BootTime deadline,
               Done<store::AcquireResult> done) override;
  void renew_timed(std::vector<store::TimedRenewal> renewals, BootTime deadline,
                   Done<store::TimedRenewalsResult> done) override;
  void renew(store::RenewCommand command, BootTime deadline,
             Done<store::RenewResult> done) override;
  void release(store::ReleaseCommand command, BootTime deadline,
               Done<store::ReleaseResult> done) override;
  void commit(store::CommitCommand command, BootTime deadline,
              Done<store::CommitResult> done) override;
  void invalidate(store::InvalidateCommand command, BootTime deadline,
                  Done<store::InvalidateResult> done) override;
  void document(store::DocumentCommand command, BootTime deadline,
                Done<store::DocumentResult> done) override;
  void list(store::ListCommand command, BootTime deadline, Done<store::ListResult> done) override;
  void history(store::HistoryCommand command, BootTime deadline,
               Done<store::HistoryResult> done) override;
  void inspect(store::InspectCommand command, BootTime deadline,
               Done<store::InspectResult> done) override;
  void resolve(store::ResolveCommand command, BootTime deadline,
               Done<store::ResolveResult> done) override;

  void sweep(store::SweepCommand command, BootTime deadline,
             Done<store::SweepResult> done) override;
  void read_gate(std::uint32_t partition, BootTime deadline, Done<store::GateResult> done) override;
  void init_gate(store::InitGateCommand command, BootTime deadline,
                 Done<store::GateResult> done) override;
  void recover(store::RecoverCommand command, BootTime deadline,
               Done<store::RecoverResult> done) override;

  /// Why the store is not up, for an operator; empty while it is, or before the first attempt
  /// ended.
  [[nodiscard]] const Fault& trouble() const { return trouble_; }

 private:
  /// Whether a call whose answer cannot be understood may have changed something.
  enum class Kind : std::uint8_t { reads, mutates };

  void on_link_up(const redisReply& hello) override;
  void on_link_down(const Fault& why) override;
  void on_attempt_failed(const Fault& why) override { trouble_ = why; }
  void on_push(const redisReply&) override {}
  void check_server();
  void on_verdict(base::Result<void, Fault> verdict);

  [[nodiscard]] std::uint32_t partition_of(const core::LockDigest& digest) const;
  [[nodiscard]] std::int64_t backend_deadline(std::uint32_t partition, BootTime deadline) const;
  /// Makes the call and gives `done` the typed result.
  template <class T, class Decode>
  void submit(const std::string& command, std::uint32_t partition, BootTime deadline, Kind kind,
              Done<T> done, Decode decode);
  template <class T, class Decode>
  [[nodiscard]] T result_of(const CallAnswer& answer, std::uint32_t partition, Kind kind,
                            Decode& decode);
  void fill_unanswered(const CallAnswer& answer, store::Head& head) const;
  void fill_error(std::string_view error, Kind kind, store::Head& head);

  const base::Clock& clock_;
  base::Timers& timers_;
  base::Log& log_;
  const StoreConfig config_;
  const PartitionKeys keys_;
  DeadlineMap deadlines_;
  ThrottledLog throttled_;
  store::StoreListener* listener_ = nullptr;
  bool serving_ = false;
  Fault trouble_;
  base::Timer recheck_;
  Link link_;
  Notices notices_;
  Readiness readiness_;
};

}  // namespace starlease::valkey
