// A machine: its clocks, none of which is true. Boot time runs a little fast or slow; wall time
// does too, is off by something, and may be stepped.
#pragma once

#include "lib/base/clock.hpp"
#include "tests/sim/chance.hpp"
#include "tests/sim/event_queue.hpp"

namespace starlease::sim {

/// 2026-08-05T12:00:00Z, where every world begins.
inline constexpr Milliseconds epoch{1'785'931'200'000};

class Host final : public base::Clock {
 public:
  /// `drift_ppm`: how much faster than true time the boot clock runs.
  Host(const EventQueue& queue, std::int64_t drift_ppm, Nanoseconds booted_before,
       Milliseconds wall_offset)
      : queue_(queue),
        drift_ppm_(drift_ppm),
        booted_before_(booted_before),
        wall_offset_(wall_offset) {}

  [[nodiscard]] base::BootTime boot_now() const override { return boot_at(queue_.now()); }
  [[nodiscard]] base::WallTime wall_now() const override {
    return base::WallTime(epoch + wall_offset_ + base::floor_ms(elapsed(queue_.now())));
  }
  void step_wall(Milliseconds by) { wall_offset_ += by; }
  [[nodiscard]] Milliseconds wall_offset() const { return wall_offset_; }

  /// The first true time at which boot_now() is at least `when`.
  [[nodiscard]] Time true_time(base::BootTime when) const {
    const auto target = when.time_since_epoch() - booted_before_;
    Time guess = target - target * drift_ppm_ / (1'000'000 + drift_ppm_);
    while (boot_at(guess) < when) guess += 1ns;
    return guess;
  }

 private:
  [[nodiscard]] Nanoseconds elapsed(Time time) const {
    return time + time * drift_ppm_ / 1'000'000;
  }
  [[nodiscard]] base::BootTime boot_at(Time time) const {
    return base::BootTime(booted_before_ + elapsed(time));
  }

  const EventQueue& queue_;
  const std::int64_t drift_ppm_;
  const Nanoseconds booted_before_;
  Milliseconds wall_offset_;
};

}  // namespace starlease::sim
