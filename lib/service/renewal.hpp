// Timed renewals: what is due within a tick goes out in one call per partition, is retried with
// back-off while validity lasts, and never decides loss by itself except where the store says so.
#pragma once

#include <vector>

#include "lib/service/held_leases.hpp"
#include "lib/service/loss.hpp"
#include "lib/service/seams.hpp"
#include "lib/service/settings.hpp"

namespace starlease::service {

class Recovery;

class Renewer {
 public:
  /// All references must outlive this object.
  Renewer(const Settings& settings, const Seams& seams, HeldLeases& held, LossTeller& loss,
          Recovery& recovery)
      : settings_(settings), seams_(seams), held_(held), loss_(loss), recovery_(recovery) {}

  /// The store confirmed that the lease lasts until `expires_at`: validity and schedule follow.
  void confirmed(HeldLease& lease, const store::Head& head, core::BackendTime expires_at);
  /// Recomputes when something is due for it.
  void reschedule(HeldLease& lease);
  /// Renew as soon as possible (a notice or a resume asks for it).
  void hurry(HeldLease& lease, BootTime now);

  /// Adds a due lease to the calls that flush() sends.
  void collect(HeldLease& lease);
  void flush();
  [[nodiscard]] std::uint64_t renewed() const { return renewed_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

 private:
  /// What is needed to match an answer to the lease it was asked for.
  struct Asked {
    core::LockDigest digest;
    std::uint64_t serial;
    std::int64_t sequence;
  };
  struct Batch {
    std::vector<store::TimedRenewal> renewals;
    std::vector<Asked> asked;
    Milliseconds shortest_ttl = Milliseconds::max();
  };

  void send(std::uint32_t partition);
  void on_answer(const std::vector<Asked>& asked, const store::TimedRenewalsResult& result);
  void on_result(HeldLease& lease, const store::Head& head,
                 const store::TimedRenewalResult& result);
  void on_failure(HeldLease& lease);

  const Settings& settings_;
  const Seams& seams_;
  HeldLeases& held_;
  LossTeller& loss_;
  Recovery& recovery_;
  std::vector<Batch> batches_;            // by partition
  std::vector<std::uint32_t> collected_;  // partitions with something in their batch
  std::uint64_t renewed_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace starlease::service
