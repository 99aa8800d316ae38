// Reads CLOCK_BOOTTIME and CLOCK_REALTIME; both are answered by the vDSO, without a system call.
#include "daemon/uv/clock.hpp"

#include <ctime>

#include "lib/base/assert.hpp"

namespace starlease::uv {
namespace {

base::Nanoseconds read(clockid_t id) {
  timespec now{};
  SL_ASSERT(clock_gettime(id, &now) == 0);
  return std::chrono::seconds(now.tv_sec) + base::Nanoseconds(now.tv_nsec);
}

}  // namespace

base::BootTime SystemClock::boot_now() const { return base::BootTime(read(CLOCK_BOOTTIME)); }

base::WallTime SystemClock::wall_now() const {
  return base::WallTime(base::floor_ms(read(CLOCK_REALTIME)));
}

}  // namespace starlease::uv
