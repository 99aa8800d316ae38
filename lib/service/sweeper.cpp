// Rounds of sweeps; see the header.
#include "lib/service/sweeper.hpp"

#include "lib/core/limits.hpp"
#include "lib/service/recovery.hpp"

namespace starlease::service {
namespace {

/// With its jitter less than the second within which the end of a lease is to be told.
constexpr Milliseconds between{600};
constexpr std::uint64_t jitter_ms = 200;
constexpr Milliseconds patience{2000};

}  // namespace

void Sweeper::start() {
  under_way_.assign(seams_.store.partition_count(), false);
  round();
}

void Sweeper::round() {
  for (std::uint32_t partition = 0; partition < under_way_.size(); ++partition) {
    if (!under_way_[partition] && recovery_.ready(partition)) sweep(partition);
  }
  const Milliseconds pause = between + Milliseconds(seams_.random.below(jitter_ms));
  timer_ = seams_.timers.at(seams_.clock.boot_now() + pause, [this] { round(); });
}

void Sweeper::sweep(std::uint32_t partition) {
  under_way_[partition] = true;
  seams_.store.sweep(
      {partition, core::limits::leases_per_sweep, ids_.correlation()},
      seams_.clock.boot_now() + patience,
      [this, partition](store::SweepResult result) { on_answer(partition, result); });
}

void Sweeper::on_answer(std::uint32_t partition, const store::SweepResult& result) {
  under_way_[partition] = false;
  recovery_.observe(partition, result.head);
  if (result.head.status != store::Status::ok) return;
  swept_ += result.ended;
  if (result.more) sweep(partition);
}

}  // namespace starlease::service
