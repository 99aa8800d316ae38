// Reading CLOCK_BOOTTIME in the client: it counts on during suspend, and is the daemon's clock too.
// The wall clock is never read here.
#pragma once

#include <ctime>

#include "lib/base/clock.hpp"

namespace starlease::client {

using base::BootTime;
using base::Milliseconds;
using base::Nanoseconds;

/// Now, in nanoseconds of CLOCK_BOOTTIME. The kernel answers it without entering it.
[[nodiscard]] inline std::int64_t boot_now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

[[nodiscard]] inline BootTime boot_now() noexcept { return BootTime(Nanoseconds(boot_now_ns())); }

[[nodiscard]] inline std::int64_t nanoseconds_of(BootTime time) noexcept {
  return time.time_since_epoch().count();
}

}  // namespace starlease::client
