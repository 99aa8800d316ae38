// Tells the service manager how it goes, and shows the watchdog that the loop turns. Does nothing
// when no manager asked.
#pragma once

#include <optional>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/base/timers.hpp"

namespace starlease {

class SystemdNotify {
 public:
  /// Both must outlive this.
  SystemdNotify(const base::Clock& clock, base::Timers& timers);

  /// Start-up is done: workers are answered (whatever state the backend is in). Starts the
  /// watchdog.
  void ready();
  void status(const std::string& text);
  /// Going down; the watchdog goes on, as draining takes a moment.
  void stopping();

 private:
  void feed_watchdog();

  const base::Clock& clock_;
  base::Timers& timers_;
  /// How often; half of what the manager allows.
  std::optional<base::Nanoseconds> every_;
  base::Timer timer_;
};

}  // namespace starlease
