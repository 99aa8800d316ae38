// The backend's clock as a type of its own: it decides expiry and linearization, and cannot be
// compared with the host's clocks by accident.
#pragma once

#include "lib/base/clock.hpp"

namespace starlease::core {

using base::BootTime;
using base::Milliseconds;
using base::Nanoseconds;
using base::WallTime;

/// Tag of the backend's TIME, as clamped by the partition's gate.
struct BackendClock {
  using rep = std::int64_t;
  using period = std::milli;
  using duration = Milliseconds;
  using time_point = std::chrono::time_point<BackendClock>;
  static constexpr bool is_steady = false;
};
using BackendTime = BackendClock::time_point;

[[nodiscard]] inline BackendTime backend_time(std::int64_t unix_ms) {
  return BackendTime(Milliseconds(unix_ms));
}
[[nodiscard]] inline std::int64_t unix_ms(BackendTime time) {
  return time.time_since_epoch().count();
}

}  // namespace starlease::core
