// The seam for one-shot timers on boot time. The real ones sit on a CLOCK_BOOTTIME timerfd, so that
// they fire at once after a suspend; the simulated ones are driven by the test.
#pragma once

#include <functional>
#include <memory>

#include "lib/base/clock.hpp"

namespace starlease::base {

/// An armed timer. Destroying it cancels it: no call follows, also not from within its own
/// callback.
class ArmedTimer {
 public:
  virtual ~ArmedTimer() = default;
};
using Timer = std::unique_ptr<ArmedTimer>;

class Timers {
 public:
  virtual ~Timers() = default;
  /// Calls `fire` once, at or soon after `when`; a time that has passed fires on the next turn of
  /// the loop, never from inside this call. The returned handle must not outlive this object.
  [[nodiscard]] virtual Timer at(BootTime when, std::move_only_function<void()> fire) = 0;
};

}  // namespace starlease::base
