// The real clocks, read from the kernel whenever asked. Never libuv's own time, which is cached for
// a whole turn of the loop and stands still while the machine is suspended.
#pragma once

#include "lib/base/clock.hpp"

namespace starlease::uv {

class SystemClock final : public base::Clock {
 public:
  [[nodiscard]] base::BootTime boot_now() const override;
  [[nodiscard]] base::WallTime wall_now() const override;
};

}  // namespace starlease::uv
