// Leaves evidence of leases that nobody ended: asks the store, often enough that an overdue lease
// is told `expired` within a second while any daemon is alive, and that whoever waits for it hears.
// Several daemons may ask at once; the store writes each end once.
#pragma once

#include <vector>

#include "lib/core/id_factory.hpp"
#include "lib/service/seams.hpp"

namespace starlease::service {

class Recovery;

class Sweeper {
 public:
  Sweeper(const Seams& seams, core::IdFactory& ids, Recovery& recovery)
      : seams_(seams), ids_(ids), recovery_(recovery) {}

  /// Sweeps from now on, until this object is destroyed.
  void start();
  /// Leases that got their evidence by this daemon's sweeps.
  [[nodiscard]] std::uint64_t swept() const { return swept_; }

 private:
  void round();
  void sweep(std::uint32_t partition);
  void on_answer(std::uint32_t partition, const store::SweepResult& result);

  const Seams& seams_;
  core::IdFactory& ids_;
  Recovery& recovery_;
  base::Timer timer_;
  std::vector<bool> under_way_;  // by partition
  std::uint64_t swept_ = 0;
};

}  // namespace starlease::service
