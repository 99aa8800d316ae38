// A daemon's LeaseStore over the world's backend: a connection that carries commands and answers in
// order, late, or not at all. It keeps the seam's promises whatever happens
// (lib/store/lease_store).
#pragma once

#include <map>
#include <memory>

#include "lib/store/lease_store.hpp"
#include "tests/sim/backend.hpp"
#include "tests/sim/process.hpp"

namespace starlease::sim {

/// Probabilities are per command unless said otherwise.
struct LinkFaults {
  Nanoseconds usual_latency = 200us;
  Nanoseconds longest_latency = 50ms;
  double break_before = 0;  // the connection breaks, the command never arrives
  double break_after = 0;   // the command is carried out, its answer lost with the connection
  double swallow = 0;       // no answer comes on this connection any more, until it is replaced
  double crawl = 0;         // this answer, and so those behind it, takes seconds
  double lose_notice = 0;   // per notice
  double repeat_notice = 0;
  /// The canary: timed renewals are said to be done, and are not.
  bool lies = false;
};

class Link final : public store::LeaseStore, private Backend::Client {
 public:
  Link(EventQueue& queue, const Host& host, std::shared_ptr<Process> process, Backend& backend,
       Chance chance, const LinkFaults& faults);
  ~Link() override;

  /// The connection breaks now, and is made anew after a while.
  void cut();

  void start(store::StoreListener& listener) override;
  [[nodiscard]] std::uint32_t partition_count() const override {
    return backend_.rules().partition_count();
  }
  [[nodiscard]] std::size_t pending() const override { return pending_.size(); }
  void acquire(store::AcquireCommand command, base::BootTime deadline,
               store::Done<store::AcquireResult> done) override;
  void renew_timed(std::vector<store::TimedRenewal> renewals, base::BootTime deadline,
                   store::Done<store::TimedRenewalsResult> done) override;
  void renew(store::RenewCommand command, base::BootTime deadline,
             store::Done<store::RenewResult> done) override;
  void release(store::ReleaseCommand command, base::BootTime deadline,
               store::Done<store::ReleaseResult> done) override;
  void commit(store::CommitCommand command, base::BootTime deadline,
              store::Done<store::CommitResult> done) override;
  void invalidate(store::InvalidateCommand command, base::BootTime deadline,
                  store::Done<store::InvalidateResult> done) override;
  void document(store::DocumentCommand command, base::BootTime deadline,
                store::Done<store::DocumentResult> done) override;
  void inspect(store::InspectCommand command, base::BootTime deadline,
               store::Done<store::InspectResult> done) override;
  void resolve(store::ResolveCommand command, base::BootTime deadline,
               store::Done<store::ResolveResult> done) override;
  void list(store::ListCommand command, base::BootTime deadline,
            store::Done<store::ListResult> done) override;
  void history(store::HistoryCommand command, base::BootTime deadline,
               store::Done<store::HistoryResult> done) override;
  void sweep(store::SweepCommand command, base::BootTime deadline,
             store::Done<store::SweepResult> done) override;
  void read_gate(std::uint32_t partition, base::BootTime deadline,
                 store::Done<store::GateResult> done) override;
  void init_gate(store::InitGateCommand command, base::BootTime deadline,
                 store::Done<store::GateResult> done) override;
  void recover(store::RecoverCommand command, base::BootTime deadline,
               store::Done<store::RecoverResult> done) override;

 private:
  struct Pending {
    base::Timer timer;
    /// Completes with a verdict of the link's own.
    std::move_only_function<void(store::Status)> fail;
  };
  /// Shared with what is under way; outlives the link.
  struct Alive {
    bool now = true;
  };

  void server_went_away() override;
  void notice(const store::Notice& notice) override;
  template <class Result>
  void run(bool writes, base::BootTime deadline, store::Done<Result> done,
           std::move_only_function<Result(Backend&)> operation);
  void connect_after(Nanoseconds delay);
  void broke();
  template <class Act>
  void soon(Act act);
  Time arrival(Time& last, Nanoseconds latency);

  EventQueue& queue_;
  const Host& host_;
  std::shared_ptr<Process> process_;
  Backend& backend_;
  Chance chance_;
  const LinkFaults& faults_;
  store::StoreListener* listener_ = nullptr;
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
  std::map<std::uint64_t, Pending> pending_;
  std::uint64_t last_number_ = 0;
  /// Grows with each connection: what belongs to an earlier one is not heard any more.
  std::uint64_t connection_ = 0;
  bool up_ = false;
  bool mute_ = false;
  Time last_request_{};
  Time last_reply_{};
};

}  // namespace starlease::sim
