// The clocks as separate types that do not convert, and the seam through which they are read.
// A fourth one, the backend's, is core::BackendTime. Nothing else in lib/ reads a clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace starlease::base {

using Milliseconds = std::chrono::milliseconds;
using Nanoseconds = std::chrono::nanoseconds;

/// Tag of CLOCK_BOOTTIME, which also advances while the machine is suspended.
struct BootClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Nanoseconds;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
};

/// Tag of CLOCK_REALTIME.
struct RealTimeClock {
  using rep = std::int64_t;
  using period = std::milli;
  using duration = Milliseconds;
  using time_point = std::chrono::time_point<RealTimeClock>;
  static constexpr bool is_steady = false;
};

/// Decides local validity, deadlines, timers and renewal. Never leaves the host.
using BootTime = BootClock::time_point;
/// Read only to compare with a backend's clock, to cut a client's `deadline_at`, and for logs.
using WallTime = RealTimeClock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  /// Time since boot, suspend included. Monotonic.
  [[nodiscard]] virtual BootTime boot_now() const = 0;
  /// Wall time. May step either way.
  [[nodiscard]] virtual WallTime wall_now() const = 0;
};

/// Milliseconds from `from` to `to`, rounded down (towards less validity).
[[nodiscard]] inline Milliseconds floor_ms(Nanoseconds span) {
  return std::chrono::floor<Milliseconds>(span);
}

}  // namespace starlease::base
